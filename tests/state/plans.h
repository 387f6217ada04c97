// Plans as a scheduler would make them, and their way through the applier.
#pragma once
#include "state/records/plan.h"
#include "tests/state/evaluations.h"

// A controller that is open, with nodes of numbers and slots 0 … and generation 1.
struct controller *controller_with_nodes(struct state_limits, uint32_t nodes);
// Its state, replayed and from a snapshot, is the same; then it is freed.
void controller_end(struct controller *);
// Published, of the node at a slot: what allocations hold of it, and where they last changed.
struct node_use use_of(const struct controller *, uint32_t slot);
uint64_t alloc_index_of(const struct controller *, uint32_t slot);

// A registered job that plans are made for.
struct planned_job {
	const char *id;
	uint64_t version; // modify index of its newest version
	struct uuid eval;
};

// Registers (or changes) a scheduled job.
struct planned_job plan_job(struct controller *, const char *id, enum job_type);
struct plan *build_plan(const struct planned_job *);
// A placement of "g0" on the node of that number and slot, asking for a quarter of a node's cpu and
// memory; the plan's, to be changed.
struct plan_placement *plan_place(struct plan *, uint32_t id, uint32_t node, uint32_t slot);
struct plan_stop *plan_stop(struct plan *, uint32_t id, enum stop_cause);
struct plan_stop *plan_preempt(struct plan *, uint32_t id, uint32_t by);
// Goes on under the plan's version, with the resources of plan_place.
struct plan_update *plan_update(struct plan *, uint32_t id);
// Details with one port of an address, or a core; a reference.
struct alloc_details *port_details(const char *address, int64_t port);
struct alloc_details *core_details(int64_t core);
// What one task's handle is; a reference.
struct alloc_report *report_with_handle(const char *task, const char *driver_state);

// Decides it, frees it. The result is to be released when it is given.
enum command_outcome run_plan(struct controller *, struct plan *, struct plan_result *);
// The same, and it has to be committed as a whole.
void commit_plan(struct controller *, struct plan *);
// The reason for which a node was rejected, or NULL.
const char *rejection_of(const struct plan_result *, uint32_t node);

// What is published of an allocation. Until the caller's read section ends.
const struct allocation *published_allocation(const struct controller *, uint32_t id);
// One allocation reported by the node at slot.
enum command_outcome report_status(struct controller *, uint32_t slot, uint32_t generation,
	uint64_t sequence, uint32_t id, enum alloc_client, bool *known);
