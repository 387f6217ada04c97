// Whether a node can take one more instance of a group, why not, how good it is, and which node is the best (rows
// A41–A65, docs/spec/scoring.md). One stack per attempt at an evaluation; it sees the view as changed by the plan that
// is being made.
#pragma once
#include "placement/scheduler/node/stack_available.h"
#include "placement/scheduler/node/stack_option.h"
#include "placement/scheduler/node/stack_plan.h"
#include "placement/scheduler/node/stack_quota.h"

#define STACK_MEMORY_BYTES 12288u

struct stack;
struct group_rules;

// plan: what is planned so far. The stack also sees what is appended later (proposed allocations, row A47) and keeps
// indexes over it: append through stack_plan_*(). The plan, the view and the job must outlive the stack.
struct stack *stack_create(enum stack_kind, const struct scheduler_view *, struct plan *);
// The same in memory that outlives the stack, and is enough for most evaluations.
struct stack_memory {
	_Alignas(16) uint8_t bytes[STACK_MEMORY_BYTES];
};
struct stack *stack_create_in(
	struct stack_memory *, enum stack_kind, const struct scheduler_view *, struct plan *);
void stack_destroy(struct stack *); // NULL is fine
// Sets the job version whose groups are asked for; call it first. Preemption follows the configuration for the job's
// type. A later call (a downgraded version) keeps what was planned and starts the class memo anew.
void stack_set_job(struct stack *, const struct job *);

// The applier refused an earlier attempt's plan for these nodes (struct uuid). There preemption has to leave enough
// for everything, the job's own allocations included (which Nomad's choice of victims passes over).
void stack_be_strict_on(struct stack *, const struct array *node_ids);

// Lets ties go to the first slot from a place on that the number determines, round the fleet, instead of to the lowest
// slot: evaluations that are worked off at the same time then take different ones of equal nodes. 0: the lowest.
void stack_break_ties(struct stack *, uint64_t number);
// All allocations of the job that the stack places, which the caller keeps as long as the stack: it need not walk them
// again.
void stack_know_allocations(struct stack *, const struct array *allocations);

// Asks about this node alone, which must be usable and targeted by the job. name_index: of the instance (volumes per
// allocation). True: the instance fits. Allocates nothing for a plain group, so that a whole fleet can be asked node
// by node; stack_count makes metrics of options.
bool stack_select_node(
	struct stack *, uint32_t group, uint32_t name_index, uint32_t slot, struct stack_option *);
// The same for an instance that is then placed there (stack_plan_place): the node is claimed for it, which others see
// at once.
bool stack_take_node(
	struct stack *, uint32_t group, uint32_t name_index, uint32_t slot, struct stack_option *);
// The same for an allocation that is on the node and whose stop is planned during the call: only the system scheduler
// would preempt others for it (row A27).
bool stack_stay_on_node(
	struct stack *, uint32_t group, uint32_t name_index, uint32_t slot, struct stack_option *);

// Selects the exact best of all usable nodes that the job targets, by the snapshot that it asks for, then by all
// scores; ties go by slot. It preempts only if no node fits without and the configuration allows it.
// The node is claimed for the instance, which is then placed there (stack_plan_place): others see it at once.
// Metrics are set to the findings of the deciding pass over the nodes; what they name is lent by the stack until its
// next selection, and not to be released.
bool stack_select(struct stack *, const struct stack_request *, struct stack_option *,
	struct alloc_metrics *);

// Puts the metrics of the newest selection, which found a node, into the plan, and returns their number. What they say
// of nodes that are filtered may be in part: metrics that were put there before say the rest (alloc_metrics.back).
uint32_t stack_keep_metrics(struct stack *, const struct alloc_metrics *);

// Adds the class memo (row A41) to an evaluation: class_eligibility (of no use when something escapes) and
// escaped_computed_class. A class that was eligible before stays so.
void stack_eligibility(struct stack *, struct evaluation *);

// The compiled rules of a group of the job; valid until the next stack_set_job.
struct group_rules *stack_group(struct stack *, uint32_t group);
