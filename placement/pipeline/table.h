// A hash table of items that embed a table_node and belong to the caller. It finds what has the same hash; the
// caller compares keys, so items under several kinds of key need no code of their own.
#pragma once
#include "state/base/text.h"
#include "state/base/uuid.h"
#include <stddef.h>
#include <stdint.h>

struct table_node {
	struct table_node *next;
	uint64_t hash;
};

struct table {
	struct table_node **buckets;
	uint32_t count, mask; // mask + 1 buckets, 0 before the first
};

void table_free(struct table *); // the items not
void table_add(struct table *, struct table_node *, uint64_t hash);
void table_remove(struct table *, struct table_node *); // must be in it
// Those with this hash, one after another; NULL at the end.
struct table_node *table_first(const struct table *, uint64_t hash);
struct table_node *table_next(const struct table_node *);
// All, in no order; start with NULL. One may be removed once the next has been asked for; nothing else may change
// the table meanwhile.
struct table_node *table_walk(const struct table *, uint32_t *bucket, struct table_node *after);

// Hash of a namespace and an id, of one text.
uint64_t hash_names(const char *namespace_name, const char *id);
uint64_t hash_text(const char *);

#define CONTAINER_OF(pointer, type, member) ((type *)((char *)(pointer)-offsetof(type, member)))
