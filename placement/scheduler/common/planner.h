// What a scheduler works with: the planner that it asks, and what it is told before it begins. Pure but for these: no
// clock, no randomness, no thread of its own, so that `berth simulate` and the daemon run the very same code.
#pragma once
#include "placement/scheduler/common/view.h"
#include "state/base/prng.h"
#include "state/records/plan.h"

// What a scheduler asks of its surroundings. Results: 0, or a negative error, which ends process() with it
// (the worker then nacks; row A6).
struct planner {
	void *context;
	// Begins a view that is at least as new as index (0: any), waiting for it if need be; ends it.
	// begin_view fails with -ERROR_TIMEOUT when the state does not get there in time.
	int (*begin_view)(void *context, uint64_t index, struct scheduler_view *);
	void (*end_view)(void *context);
	// Outside of a view. The plan stays the caller's; the result is released by the caller.
	int (*submit_plan)(void *context, struct plan *, struct plan_result *);
	// Outside of a view. The evaluation stays the caller's.
	int (*update_eval)(void *context, const struct evaluation *);
	int (*create_eval)(void *context, const struct evaluation *);
	int (*reblock_eval)(void *context, const struct evaluation *);
};

// A failed allocation that is placed anew, or waits for that (row C29). Valid during the call.
struct reschedule_note {
	const struct allocation *allocation;
	const struct evaluation *follow_up; // that it waits for; NULL: now
	int64_t attempted, limit;           // by its policy; 0: without a limit
};

struct scheduler_settings {
	struct planner planner;
	struct prng *prng; // ids of allocations and evaluations
	int64_t now_ns;    // unix; the evaluation's "now"
	// The text of a trigger that we do not know (then triggered_by is EVAL_TRIGGERS); only scenarios have such.
	// NULL otherwise.
	const char *unknown_trigger;
	// NULL: nobody wants to know. Called within a view.
	void (*rescheduled)(void *context, const struct reschedule_note *);
	// Called outside of a view when an invariant broke and the evaluation failed with this text. NULL: nobody wants
	// to know.
	void (*broken)(void *context, const struct evaluation *, const char *text);
	void *notes_context; // of both
};
