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
// of the table comes near the processor once. Until then they are in a table of their own, whose look-ups touch one
// line of memory instead of a bucket and a few things. One thread's.
struct gathered {
	struct gathered_entry {
		uint64_t hash;
		struct cds_lfht_node *node; // NULL: nothing was here
	} * entries;                        // open addressing
	uint32_t count, capacity;           // count: places that are not NULL
	bool is_list;                       // nobody looks for them: one behind the other
	bool is_all;                        // for its user: the table has no other entries
};
void gathered_note(struct gathered *, uint64_t hash, struct cds_lfht_node *);
// As of the hash table; NULL: it is not here.
struct cds_lfht_node *gathered_find(
	const struct gathered *, uint64_t hash, cds_lfht_match_fct matches, const void *key);
// False: it is not here.
bool gathered_forget(struct gathered *, uint64_t hash, const struct cds_lfht_node *);
// Fetches what noting or finding an entry of this hash will read.
void gathered_approach(const struct gathered *, uint64_t hash);
// Adds all to a table of so many buckets, in a read section, and forgets them. is_same: whether the node has the same
// key as another node, which is its second argument. False: some have, or nobody looked (NULL); they are added, too.
bool gathered_add(
	struct gathered *, struct cds_lfht *, uint64_t buckets, cds_lfht_match_fct is_same);
