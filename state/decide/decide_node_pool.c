// Node pools that operators describe or take away.
#include "state/base/check.h"
#include "state/decide/command_kinds.h"
#include "state/decide/decide.h"
#include "state/records/nodes/node_pool.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"

enum command_outcome decide_node_pool(struct decider *d, struct command *command)
{
	struct command_node_pool *c = &command->node_pool;
	enum command_outcome outcome = decider_store(d, STATE_NODE_POOLS, c->pool);

	if (outcome == OUTCOME_DONE)
		c->pool = NULL;
	return outcome;
}

static bool has_jobs(const struct state *state, struct text pool)
{
	const struct job_cell *cell;
	uint64_t cursor = 0;

	while ((cell = sequence_next(&state->tables[STATE_JOBS].order, &cursor))) {
		const struct job_keep *keep = job_cell_keep(cell);
		if (keep && keep->status != JOB_DEAD &&
			text_equal(text_of(keep->versions[0]->node_pool), pool))
			return true;
	}
	return false;
}

// A class outlives its nodes a little, until no reader can see them.
static bool has_class(const struct class_table *classes, struct text pool)
{
	for (uint32_t i = 0; i < classes->limit; i++)
		if (classes->by_id[i] &&
			text_equal(text_of(classes->by_id[i]->node_class.pool), pool))
			return true;
	return false;
}

static bool has_nodes(const struct state *state, struct text pool)
{
	if (!has_class(&state->classes, pool))
		return false;
	for (uint32_t slot = 0; slot < state_node_slots(state); slot++) {
		const struct node *node = state->cells[slot].working;
		if (node && !node->record.deleted &&
			text_equal(text_of(node->node_class->pool), pool))
			return true;
	}
	return false;
}

enum command_outcome decide_node_pool_delete(struct decider *d, struct command *command)
{
	struct command_node_pool_delete *c = &command->node_pool_delete;

	CHECK(c->name.data);
	c->has_jobs = has_jobs(d->state, c->name);
	c->has_nodes = has_nodes(d->state, c->name);
	if (c->has_jobs || c->has_nodes)
		return OUTCOME_CONFLICT;
	if (node_pool_is_built_in(c->name))
		return OUTCOME_BAD_DESCRIPTION;
	if (!cell_is_there(table_find(d->state, STATE_NODE_POOLS, &c->name)))
		return OUTCOME_UNKNOWN_POOL;
	decider_delete(d, STATE_NODE_POOLS, c->name);
	return OUTCOME_DONE;
}
