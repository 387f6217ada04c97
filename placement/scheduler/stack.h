// Whether a node can take one more instance of a group, why not, and how good it is: features A41–A65,
// semantics §4 and §5.10–5.11. One stack per attempt at an evaluation; it sees the view as changed by the
// plan that is being made.
#pragma once
#include "placement/scheduler/view.h"
#include "state/plan.h"

enum stack_kind { STACK_SYSTEM, STACK_GENERIC };

struct stack;

// plan: what is planned so far; what is appended to it later is seen too (proposed allocations, §A47). The
// stack keeps indexes over it: append through stack_plan_*(). Both must outlive the stack, and so must job.
struct stack *stack_create(enum stack_kind, const struct scheduler_view *, struct plan *);
void stack_destroy(struct stack *);
// The version whose groups are asked for. preemption: of this job's type, by the configuration.
void stack_set_job(struct stack *, const struct job *);

// Appends to the plan, and makes it seen. Allocations are valid until the view ends.
void stack_plan_stop(struct stack *, const struct allocation *, enum stop_cause, bool lost,
	const struct uuid *followup_eval); // followup_eval may be NULL
void stack_plan_preempt(struct stack *, const struct allocation *, const struct uuid *by);
struct plan_placement *stack_plan_place(struct stack *, const struct plan_placement *);
void stack_plan_update(struct stack *, const struct plan_update *);
// Takes the stop of this allocation back (in-place try, failed destructive update).
void stack_plan_unstop(struct stack *, const struct uuid *);

// What was found on one node. Owned by the stack until the next select.
struct stack_option {
	uint32_t slot; // NODE_SLOT_NONE: none
	double score;  // normalised
	struct resources resources;
	struct device_set devices;
	struct alloc_details
		*details; // networks, ports, devices, cores; a reference for the taker; NULL: none
	const struct allocation **preempted; // victims
	uint32_t preempted_count;
};

// This node alone. name_index: of the instance (per_alloc volumes). Fills metrics (which the caller created or
// cleared) with what happened: filtered, exhausted, or the node's scores. False: not here.
bool stack_select_node(struct stack *, uint32_t group, uint32_t name_index, uint32_t slot,
	struct stack_option *, struct alloc_metrics *);

// Row A41's memo, exported into an evaluation: class_eligibility (empty when something escapes) and
// escaped_computed_class.
void stack_eligibility(const struct stack *, struct evaluation *);
// Usable nodes by datacenter of the job (NodesAvailable), and in its pool.
void stack_nodes_available(struct stack *, struct alloc_metrics *);

// True when the node is in one of the job's datacenters (globs) and in its pool.
bool job_targets_node(const struct job *, const struct node *);
// True when an instance of the group must be replaced to get from one version to the other (semantics §5.8).
bool tasks_updated(const struct job *before, const struct job *after, const char *group);
