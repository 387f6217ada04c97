// What all published records share, and the cells that hold them.
//
// A cell is the stable place of one thing (a node, a job, an allocation) for as long as it exists;
// the records in it are immutable versions. The applier builds a version aside and makes it
// `working`; after the journal has it, state_publish() exchanges `published` (the one publication
// point) and the old version is freed after a grace period. Readers see `published` only; NULL
// means "not there (yet)".
//
// A version points to the one before it. That pointer may be followed only by a reader whose
// read-side section began before the newer version was published: it is how a snapshot reads the
// whole state as it was at one index while the applier goes on (see state_version_at()).
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <urcu-qsbr.h>

struct record {
	uint64_t create_index;
	uint64_t modify_index;
	struct record *older;
	bool deleted;  // a tombstone: readers treat it as absent
	uint8_t table; // enum state_table, once it is in one
};

// What was built aside is seen where readers look for it.
static inline void publish_pointer(void **where, void *what)
{
	__atomic_store_n(where, what, __ATOMIC_RELEASE);
}

// For call_rcu(): frees memory that begins with its head.
static inline void rcu_free(struct rcu_head *head)
{
	free(head);
}

// The version that was newest at index, or NULL when the thing was not there. Only for a reader
// whose read-side section began before index was overtaken; see snapshot_view.h.
static inline const struct record *state_version_at(const struct record *newest, uint64_t index)
{
	while (newest && newest->modify_index > index)
		newest = newest->older;
	return newest && !newest->deleted ? newest : (const struct record *)0;
}
