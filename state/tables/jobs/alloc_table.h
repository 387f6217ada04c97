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
// Fetches what an allocation that comes to the node of this slot will touch.
void alloc_cell_approach(const struct state *, const struct uuid *, uint32_t slot);
// The same of an allocation that is most likely on the node of this slot. Applier thread.
struct alloc_cell *alloc_cell_find_near(const struct state *, const struct uuid *, uint32_t slot);
// Puts a built allocation into every table. Takes over the references of the record and adds one to its job.
struct alloc_cell *alloc_cell_add(struct state *, struct job_cell *, struct allocation *);
// Returns a version that may be changed until it is published; call alloc_cell_changed() after the change. Only the
// functions below change its place on a node (slot, resources, devices, details).
struct allocation *allocation_revise(struct state *, struct alloc_cell *, uint64_t index);
// Gives back what the allocation held when it came to its end. Puts it at the end of its client's changes and, when it
// is terminal, of the ended allocations.
void alloc_cell_changed(struct state *, struct alloc_cell *);

// These change a revised record. They take references over (details, metrics, report) or count one (job).
void allocation_set_job(struct state *, struct allocation *, struct job *);
void allocation_set_details(struct allocation *, struct alloc_details *);
// Notes the verdict of its node or of an operator on its health.
void allocation_set_health(struct allocation *, struct optional_bool healthy, int64_t time_ns);
void allocation_set_report(struct allocation *, struct alloc_report *);
void allocation_set_metrics(struct allocation *, struct shared_metrics *);
// Sets what a living allocation holds of its node from now on. Takes over the reference to the details; NULL: they stay
// as they were.
void alloc_cell_resize(struct state *, struct alloc_cell *, struct allocation *, struct resources,
	const struct device_set *, struct alloc_details *);
// The allocation is on no node from now on: its node is forgotten.
void alloc_cell_leave_node(struct state *, struct alloc_cell *, uint64_t index);
// The same for a deleted allocation that only waits for its burial, which is no change of the state.
void alloc_cell_leave_grave(struct state *, struct alloc_cell *);

// Makes a living allocation terminal at once, without asking its node.
void alloc_cell_end(
	struct state *, struct alloc_cell *, enum end_cause, int64_t time_ns, uint64_t index);
// Deletes a terminal allocation.
void alloc_cell_delete(struct state *, struct alloc_cell *, uint64_t index);

// Of struct kind.
uint64_t allocation_sum(const struct record *, uint64_t sum);
