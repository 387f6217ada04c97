// The whole state as a sequence of items: read as of one index while the applier goes on, and put back into an empty
// state. What an item holds, byte by byte, is at the top of snapshot_view.c; the code that stores items only frames
// them, in the order given, and keeps SNAPSHOT_ITEMS_VERSION beside them.
#pragma once
#include "state/base/bytes.h"
#include "state/snapshot/snapshot_allocation.h"
#include "state/tables/state.h"
#include <stdbool.h>
#include <stdint.h>

// Version of the items together; a reader refuses a newer one with ERROR_VERSION before loading.
#define SNAPSHOT_ITEMS_VERSION 1u

struct snapshot_view;

// Begins one long read section on the calling thread, which must not be in one; end it on the same
// thread. Until then records that are replaced or deleted are kept, so memory grows with the
// changes meanwhile.
struct snapshot_view *snapshot_view_begin(struct state *);
void snapshot_view_end(struct snapshot_view *);
// The index as of which the items are; later log batches complete them.
uint64_t snapshot_view_index(const struct snapshot_view *);
// Appends one item to a growing writer. Returns false, and appends nothing, after the last one.
bool snapshot_view_next(struct snapshot_view *, struct bytes_writer *);

struct snapshot_load;

// Loads into an empty state that nobody else uses yet, before applier_replay.
struct snapshot_load *snapshot_load_begin(struct state *);
// Items in the order in which they were read, none after an error. Returns 0, -ERROR_CORRUPT, -ERROR_VERSION or
// -ERROR_TABLE_FULL (a configured limit is smaller than what is stored).
int snapshot_load_item(struct snapshot_load *, const void *item, uint32_t size);
// The same in two steps. The first needs nothing that the items before it brought, so another thread can be ahead with
// it: one thread decodes, in a read section of its own, and one puts back, both in the order of the items. With
// approaches the first also brings near what the second will touch.
struct snapshot_item {
	uint8_t kind;
	bool has_kind;            // false: the item has no bytes
	struct bytes_reader rest; // what is still to be decoded; the caller keeps the bytes
	bool is_unsound;          // a node whose description breaks a rule
	int error;                // of what is decoded
	struct allocation_item allocation;
};
void snapshot_load_decode(struct snapshot_load *, const void *bytes, uint32_t size, bool approaches,
	struct snapshot_item *);
// Returns what snapshot_load_item would. Then, and in place of it, call snapshot_item_release.
int snapshot_load_decoded(struct snapshot_load *, struct snapshot_item *);
void snapshot_item_release(struct snapshot_item *);
// Checks that nothing is missing, rebuilds what is derived, publishes. Frees the load in any case;
// after an error of this or of an item the state may only be destroyed. Returns 0 or a negative
// error.
int snapshot_load_end(struct snapshot_load *);
