#include "tools/hcl/hcl_memory.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES 4096u

struct hcl_memory_block {
	struct hcl_memory_block *before;
	size_t size, used;
	alignas(max_align_t) char bytes[];
};

static struct hcl_memory_block *add_block(struct hcl_memory *memory, size_t bytes)
{
	size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
	struct hcl_memory_block *block = memory_take(sizeof *block + size);
	block->size = size;
	block->before = memory->last;
	memory->last = block;
	return block;
}

void *hcl_take(struct hcl_memory *memory, size_t bytes)
{
	size_t rounded = (bytes + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
	struct hcl_memory_block *block = memory->last;
	if (!block || block->size - block->used < rounded)
		block = add_block(memory, rounded);
	void *taken = block->bytes + block->used;
	block->used += rounded;
	CHECK(block->used <= block->size);
	return taken;
}

char *hcl_take_text(struct hcl_memory *memory, const char *data, size_t size)
{
	char *text = hcl_take(memory, size + 1);
	memcpy(text, data, size);
	return text;
}

void hcl_memory_free(struct hcl_memory *memory)
{
	while (memory->last) {
		struct hcl_memory_block *before = memory->last->before;
		free(memory->last);
		memory->last = before;
	}
}
