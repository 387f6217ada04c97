#include "state/tables/jobs/job_reevaluations.h"
#include "state/base/check.h"
#include "state/records/job_traits.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/jobs/job_keep.h"
#include "state/tables/jobs/job_table.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include <urcu-qsbr.h>

void job_mark_add(struct state *state, struct job_cell *cell, const struct job *job,
	enum eval_trigger trigger, const struct node *node)
{
	if (job_is_direct(job))
		return;
	CHECK(trigger < EVAL_TRIGGERS && job->type < JOB_TYPES);
	struct job_mark *mark = &job_keep_revise(state, cell, state->index)->mark;
	bool is_new = mark->first_ns == 0;
	bool is_urgent = trigger != TRIGGER_NODE_UPDATE && !job_mark_is_urgent(mark);

	if (is_new || is_urgent) {
		mark->first_ns = state->time_ns;
		mark->trigger = (uint8_t)trigger;
	}
	if (is_new) {
		mark->type = (uint8_t)job->type;
		mark->priority = job->priority;
	}
	job_cell_list_marked(state, cell);
	mark->newest_ns = state->time_ns;
	if (mark->first_ns > mark->newest_ns) // the clock was set back, or is another member's
		mark->first_ns = mark->newest_ns;
	if (node) {
		mark->node = node->id;
		mark->node_modify_index = node->record.modify_index;
	}
	CHECK(cell->is_marked && mark->first_ns <= mark->newest_ns);
}

bool job_targets_node(const struct job *job, const struct node *node)
{
	CHECK(node->node_class);
	return job_takes_pool(job, node->node_class->pool) &&
	       job_takes_datacenter(job, node->node_class->datacenter);
}

static void note_node_change(struct state *state)
{
	int64_t pause_ns = state->time_ns - state->nodes_changed_ns;

	if (pause_ns >= MARK_OLDEST_NS || pause_ns < 0)
		state->nodes_stir_ns = state->time_ns;
	state->nodes_changed_ns = state->time_ns;
}

void node_mark_jobs(struct state *state, const struct node_cell *node)
{
	struct job_cell *job_cell;
	struct alloc_cell *cell;

	CHECK(node->working);
	note_node_change(state);
	cds_list_for_each_entry_rcu (cell, &node->allocations, on_node) {
		if (alloc_cell_is_there(cell))
			job_mark_add(state, cell->job_cell, cell->working->job, TRIGGER_NODE_UPDATE,
				node->working);
	}
	if (!node_is_usable(node->working))
		return;
	cds_list_for_each_entry (job_cell, &state->system, system) {
		const struct job *job = job_cell_keep(job_cell)->versions[0];
		if (job_targets_node(job, node->working))
			job_mark_add(state, job_cell, job, TRIGGER_NODE_UPDATE, node->working);
	}
}

void job_mark_clear(struct state *state, struct job_cell *cell)
{
	job_keep_revise(state, cell, state->index)->mark = (struct job_mark){0};
	job_cell_list_marked(state, cell);
	CHECK(!cell->is_marked && cell->working->mark.first_ns == 0);
}

// The end of the job's rest after an evaluation that nodes made necessary: when an interval of heartbeats is over, or
// once no node anywhere changed for a while.
static int64_t rest_end_ns(const struct state *state, const struct job_cell *cell, int64_t beat_ns)
{
	int64_t rested = cell->evaluated_ns + beat_ns + MARK_OLDEST_NS,
		calm = state->nodes_changed_ns + MARK_OLDEST_NS;

	if (beat_ns == 0 || cell->evaluated_ns < state->nodes_stir_ns ||
		cell->evaluated_ns > cell->working->mark.newest_ns)
		return 0;
	return rested < calm ? rested : calm;
}

bool job_mark_is_due(const struct state *state, const struct job_cell *cell, int64_t now_ns,
	int64_t beat_ns, int64_t *due_ns)
{
	const struct job_mark *mark = &cell->working->mark;
	int64_t quiet = mark->newest_ns + MARK_QUIET_NS, oldest = mark->first_ns + MARK_OLDEST_NS;
	int64_t rest_end = rest_end_ns(state, cell, beat_ns);

	CHECK(mark->first_ns != 0 && beat_ns >= 0);
	*due_ns = quiet < oldest ? quiet : oldest;
	if (*due_ns < rest_end)
		*due_ns = rest_end;
	if (job_mark_is_urgent(mark))
		*due_ns = mark->first_ns + MARK_REPORT_NS;
	return now_ns >= *due_ns || now_ns < mark->first_ns;
}
