// Buckets of the hash tables: made, and made more while others read and change the table.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <urcu-qsbr.h>
#include <urcu/rculfhash.h>

// NULL when memory is short. Free with cds_lfht_destroy().
struct cds_lfht *buckets_create(uint64_t count);
// Adds buckets up to a power of two. One thread at a time, registered with RCU and outside a read section.
void buckets_widen(struct cds_lfht *, uint64_t count);

// Entries of a table that are added together, which takes a third of the time: in the order of their buckets, each part
// of the table comes near the processor once. One thread's.
struct gathered {
	struct gathered_entry {
		uint64_t hash;
		struct cds_lfht_node *node;
	} * entries;
	uint32_t count, capacity;
};
void gathered_note(struct gathered *, uint64_t hash, struct cds_lfht_node *);
// Adds all to a table of so many buckets, in a read section, and forgets them. is_same: whether the node has the same
// key as another node, which is its second argument. False: some have; they are added, too.
bool gathered_add(
	struct gathered *, struct cds_lfht *, uint64_t buckets, cds_lfht_match_fct is_same);
