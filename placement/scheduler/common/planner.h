// What a scheduler is given before it begins: its planner and settings. It has no clock, randomness or thread besides,
// so that `berth simulate` and the daemon run the very same code.
#pragma once
#include "placement/scheduler/common/view.h"
#include "state/base/prng.h"
#include "state/base/time_source.h"
#include "state/records/plan.h"

// How a pass over missing instances goes on.
#define PASS_ON 0
#define PASS_FULL 1 // what is planned is submitted first; then another pass follows

// What a scheduler asks of its surroundings. Each returns 0, or a negative error, which ends process() with it (the
// worker then nacks; row A6).
struct planner {
	void *context;
	// Begins a view that is at least as new as index (0: any), waiting for it if need be, and ends it. begin_view
	// fails with -ERROR_SYNC_TIMEOUT when the state does not get there in time.
	int (*begin_view)(void *context, uint64_t index, struct scheduler_view *);
	void (*end_view)(void *context);
	// Outside of a view. The caller keeps the plan and releases the result.
	int (*submit_plan)(void *context, struct plan *, struct plan_result *);
	// Outside of a view. The caller keeps the evaluation.
	int (*update_eval)(void *context, const struct evaluation *);
	int (*create_eval)(void *context, const struct evaluation *);
	int (*reblock_eval)(void *context, const struct evaluation *);
	// Within a view, before each missing instance: PASS_ON, PASS_FULL, or a negative error, which ends process().
	// NULL: one pass places everything.
	int (*go_on)(void *context);
};

// A failed allocation that is rescheduled now or waits for that (row C29). Valid during the call.
struct reschedule_note {
	const struct allocation *allocation;
	const struct evaluation *follow_up; // that the allocation waits for; NULL: rescheduled now
	int64_t attempted, limit;           // reschedules by the policy; limit 0: without a limit
};

struct scheduler_settings {
	struct planner planner;
	struct prng *prng; // ids of allocations and evaluations
	int64_t now_ns;    // unix; the evaluation's "now"
	// How long the choice of a node took goes into its metrics. NULL: not measured.
	const struct time_source *time;
	uint64_t ties; // decides between equal nodes; 0: the lowest slot
	// The text of a trigger that we do not know (triggered_by is then EVAL_TRIGGERS); only scenarios have such.
	// Else NULL.
	const char *unknown_trigger;
	// Called within a view for each reschedule_note. May be NULL.
	void (*rescheduled)(void *context, const struct reschedule_note *);
	// Called outside of a view when an invariant broke and the evaluation failed with this text. May be NULL.
	void (*broken)(void *context, const struct evaluation *, const char *text);
	void *notes_context; // of rescheduled and broken
};

// For differences; 0 when nothing is measured.
static inline int64_t scheduler_clock_ns(const struct scheduler_settings *settings)
{
	return settings->time ? (int64_t)time_monotonic_ns(settings->time) : 0;
}
