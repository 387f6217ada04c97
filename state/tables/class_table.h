// Classes of nodes by their description and by their id. For state/ only; applier thread.
#pragma once
#include "state/records/nodes/node.h"
#include <urcu-qsbr.h>

struct class_entry {
	struct rcu_head rcu; // first: rcu_free()
	struct node_class node_class;
	struct class_entry *next; // of its bucket
	uint32_t bytes;
};

struct class_table {
	struct class_entry **by_id; // NULL: a hole
	uint32_t limit, capacity;
	uint32_t *free_ids;
	uint32_t free_count;
	struct class_entry **buckets;
	uint32_t bucket_count, count;
	uint64_t next_serial;
	uint64_t bytes;
};
