// From commands to entries. A decider reads the working state, makes every choice, commits entries to the open batch
// and puts the answers into the command. Applier thread only.
#pragma once
#include "state/apply/apply.h"
#include "state/base/prng.h"
#include "state/decide/admission.h"
#include "state/decide/applier_counters.h"
#include "state/decide/clones.h"
#include "state/decide/registration.h"
#include "state/log/batch.h"

// Changes that are made durable, published and acknowledged together.
struct batch {
	struct bytes_writer bytes; // header, entries
	struct batch_header header;
	struct change_list changes;
	struct summary summary; // of the state after it
	uint32_t command_count;
	struct command *commands[BATCH_COMMANDS_MAX];
};

#define GC_COMMANDS_MAX 4u

// A garbage collection under way: commands[0] runs, the others wait for their turn.
struct gc_run {
	struct command *commands[GC_COMMANDS_MAX];
	uint32_t count;
	uint8_t phase;    // enum gc_phase
	uint64_t cursor;  // next slot of evaluations or jobs
	struct uuid kept; // the newest allocation that was looked at and kept; zero: none
};

struct decider {
	struct state *state;
	const struct placer *placer;
	struct batch *batch;
	struct prng prng;
	struct registrations *registrations;
	struct rejections *rejections; // of plans, by nodes
	struct clones *clones;         // of nodes, and who has which
	struct admissions admissions;
	int64_t now_ns; // unix
	int64_t collect_after_ms;
	int64_t beat_ns; // between two heartbeats of a node; 0: not known
	struct standing_limits standing;
	uint32_t plan_changes_max;
	bool store_is_full;          // accepts nothing that grows
	int64_t store_room;          // bytes that the log takes beside its reserve
	bool is_collecting;          // the last COLLECT left something
	int64_t urgent_due_ns;       // when urgent marks are looked at next; 0: at once
	int64_t marks_due_ns;        // the same of the marks of nodes
	int64_t vm_offline_after_ns; // row D23
	struct gc_run gc;
	uint32_t open_block[WORKERS_MAX]; // block of each worker's next slot
	struct node_registration whole;   // scratch
	struct applier_counters *counters;
};

#define NO_BLOCK 0xffffffffu

// The newest sequence of the node's reports and answers about its probe since it registered; 0: none.
uint64_t decider_newest_word(const struct node_cell *);

// Makes a pending evaluation of the job, with a new id. The caller owns it until decider_evaluate.
struct evaluation *decider_evaluation(struct decider *, const struct job *, enum eval_trigger);
// Commits the evaluation (always takes it over), notes it in eval_made and settles its job's mark. False when there
// is no room: check evaluations_have_room() before anything else is committed.
bool decider_evaluate(struct decider *, struct evaluation *, struct eval_made *);
// Both for a version of a job as it is now; eval_priority 0: the job's. DONE or TABLE_FULL.
enum command_outcome decider_evaluate_job(struct decider *, const struct job *, enum eval_trigger,
	int64_t eval_priority, struct eval_made *);
// The jobs that a change of the node concerns: with allocations on it, and system jobs that want to be
// on it. Free the items (struct concerned_job).
struct concerned_job {
	struct job_cell *cell;
	const struct job *job; // a version of it
};
struct array node_concerned_jobs(const struct state *, const struct node_cell *);
int concerned_job_order(const void *a, const void *b); // by their cells, for items_sort_unique()
// Makes an evaluation for each job, triggered by the change of this node.
void decider_evaluate_jobs(struct decider *, const struct array *jobs, const struct uuid *node,
	uint64_t node_modify_index, struct eval_made *);
// Makes the evaluations of marks that are due.
void decider_marks(struct decider *);

// Stores a specification as the newest version of its job, with the next number and the present indexes. keep: the
// known record of the job, or NULL. Takes the job over (sets it to NULL) unless it refuses. The caller makes the
// evaluation.
struct job_cell;
struct job_keep;
enum command_outcome decider_store_job(struct decider *, const struct job_keep *, struct job **);
// The job, or NULL when there is none. A namespace of "" is "default".
struct job_cell *decider_find_job(
	const struct decider *, struct text namespace_name, struct text id);
