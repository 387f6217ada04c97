// What would become of a node's allocations if it were drained or dead: the schedulers run over a view in which it
// is. Nothing is stored. Everything leaves at once there, so the answer is where allocations end up, not in what
// order.
#pragma once
#include "placement/scheduler/common/view.h"
#include "state/base/prng.h"

enum what_if_kind { WHAT_IF_DRAIN, WHAT_IF_DOWN };
extern const char *const what_if_kind_names[]; // "drain" "down" NULL

enum what_if_outcome {
	WHAT_IF_MOVES,   // a replacement fits on `to`
	WHAT_IF_NO_ROOM, // wanted, but fits nowhere; metrics say why
	WHAT_IF_LATER,   // wanted, but delayed by its reschedule or disconnect policy
	WHAT_IF_STOPS,   // ends there without a replacement
	WHAT_IF_STAYS,   // nothing moves it: a client holds it, or its job leaves it there
	WHAT_IF_OUTCOMES
};
extern const char *const what_if_outcome_names[]; // "moves" "no-room" "later" "stops" "stays" NULL

struct what_if_item {
	const struct allocation *allocation; // of the view
	enum what_if_outcome outcome;
	bool finishes; // may run until the deadline; the outcome is what happens then
	const struct node *to;
	double score;
	struct uuid replacement; // what it would be there; zero: it does not move
};
// An allocation of another node that would be stopped to make room.
struct what_if_preempted {
	const struct allocation *allocation;
	struct uuid by; // the replacement of an item, or another new allocation
};
// Why instances of a job's group fit nowhere.
struct what_if_failure {
	const struct job *job;
	struct array groups; // failed_group
};
struct what_if {
	struct array items;     // what_if_item, jobs of high priority first
	struct array failures;  // what_if_failure
	struct array preempted; // what_if_preempted
};

// The view must stay open until what_if_release.
void what_if(const struct scheduler_view *, const struct node *, enum what_if_kind, struct prng *,
	int64_t now_ns, struct what_if *out);
void what_if_release(struct what_if *);
