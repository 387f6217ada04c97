// The inside of a stack, for its own files.
#pragma once
#include "placement/direct/placement.h"
#include "placement/scheduler/node/class_memo.h"
#include "placement/scheduler/node/cores.h"
#include "placement/scheduler/node/ports.h"
#include "placement/scheduler/node/proposal.h"
#include "placement/scheduler/node/rules.h"
#include "placement/scheduler/node/stack.h"
#include "placement/scheduler/node/victim_counts.h"

// An allocation of another job that a node holds, while victims are looked for.
struct candidate {
	const struct allocation *allocation;
	const struct alloc_details *details; // of now: an update may have changed them
	struct resources resources;
	int64_t priority;
	bool preemptible; // by its priority
	bool chosen;
};

struct columns;

struct stack {
	enum stack_kind kind;
	struct scheduler_view view;
	struct plan *plan;
	uint32_t stop_room, preemption_room, placement_room, update_room; // of the plan's arrays
	const struct job *job;
	enum placement_algorithm algorithm;
	bool preemption; // enabled for jobs of this type
	struct proposal proposal;
	struct reasons reasons;
	struct class_memo classes;
	struct job_rules job_rules;
	struct group_rules **groups; // by number; NULL: not asked for yet
	struct columns **columns;    // the same; of stack_select
	uint32_t group_count;
	struct victim_counts victim_counts;
	// Scratch, for one node after the other.
	uint8_t *strict; // a bit per slot where a plan was refused; NULL: none
	struct port_index ports;
	struct candidate *candidates;
	uint32_t candidate_count, candidate_room;
	bool candidates_known; // of the node that is being looked at
	const struct allocation **victims;
	uint32_t victim_count, victim_room;
	const struct allocation **best_victims; // of the best node so far
	uint32_t best_victim_room;
	// Usable nodes by datacenter, for metrics; counted when somebody looks at all of them.
	struct alloc_metrics available;
	bool available_known;
	uint32_t *changed_slots; // touched by the plan since columns were last brought up to date
	uint32_t changed_count, changed_room;
};

// stack_available.c: counts nodes as they are looked at; neighbours are mostly of one datacenter.
struct availability {
	struct stack *s;
	const char *datacenter; // of the nodes counted in run
	uint32_t run;
};
void availability_begin(struct availability *, struct stack *);
void availability_add(struct availability *, const struct node *);
void availability_end(struct availability *);

struct group_rules *stack_group(struct stack *, uint32_t group);
// Adds what is planned so far to a set that counts what is there.
void stack_count_planned(struct stack *, struct property_set *);

// checks.c: why the node cannot take the group at all; NULL: it can. What depends on the plan comes last.
const char *stack_check_static(
	struct stack *, const struct group_rules *, const struct node *, uint32_t name_index);
const char *stack_check_properties(struct stack *, struct group_rules *, const struct node *);
const char *stack_check_distinct(struct stack *, struct group_rules *, const struct node *);
bool stack_volumes_fit(const struct group_rules *, const struct node *, uint32_t name_index);
extern const char reason_class_ineligible[], reason_distinct_hosts[];

// fit.c: room on the node; fills the option but for the scores of other nodes. evict: victims may be chosen.
bool stack_fit(struct stack *, struct group_rules *, const struct node *, bool evict,
	struct stack_option *);

// The first dimension that is short, in the order of row A52; NULL: none.
const char *resources_shortage(const struct resources *capacity, const struct resources *used,
	const struct resources *ask);
// The node's score with the instance on it.
double stack_fit_score(const struct stack *, const struct resources *capacity,
	const struct resources *used, const struct resources *ask);

bool stack_is_strict(const struct stack *, uint32_t slot);

// preempt.c: victims on one node are added to s->victims. False: there are no sufficient ones.
bool preempt_for_resources(struct stack *, const struct node *, const struct resources *used,
	const struct resources *ask);
// s->ports says what is taken now.
bool preempt_for_ports(struct stack *, const struct node *, const struct network_ask *);
bool preempt_for_task_ports(struct stack *, const struct node *, const struct network_ask *);
bool preempt_for_devices(struct stack *, const struct node *, const struct device_need *,
	const struct device_set *free);
double preemption_score(const struct allocation *const *victims, uint32_t count);

// scores.c
void option_begin(struct stack_option *, const struct node *);
void option_record(struct stack_option *, enum score_kind, double score);
// The mean of what was recorded.
void option_settle(struct stack_option *);
// By the snapshot, then by what was recorded; the slot does not count.
bool option_is_better(const struct stack_option *, const struct stack_option *than);
// Keeps the best in the metadata; of equal ones, those that came first.
void option_keep_scores(const struct stack_option *, struct array *kept);