// Registers a kept version of a job again, under a new number (decide_version.c); the caller makes the evaluation.
// OUTCOME_UNKNOWN_VERSION when it is not kept.
enum command_outcome decider_store_version(struct decider *, struct job_cell *, uint64_t version);
// Notes a launch of a job, or the scaling of one of its groups (takes the event over).
struct scaling_event;
void decider_note_launch(struct decider *, const struct job_cell *, int64_t launched_ns);
void decider_note_scaling(
	struct decider *, const struct job_cell *, struct text group, struct scaling_event *);

// Whether a version of the job is deployed together with other regions. The caller of decider_begin_rollout makes its
// deployment, after it stored the version and with deployments_have_room().
bool job_begins_rollout(const struct job *);
void decider_begin_rollout(struct decider *, const struct job_cell *, int64_t eval_priority);

// An initializing node becomes ready once nothing prevents it.
void decider_settle_node(struct decider *, uint32_t slot);
// After a release was committed: its tasks ended before their nodes report it, so the last results of their probes
// count (row E24).
void decider_judge_released(struct decider *, const struct entry_alloc_release *);
// Whether the node of a complete description may be a worker of virtual machines. DONE, also when it describes no
// worker. CONFLICT: another machine has its name. TABLE_FULL.
enum command_outcome decider_check_worker(const struct decider *, const struct node_registration *);
// After a node's registration: makes, renews or lets go of its worker.
void decider_register_worker(struct decider *, const struct node_registration *);
// After a change of a node's status: its worker beats, or has stopped beating.
void decider_follow_node(struct decider *, const struct node_cell *, int64_t heard_ns);
// Whether an instance is of a machine that the node at a slot has to run.
bool decider_finds_vm(const struct decider *, uint32_t slot, const struct uuid *instance);
// Applies what a node reports of such machines; takes over the reports of these items.
void decider_report_vms(struct decider *, struct command_alloc_update *);
// Whether a complete registration may be what it says; a refusal is noted among the refused nodes.
enum admission decider_admits(struct decider *, const struct node_registration *);
// The same of a node as it is registered.
bool decider_admits_node(struct decider *, const struct node *);
// Whether one more note of a refused node may be made now, and puts one: takes it over.
bool decider_may_note(struct decider *);
void decider_put_refused(struct decider *, struct refused_node *);
// Whether who registers a node that is there anew is the clone of the agent that has it; notes it.
bool decider_finds_clone(
	struct decider *, const struct node_cell *, const struct node_registration *);
// Forgets that the node has a clone. False: it was not noted.
bool decider_clear_clone(struct decider *, const struct uuid *);
// Whether there are nodes that are to be judged again since rules changed, and a bounded number of them: those that are
// more than they may be take no more work.
bool decider_judges_nodes(const struct decider *);
void decider_judge_nodes(struct decider *);
// Forgets a node.
void decider_purge_node(struct decider *, const struct node_cell *);

// Takes a COMMAND_GC, to be answered later. False: too many wait already.
bool gc_begin(struct decider *, struct command *);
// Continues for a bounded piece. Returns the command that this piece completed, or NULL.
struct command *gc_continue(struct decider *);
static inline bool gc_is_going_on(const struct decider *d)
{
	return d->gc.count > 0;
}
// Returns one of the waiting commands, or NULL.
struct command *gc_abandon(struct decider *);

// Decides one command: sets its outcome, index and results.
void decide(struct decider *, struct command *);
// Checks, encodes and applies the entry. Takes it over when it returns 0; otherwise nothing changed.
int decider_commit(struct decider *, struct entry *);
// Applies an entry that was already checked; takes it over.
void decider_apply(struct decider *, struct entry *);
// Puts a whole record; takes it over when it returns 0.
int decider_put(struct decider *, enum state_table, void *record);
// The same for a record that a command brings.
enum command_outcome decider_store(struct decider *, enum state_table, void *record);
// DONE; TABLE_FULL; or BAD_DESCRIPTION for what else is wrong with an entry.
enum command_outcome outcome_of_error(int error);
// Deletes an existing record of a table whose keys are names.
void decider_delete(struct decider *, enum state_table, struct text name);
// The same for keys that are ids.
void decider_delete_id(struct decider *, enum state_table, const struct uuid *);
// Commits one COLLECT entry if there is anything to collect.
void decider_collect(struct decider *);
// Finds the blocks that have room; after recovery.
void decider_open_blocks(struct decider *);
