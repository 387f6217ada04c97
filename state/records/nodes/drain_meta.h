// The metadata that an operator gives with a drain: in the entry, and in the record that remembers the drain.
#pragma once
#include "state/records/nodes/node.h"

struct node_pair;

// Owned: free with drain_meta_release. Sorted by name, each name once.
struct drain_meta {
	uint32_t count;
	struct attribute *items;
};

// False when there is too much of it, a name is missing or comes twice, or something is no text.
bool drain_meta_take(struct drain_meta *, const struct node_pair *, uint32_t count);
void drain_meta_release(struct drain_meta *);
