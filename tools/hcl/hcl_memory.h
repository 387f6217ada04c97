// Memory of a document: it is taken in pieces of any size and freed at once.
#pragma once
#include <stddef.h>

struct hcl_memory_block;

struct hcl_memory {
	struct hcl_memory_block *last;
};

void *hcl_take(struct hcl_memory *, size_t bytes); // zeroed
char *hcl_take_text(struct hcl_memory *, const char *data, size_t size);
void hcl_memory_free(struct hcl_memory *);
