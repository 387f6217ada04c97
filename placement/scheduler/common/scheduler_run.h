// What schedulers of all types do around their decisions, in one call of scheduler_process(): attempts and
// their limit, submission, queued counts, and the evaluation's end (rows A3–A6, A9–A14).
#pragma once
#include "placement/scheduler/common/planner.h"
#include "state/base/check.h"

struct scheduler_run {
	const struct scheduler_settings *settings;
	const struct evaluation *eval;
	uint64_t refresh_index;     // the next attempt's view must have it
	uint32_t without_progress;  // attempts in a row
	bool progressed;            // the last attempt changed something
	bool is_last;               // no attempt follows this one unless it makes progress
	struct array rejected;      // struct uuid: nodes that refused a plan of this call
	struct array queued;        // named_count, by group
	struct array failed_groups; // failed_group, by group
	char *quota;                // that had no room; NULL: none
	struct uuid next_eval;      // rolling follow-up; zero: none was made
	struct uuid blocked_eval;   // for instances without room, or spent attempts; zero: none
	struct uuid deployment;     // that the evaluation was about in the end; zero: none
	bool in_view;               // between begin_view and end_view
	bool is_cut;                // the attempt's pass ended early: another one places the rest
	int pass_error;             // that ended the attempt's pass; 0: none
	struct check_guard guard;   // of attempts
};

void scheduler_run_init(
	struct scheduler_run *, const struct scheduler_settings *, const struct evaluation *);
void scheduler_run_release(struct scheduler_run *);
// Notes that this quota has no room, for the evaluation that waits.
void scheduler_run_note_quota(struct scheduler_run *, const char *name);
// Says it to an evaluation that waits for room.
void scheduler_run_tell_quota(const struct scheduler_run *, struct evaluation *);
// Forgets the findings of an earlier attempt.
void scheduler_run_reset(struct scheduler_run *);

#define ATTEMPT_AGAIN 0
#define ATTEMPT_DONE 1
#define ATTEMPTS_EXHAUSTED 2
#define ATTEMPT_BROKEN 3
struct scheduler_attempts {
	uint32_t limit; // in a row without progress
	void *context;
	// One attempt: ATTEMPT_DONE, ATTEMPT_AGAIN, or a negative error. An invariant that breaks leaves the attempt
	// where it is, so the context must reach everything that the attempt holds.
	int (*attempt)(struct scheduler_run *, void *context);
	// Frees what the attempt still holds. The view may still be open.
	void (*release)(void *context);
};
// Tries until an attempt is done. ATTEMPT_DONE, ATTEMPTS_EXHAUSTED, ATTEMPT_BROKEN (no view is open then) or a
// negative error.
int scheduler_run_attempts(struct scheduler_run *, const struct scheduler_attempts *);

int scheduler_run_begin_view(struct scheduler_run *, struct scheduler_view *);
void scheduler_run_end_view(struct scheduler_run *);
// An empty plan of the evaluation. job: NULL when it is purged.
struct plan *scheduler_run_plan(
	const struct scheduler_run *, const struct scheduler_view *, const struct job *job);
// Within a view, before each missing instance: whether this attempt places it. If not, the attempt submits what it has
// and is followed by another one, or fails with pass_error. A plan that must be whole is never cut, nor is one without
// a placement, since the next pass would begin with the same instances.
bool scheduler_run_goes_on(struct scheduler_run *, const struct plan *, bool may_be_cut);
// Outside of a view: submits the plan and lowers the queued counts by what was placed. Returns what an attempt
// returns.
int scheduler_run_submit(struct scheduler_run *, struct plan *);

// For stack_break_ties: another number after an attempt that was in vain, since somebody took the same nodes.
uint64_t scheduler_run_ties(const struct scheduler_run *);

// Outside of a view: asks the planner to store an evaluation, which stays the caller's.
int scheduler_run_create(struct scheduler_run *, const struct evaluation *);
// Passes the note to settings.rescheduled.
void scheduler_run_note(const struct scheduler_run *, const struct reschedule_note *);

// A new evaluation of the same job that names this one as the previous. Caller frees.
struct evaluation *scheduler_run_follow_up(
	struct scheduler_run *, enum eval_trigger, enum eval_status);

// Copies the failures that are known by now into an evaluation that waits for room.
void scheduler_run_tell_failed(const struct scheduler_run *, struct evaluation *to);

// Blocks the evaluation again, with what is still missing and the classes known now, which are those of `eligibility`.
int scheduler_run_reblock(struct scheduler_run *, const struct evaluation *eligibility);
// Stores the end of the evaluation: its failed groups and queued counts, and the follow-ups.
int scheduler_run_end(struct scheduler_run *, enum eval_status, const char *description);
// "maximum attempts reached (<limit>)"
int scheduler_run_exhausted(struct scheduler_run *, uint32_t limit);
// After ATTEMPT_BROKEN: fails the evaluation with the text of the check that failed; queued counts stay as they were.
int scheduler_run_broken(struct scheduler_run *);
// Fails an evaluation whose trigger the scheduler does not know; queued counts stay as they were (row A3).
int scheduler_run_refuse_trigger(struct scheduler_run *);
