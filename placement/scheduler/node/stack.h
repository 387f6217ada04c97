// Whether a node can take one more instance of a group, why not, and how good it is: features A41–A65,
// semantics §4 and §5.10–5.11. One stack per attempt at an evaluation; it sees the view as changed by the
// plan that is being made.
#pragma once
#include "placement/scheduler/common/view.h"
#include "state/records/plan.h"

enum stack_kind { STACK_SYSTEM, STACK_GENERIC };

struct stack;

// plan: what is planned so far; what is appended to it later is seen too (proposed allocations, row A47). The
// stack keeps indexes over it: append through stack_plan_*(). Both must outlive the stack, and so must the
// job; the view's time must not end meanwhile.
struct stack *stack_create(enum stack_kind, const struct scheduler_view *, struct plan *);
void stack_destroy(struct stack *); // NULL is fine
// The version whose groups are asked for, before anything is asked. Preemption follows the configuration for
// the type of the job. May be called again (a downgraded version): what was planned stays seen, the memo of
// classes starts anew.
void stack_set_job(struct stack *, const struct job *);

// The applier refused what an earlier attempt had planned for this node: whoever makes room there has to leave
// enough for everything, the job's own allocations included (which Nomad's choice of victims passes over).
void stack_be_strict(struct stack *, uint32_t slot);

// Appends to the plan, and makes it seen. Allocations are valid until the view ends.
void stack_plan_stop(struct stack *, const struct allocation *, enum stop_cause, bool lost,
	const struct uuid *followup_eval); // followup_eval may be NULL
void stack_plan_preempt(struct stack *, const struct allocation *, const struct uuid *by);
// References in it are handed over to the plan. The result is valid until the next call.
struct plan_placement *stack_plan_place(struct stack *, const struct plan_placement *);
void stack_plan_update(struct stack *, const struct plan_update *);
// Takes the stop of this allocation back (in-place try, failed destructive update).
void stack_plan_unstop(struct stack *, const struct uuid *);

// --- What was found on one node -----------------------------------------------------------------------

enum stack_outcome {
	STACK_FITS,
	STACK_FILTERED, // reason: "missing drivers", "${attr.arch} = arm64", …
	STACK_EXHAUSTED // reason: "cpu", "network: reserved port collision http=80", …
};
// In the order in which they are found out.
enum score_kind {
	SCORE_BINPACK,
	SCORE_DEVICES,
	SCORE_ANTI_AFFINITY,
	SCORE_RESCHEDULE_PENALTY,
	SCORE_AFFINITY,
	SCORE_SPREAD,
	SCORE_PREEMPTION,
	SCORE_SNAPSHOT, // comes before all others and is not in their mean
	SCORE_KINDS
};
extern const char *const score_kind_names[SCORE_KINDS]; // "binpack" "devices" "job-anti-affinity" …

struct stack_option {
	uint32_t slot;           // NODE_SLOT_NONE: none
	const struct node *node; // NULL: none
	enum stack_outcome outcome;
	const char *reason; // of a refusal; lives as long as the stack; "" otherwise
	double score;       // normalised: the mean of the recorded scores
	double scores[SCORE_KINDS];
	uint8_t recorded; // bits of the kinds that are in the mean
	uint8_t shown;    // those that belong in the metadata: some are shown even when they are 0
	struct resources resources;
	struct device_set devices;
	// Ports, devices and cores; NULL: none. A reference that is the caller's from then on, and nobody
	// else has one: it may be changed.
	struct alloc_details *details;
	const struct allocation **preempted; // victims, owned by the stack until its next select
	uint32_t preempted_count;
};

// This node alone, which must be usable and targeted by the job. name_index: of the instance (volumes
// per allocation). True: it fits. Nothing is allocated for a plain group, so that a whole fleet can be asked
// node by node; metrics are made of options by stack_count.
bool stack_select_node(
	struct stack *, uint32_t group, uint32_t name_index, uint32_t slot, struct stack_option *);
// The same for one that is there already and was taken off the node to ask: only the system scheduler would make
// victims for it (row A27).
bool stack_stay_on_node(
	struct stack *, uint32_t group, uint32_t name_index, uint32_t slot, struct stack_option *);
// Adds one looked-at node to metrics (evaluated; filtered or exhausted, or its scores).
void stack_count(const struct stack_option *, struct alloc_metrics *);
// True when the placement's metrics say no more than its score does: nodes_evaluated is 1 and the scores are
// {"binpack": score}. Such placements can share one metrics object without score_metadata.
bool stack_option_is_plain(const struct stack_option *);
// Adds what the group asks of the dimensions that metrics call exhausted (ResourcesExhausted): once for each
// instance that could not be placed.
void stack_count_exhausted(const struct task_group *, struct alloc_metrics *);

// --- The best of all nodes -----------------------------------------------------------------------------

struct stack_request {
	uint32_t group, name_index;
	uint32_t preferred_slot; // tried alone first if usable (row A61); NODE_SLOT_NONE: none
	const struct uuid *penalty_nodes; // of a rescheduled instance (row A57)
	uint32_t penalty_count;
};
// The exact best of all usable nodes that the job targets, by the snapshot that it asks for, then by all scores; ties
// go to the lowest slot. With
// preemption only if none fits without, and the configuration allows it. Metrics (cleared or new) get what
// the deciding pass over the nodes found.
bool stack_select(struct stack *, const struct stack_request *, struct stack_option *,
	struct alloc_metrics *);

// --- For the evaluation --------------------------------------------------------------------------------

// Row A41's memo, added to an evaluation: class_eligibility (of no use when something escapes) and
// escaped_computed_class. A class that was eligible before stays so.
void stack_eligibility(struct stack *, struct evaluation *);
// Usable nodes by datacenter of the job (NodesAvailable), and in its pool.
void stack_nodes_available(struct stack *, struct alloc_metrics *);

// True when the node is in one of the job's datacenters (globs) and in its pool
// (state/tables/job_reevaluations.c). The second is for many nodes: it remembers the answer by class.
bool job_targets_node(const struct job *, const struct node *);
bool stack_targets_node(struct stack *, const struct node *);
// True when an instance of the group must be replaced to get from one version to the other (semantics §5.8).
bool tasks_updated(const struct job *before, const struct job *after, const char *group);
