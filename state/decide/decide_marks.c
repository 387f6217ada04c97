// Marks of jobs become evaluations when they are due (job_reevaluations.h).
#include "state/base/check.h"
#include "state/base/log.h"
#include "state/decide/decide.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/jobs/job_reevaluations.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"

// Marks that become evaluations in one batch. The others wait for the next batch, so that no command waits long.
#define MARKS_AT_ONCE 4096u

// The marks of nodes are walked this often while there are any, and no more often than takes a tenth of the time when
// they are many: a step of the walk takes some 100 ns.
#define MARKS_WALK_NS (50 * NS_PER_MS)
#define MARK_STEP_NS 1000

// Type and priority come from the mark: the job may be gone with all of its versions.
static struct evaluation *evaluation_of_mark(struct decider *d, const struct job_cell *cell)
{
	const struct job_mark *mark = &cell->working->mark;
	struct job like = {
		.namespace_name = cell->namespace_name,
		.id = cell->id,
		.priority = mark->priority,
		.type = mark->type,
	};
	struct evaluation *e = decider_evaluation(d, &like, mark->trigger);

	e->node_id = mark->node;
	e->node_modify_index = mark->node_modify_index;
	return e;
}

// A mark that finds no room waits: it is as durable as its evaluation would be.
static void say_that_marks_wait(const struct decider *d)
{
	log_warn("evaluations-wait", "jobs=%u evaluations=%u limit=%u action=\"%s\"",
		d->state->counts.jobs_marked, d->state->tables[STATE_EVALUATIONS].order.count,
		d->state->limits.evaluations,
		d->store_is_full ? "free disk space" : "raise limits.evaluations");
}

static bool evaluate_mark(struct decider *d, struct job_cell *cell, struct eval_made *made)
{
	bool is_urgent = cell->is_urgent;

	CHECK(cell->is_marked);
	if (d->store_is_full || !decider_evaluate(d, evaluation_of_mark(d, cell), made))
		return false;
	if (!is_urgent)
		cell->evaluated_ns = d->now_ns;
	return true;
}

// The evaluations of what is due on the list. False when one found no room.
static bool evaluate_due(
	struct decider *d, struct cds_list_head *list, struct eval_made *made, int64_t *earliest_ns)
{
	struct job_cell *cell, *next;
	int64_t due_ns;

	*earliest_ns = INT64_MAX;
	cds_list_for_each_entry_safe (cell, next, list, marked) {
		bool is_due = job_mark_is_due(d->state, cell, d->now_ns, d->beat_ns, &due_ns);
		if (is_due && made->count >= MARKS_AT_ONCE) {
			*earliest_ns = d->now_ns;
			return true;
		}
		if (is_due && !evaluate_mark(d, cell, made)) {
			*earliest_ns = d->now_ns + MARK_QUIET_NS;
			return false;
		}
		if (!is_due && due_ns < *earliest_ns)
			*earliest_ns = due_ns;
	}
	return true;
}

// When the marks of nodes are walked next. One that is added meanwhile may be due before all others.
static int64_t next_walk_ns(const struct decider *d, int64_t earliest_ns)
{
	int64_t walk_ns = (int64_t)d->state->counts.jobs_marked * MARK_STEP_NS,
		least_ns = d->now_ns + walk_ns,
		most_ns = d->now_ns + (walk_ns > MARKS_WALK_NS ? walk_ns : MARKS_WALK_NS);

	if (earliest_ns <= d->now_ns) // more of them than a batch takes
		return d->now_ns;
	if (earliest_ns < least_ns)
		return least_ns;
	return earliest_ns < most_ns ? earliest_ns : most_ns;
}

static bool is_too_early(int64_t now_ns, int64_t due_ns)
{
	return now_ns < due_ns && due_ns - now_ns <= NS_PER_MIN; // further off: the clock went back
}

void decider_marks(struct decider *d)
{
	struct eval_made made = {0};
	int64_t earliest_ns;
	bool has_room = true;

	if (!cds_list_empty(&d->state->marked_urgently) &&
		!is_too_early(d->now_ns, d->urgent_due_ns))
		has_room = evaluate_due(d, &d->state->marked_urgently, &made, &d->urgent_due_ns);
	if (cds_list_empty(&d->state->marked_urgently))
		d->urgent_due_ns = 0;
	if (cds_list_empty(&d->state->marked))
		d->marks_due_ns = 0;
	else if (has_room && !is_too_early(d->now_ns, d->marks_due_ns)) {
		has_room = evaluate_due(d, &d->state->marked, &made, &earliest_ns);
		d->marks_due_ns = next_walk_ns(d, earliest_ns);
	}
	if (!has_room)
		say_that_marks_wait(d);
}
