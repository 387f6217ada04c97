// The ids of a table's published records in ascending order, for lists that are in that order or begin anywhere.
//
// Nothing is kept until somebody asks. From then on publication notes which records came and went, and whoever asks
// next puts them in their places. 16 bytes a record, and 24 for each one that came or went since.
#pragma once
#include "state/records/state_table.h"
#include "state/tables/state.h"

struct id_order;

// Nodes, allocations, evaluations, deployments, tokens and roles have ids. Any thread, outside of a read section.

// Waits until the order has whatever was published before the call. The first call of a table looks at all records.
void state_ids_settle(struct state *, enum state_table);
// Whether that takes no longer than a millisecond or two.
bool state_ids_settle_soon(const struct state *, enum state_table);
// Copies ids from `from` on (itself included), or with reverse down from it, up to room. Returns how many. As of the
// last settling: one that went since may be among them, one that came since may be missing.
uint32_t state_ids_from(struct state *, enum state_table, const struct uuid *from, bool reverse,
	struct uuid *ids, uint32_t room);
// How many ids there are from first to last, both included.
uint32_t state_ids_between(
	struct state *, enum state_table, const struct uuid *first, const struct uuid *last);
// Memory of the order; 0 before the first call.
uint64_t state_ids_bytes(struct state *, enum state_table);

// For state/tables only.
struct id_order *id_order_create(void);
void id_order_destroy(struct id_order *); // NULL is fine
// The applier's thread says that a record was published or deleted; after readers see it.
void id_order_note(struct id_order *, const struct uuid *, bool is_there);
