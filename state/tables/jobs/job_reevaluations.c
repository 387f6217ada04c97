#include "state/tables/jobs/job_reevaluations.h"
#include "state/base/check.h"
#include "state/records/job_traits.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/jobs/job_keep.h"
#include "state/tables/jobs/job_table.h"
#include "state/tables/jobs/mark_patience.h"
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

	if (mark->first_ns == 0) {
		mark->first_ns = state->time_ns;
		mark->trigger = (uint8_t)trigger;
		mark->type = (uint8_t)job->type;
		mark->priority = job->priority;
		job_cell_list_marked(state, cell, true);
	}
	mark->newest_ns = state->time_ns;
	if (node) {
		mark->node = node->id;
		mark->node_modify_index = node->record.modify_index;
	}
	CHECK(cell->is_marked && mark->first_ns <= mark->newest_ns);
}

bool job_targets_node(const struct job *job, const struct node *node)
{
	CHECK(node->node_class);
	const char *pool = job->node_pool ? job->node_pool : "default";

	if (strcmp(pool, "all") != 0 && strcmp(pool, node->node_class->pool) != 0)
		return false;
	for (uint32_t i = 0; i < job->datacenters.count; i++)
		if (glob_matches(
			    *ARRAY_AT(&job->datacenters, char *, i), node->node_class->datacenter))
			return true;
	return false;
}

void node_mark_jobs(struct state *state, const struct node_cell *node)
{
	struct job_cell *job_cell;
	struct alloc_cell *cell;

	CHECK(node->working);
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
	job_cell_list_marked(state, cell, false);
	CHECK(!cell->is_marked && cell->working->mark.first_ns == 0);
}

bool job_mark_is_due(const struct job_mark *mark, int64_t now_ns,
	const struct mark_patience *patience, int64_t *due_ns)
{
	CHECK(mark->first_ns != 0);
	int64_t quiet = mark->newest_ns + patience->quiet_ns,
		oldest = mark->first_ns + patience->oldest_ns;

	*due_ns = quiet < oldest ? quiet : oldest;
	return now_ns >= *due_ns || now_ns < mark->first_ns;
}
