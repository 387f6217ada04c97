// From commands to entries. A decider looks at the working state, chooses everything that is to be
// chosen, and commits entries to the batch that is open; the answers go into the command. Applier
// thread only.
#pragma once
#include "state/apply/apply.h"
#include "state/base/prng.h"
#include "state/decide/applier_counters.h"
#include "state/decide/registration.h"
#include "state/log/batch.h"
#include "state/tables/jobs/mark_patience.h"

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

// Garbage that is being collected: the first command, and those that wait for their turn.
struct gc_run {
	struct command *commands[GC_COMMANDS_MAX];
	uint32_t count;
	uint8_t phase;    // enum gc_phase
	uint64_t cursor;  // of evaluations and jobs; the next slot
	struct uuid kept; // the newest allocation that was looked at and kept; zero: none
};

struct decider {
	struct state *state;
	const struct placer *placer;
	struct batch *batch;
	struct prng prng;
	struct registrations *registrations;
	struct rejections *rejections; // of plans, by nodes
	int64_t now_ns;                // unix
	int64_t collect_after_ms;
	struct mark_patience patience;
	struct lifecycle_limits lifecycle;
	uint32_t plan_changes_max;
	bool store_is_full;          // nothing that grows is accepted
	int64_t store_room;          // bytes that the log takes beside its reserve
	bool is_collecting;          // the last COLLECT left something
	int64_t marks_due_ns;        // no mark becomes an evaluation before
	int64_t vm_offline_after_ns; // row D23
	struct gc_run gc;
	uint32_t open_block[WORKERS_MAX]; // the block that each worker's next slot comes from
	struct node_registration whole;   // scratch
	struct applier_counters *counters;
};

#define NO_BLOCK 0xffffffffu

// A pending one for the job, with a new id. The caller's until decider_evaluate.
struct evaluation *decider_evaluation(struct decider *, const struct job *, enum eval_trigger);
// Commits it (in any case it is taken over) and notes it. Its job's mark is settled with it. False when
// there is no room; check evaluations_have_room() before anything else is committed.
bool decider_evaluate(struct decider *, struct evaluation *, struct eval_made *);
// The jobs that a change of the node concerns: with allocations on it, and system jobs that want to be
// on it. Free the items (struct concerned_job).
struct concerned_job {
	struct job_cell *cell;
	const struct job *job; // a version of it
};
struct array node_concerned_jobs(const struct state *, const struct node_cell *);
// An evaluation for each, triggered by a change of this node.
void decider_evaluate_jobs(struct decider *, const struct array *jobs, const struct uuid *node,
	uint64_t node_modify_index, struct eval_made *);
// Makes the evaluations of marks that are due.
void decider_marks(struct decider *);

// A specification as the newest version of its job, under the next number and with the indexes of now; keep: what is
// known of the job, NULL: nothing. Taken over (set to NULL) unless refused. The caller makes the evaluation.
struct job_keep;
enum command_outcome decider_store_job(struct decider *, const struct job_keep *, struct job **);
// Registers a kept version of a job again, under a new number (decide_version.c); the caller makes the evaluation.
// OUTCOME_UNKNOWN_VERSION when it is not kept.
struct job_cell;
enum command_outcome decider_store_version(struct decider *, struct job_cell *, uint64_t version);
// What is remembered of a job: a launch, or how a group was scaled (the event is taken over).
struct scaling_event;
void decider_note_launch(struct decider *, const struct job_cell *, int64_t launched_ns);
void decider_note_scaling(
	struct decider *, const struct job_cell *, struct text group, struct scaling_event *);

// Whether a version of the job is deployed together with other regions. Its deployment is made with it: by
// the caller of the next one, after the version is stored and with deployments_have_room().
bool job_begins_rollout(const struct job *);
void decider_begin_rollout(struct decider *, const struct job_cell *, int64_t eval_priority);

// An initializing node becomes ready when nothing is against it any more.
void decider_settle_node(struct decider *, uint32_t slot);
// After a release was committed: its tasks have ended before their nodes tell of it, so what their probes said last
// counts (row E24).
void decider_judge_released(struct decider *, const struct entry_alloc_release *);
// Whether a whole description may be taken as that of a worker of virtual machines: DONE also when it is of none.
// CONFLICT: its name is that of another machine. TABLE_FULL.
enum command_outcome decider_check_worker(const struct decider *, const struct node_registration *);
// After the registration of a node: its worker is made, renewed or let go of.
void decider_register_worker(struct decider *, const struct node_registration *);
// After a change of its status: its worker beats, or does not any more since then.
void decider_follow_node(struct decider *, const struct node_cell *, int64_t heard_ns);
// Whether an instance is of a machine that the node at a slot has to run.
bool decider_finds_vm(const struct decider *, uint32_t slot, const struct uuid *instance);
// What a node says of such machines; takes the reports of these items over.
void decider_report_vms(struct decider *, struct command_alloc_update *);
// Forgets a node.
void decider_purge_node(struct decider *, const struct node_cell *);

// Takes a COMMAND_GC, to be answered later. False: too many wait already.
bool gc_begin(struct decider *, struct command *);
// Goes on for a bounded piece. Returns the command that came to its end with it, or NULL.
struct command *gc_continue(struct decider *);
static inline bool gc_is_going_on(const struct decider *d)
{
	return d->gc.count > 0;
}
// Gives back one that waits, or NULL.
struct command *gc_abandon(struct decider *);

// Decides one command: sets its outcome, index and results.
void decide(struct decider *, struct command *);
// Checks, encodes and applies. The entry is taken over when 0 is returned; otherwise nothing
// happened.
int decider_commit(struct decider *, struct entry *);
// The same for an entry that was checked already: it is taken over.
void decider_apply(struct decider *, struct entry *);
// The same for a record that is put whole: it is taken over when 0 is returned.
int decider_put(struct decider *, enum state_table, void *record);
// One that is there goes, of a kind that is known by names.
void decider_delete(struct decider *, enum state_table, struct text name);
// One COLLECT entry, if there is anything to collect.
void decider_collect(struct decider *);
// Finds the blocks that have room; after recovery.
void decider_open_blocks(struct decider *);
