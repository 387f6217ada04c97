// Whether a node can take one more instance of a group, why not, and how good it is; and which node is the best
// (rows A41–A65, docs/spec/scoring.md). One stack per attempt at an evaluation; it sees the view as changed by the
// plan that is being made.
#pragma once
#include "placement/scheduler/node/stack_available.h"
#include "placement/scheduler/node/stack_option.h"
#include "placement/scheduler/node/stack_plan.h"

struct stack;
struct group_rules;

// plan: what is planned so far; what is appended to it later is seen too (proposed allocations, row A47). The stack
// keeps indexes over it: append through stack_plan_*(). The plan, the view and the job must outlive the stack.
struct stack *stack_create(enum stack_kind, const struct scheduler_view *, struct plan *);
void stack_destroy(struct stack *); // NULL is fine
// The version whose groups are asked for, before anything is asked. Preemption follows the configuration for
// the type of the job. May be called again (a downgraded version): what was planned stays seen, the memo of
// classes starts anew.
void stack_set_job(struct stack *, const struct job *);

// The applier refused what an earlier attempt had planned for these nodes (struct uuid): whoever makes room there has
// to leave enough for everything, the job's own allocations included (which Nomad's choice of victims passes over).
void stack_be_strict_on(struct stack *, const struct array *node_ids);

// Asks about this node alone, which must be usable and targeted by the job. name_index: of the instance (volumes per
// allocation). True: it fits. Nothing is allocated for a plain group, so that a whole fleet can be asked node by node;
// stack_count makes metrics of options.
bool stack_select_node(
	struct stack *, uint32_t group, uint32_t name_index, uint32_t slot, struct stack_option *);
// The same for an allocation that is on the node already and whose stop is planned while we ask: only the system
// scheduler would preempt others for it (row A27).
bool stack_stay_on_node(
	struct stack *, uint32_t group, uint32_t name_index, uint32_t slot, struct stack_option *);

// The exact best of all usable nodes that the job targets, by the snapshot that it asks for, then by all scores; ties
// go to the lowest slot. With preemption only if none fits without, and the configuration allows it. Metrics (cleared
// or new) get what the deciding pass over the nodes found.
bool stack_select(struct stack *, const struct stack_request *, struct stack_option *,
	struct alloc_metrics *);

// Row A41's memo, added to an evaluation: class_eligibility (of no use when something escapes) and
// escaped_computed_class. A class that was eligible before stays so.
void stack_eligibility(struct stack *, struct evaluation *);

// The compiled rules of a group of the job; valid until the next stack_set_job.
struct group_rules *stack_group(struct stack *, uint32_t group);
