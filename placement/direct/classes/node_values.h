// Which nodes have a value of a property of which nodes of one class may differ ("${node.unique.name}"). A node is read
// once, and again when it is described anew. No texts are kept: nodes are found by the hash of their value, so some of
// those that are found may have another one.
#pragma once
#include "placement/direct/fit_index.h"

// Of the value that a slot's node has, never NODE_WITHOUT_VALUE; or that, if the node has none or is gone.
typedef uint32_t node_value_hash(void *context, uint32_t slot);
#define NODE_WITHOUT_VALUE 0u
#define NODE_VALUES_END UINT32_MAX

struct node_values {
	char *property;
	uint32_t takers;
	uint64_t used_at;   // the one with the least goes first
	uint32_t *hash_of;  // by slot
	uint32_t *next;     // by slot: one of the same chain, or NODE_VALUES_END
	uint32_t *previous; // likewise; of a slot that is in no chain the slot itself
	uint32_t slots, room;
	uint32_t *first; // of each chain: [0] of the nodes without a value, the others by hash
	uint32_t mask;
	uint64_t seen; // changes of the index
};

// Those of an index that were used lately. One thread.
struct node_values_kept;

struct node_values_kept *node_values_kept_create(const struct fit_index *);
void node_values_kept_destroy(struct node_values_kept *); // NULL is fine
// The values of a property, up to date with the index. Give them back.
struct node_values *node_values_take(
	struct node_values_kept *, const char *property, node_value_hash *, void *context);
void node_values_give(struct node_values *);

// The slots of nodes whose value has this hash; NODE_VALUES_END after the last.
uint32_t node_values_first(const struct node_values *, uint32_t hash);
uint32_t node_values_next(const struct node_values *, uint32_t slot);
