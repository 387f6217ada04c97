// A hash table of items that embed a lookup_node and belong to the caller. It finds items by hash and the caller
// compares keys, so that items with several kinds of key need no code of their own.
#pragma once
#include "state/base/text.h"
#include "state/base/uuid.h"
#include <stddef.h>
#include <stdint.h>

struct lookup_node {
	struct lookup_node *next;
	uint64_t hash;
};

struct lookup {
	struct lookup_node **buckets;
	uint32_t count, mask; // mask + 1 buckets, 0 before the first
};

void lookup_free(struct lookup *); // the items not
void lookup_add(struct lookup *, struct lookup_node *, uint64_t hash);
void lookup_remove(struct lookup *, struct lookup_node *); // must be in it
// The items with this hash, one after another; NULL at the end.
struct lookup_node *lookup_first(const struct lookup *, uint64_t hash);
struct lookup_node *lookup_next(const struct lookup_node *);
// All items, in no order; start with NULL. An item may be removed once the next was asked for; no other change of the
// table is allowed meanwhile.
struct lookup_node *lookup_walk(const struct lookup *, uint32_t *bucket, struct lookup_node *after);

// Hash of a namespace and an id, of one text.
uint64_t hash_names(const char *namespace_name, const char *id);
uint64_t hash_text(const char *);

#define CONTAINER_OF(pointer, type, member) ((type *)((char *)(pointer)-offsetof(type, member)))
