// Allocations in the tables: what is kept beside their records, and every way in which one changes.
// For state/ only; applier thread unless said otherwise.
#pragma once
#include "state/base/schema.h"
#include "state/records/allocation_end.h"
#include "state/tables/table.h"
#include <stdbool.h>
#include <stdint.h>

struct job_cell;
extern const struct kind allocation_kind;

struct alloc_cell *alloc_cell_find(const struct state *, const struct uuid *);
// Puts a built allocation into every table. Takes the references of the record over, and one to its
// job more.
struct alloc_cell *alloc_cell_add(struct state *, struct job_cell *, struct allocation *);
// A version that may be changed until it is published; after the change alloc_cell_changed(). What
// decides about its place on a node (slot, resources, devices, details) is changed by the functions
// below alone.
struct allocation *allocation_revise(struct state *, struct alloc_cell *, uint64_t index);
// Gives back what an allocation that came to its end held. Enters (or moves to the end of) the
// changes of its client, and the ended ones.
void alloc_cell_changed(struct state *, struct alloc_cell *);

// Of a revised record: references are taken (details, metrics, report) or counted (job).
void allocation_set_job(struct state *, struct allocation *, struct job *);
void allocation_set_details(struct allocation *, struct alloc_details *);
// A verdict on its health, with what it needs to hold it. Its node's, or an operator's.
void allocation_set_health(struct allocation *, struct optional_bool healthy, int64_t time_ns);
void allocation_set_report(struct allocation *, struct alloc_report *);
void allocation_set_metrics(struct allocation *, struct shared_metrics *);
// Of a living one: what it holds of its node from now on. Takes the reference over; NULL: details
// as they were.
void alloc_cell_resize(struct state *, struct alloc_cell *, struct allocation *, struct resources,
	const struct device_set *, struct alloc_details *);
// Its node is forgotten: it is on no node from now on.
void alloc_cell_leave_node(struct state *, struct alloc_cell *, uint64_t index);
// The same of one that is deleted and only waits for its burial, which is no change of the state.
void alloc_cell_leave_grave(struct state *, struct alloc_cell *);

// Makes a living allocation terminal at once, without asking its node.
void alloc_cell_end(
	struct state *, struct alloc_cell *, enum end_cause, int64_t time_ns, uint64_t index);
// A terminal one is gone.
void alloc_cell_delete(struct state *, struct alloc_cell *, uint64_t index);

// What readers see of a node's use follows a published change. Device instances are taken once all
// of a batch were given back: changes are published in the order in which allocations were touched
// first, and one may take in the end what another gave back after that.
void node_use_follow(
	struct state *, const struct allocation *before, const struct allocation *after);
void node_use_take_devices(struct state *, const struct allocation *);

// Readers see that virtual machines hold the other of the slot's node instead of the one.
void node_use_machines(
	struct state *, uint32_t slot, struct resources before, struct resources now);
