// COMMAND_NODE_DRAIN (row B59).
#include "state/base/check.h"
#include "state/decide/command_kinds.h"
#include "state/decide/decide.h"
#include "state/tables/nodes/node_cell.h"
#include "state/tables/state.h"

// The node does not drain: the command can only make it eligible.
static enum command_outcome make_eligible(
	struct decider *d, struct command_node_drain *c, const struct node *n)
{
	if (c->end != DRAIN_CANCELED || !c->mark_eligible || n->eligibility == NODE_ELIGIBLE)
		return OUTCOME_DONE;
	struct entry e = {.kind = ENTRY_NODE_ELIGIBILITY,
		.node_eligibility = {n->slot, n->generation, NODE_ELIGIBLE}};
	CHECK(decider_commit(d, &e) == 0);
	return OUTCOME_DONE;
}

static enum command_outcome change(
	struct decider *d, struct command_node_drain *c, const struct node *n)
{
	struct entry e = {.kind = ENTRY_NODE_DRAIN,
		.node_drain = {.slot = n->slot,
			.generation = n->generation,
			.end = c->end,
			.ignore_system_jobs = c->ignore_system_jobs,
			.mark_eligible = c->end == DRAIN_CANCELED && c->mark_eligible,
			.deadline_ns = c->deadline_ns}};

	if (!drain_meta_take(&e.node_drain.meta, c->meta, c->meta_count))
		return OUTCOME_BAD_DESCRIPTION;
	CHECK(decider_commit(d, &e) == 0);
	return OUTCOME_DONE;
}

enum command_outcome decide_node_drain(struct decider *d, struct command *command)
{
	struct command_node_drain *c = command->node_drain;
	const struct node_cell *cell = node_cell_find(d->state, &c->node);
	enum command_outcome outcome;

	// Evaluations come from the marks of jobs.
	c->made = (struct eval_made){.index = d->state->index};
	if (!cell)
		return OUTCOME_UNKNOWN_NODE;
	const struct node *n = cell->working;
	if (c->end > DRAIN_DEADLINE_REACHED || c->deadline_ns > DRAIN_DEADLINE_MAX_NS)
		return OUTCOME_BAD_DESCRIPTION;
	if (c->end == DRAIN_GOES_ON && d->store_is_full)
		return OUTCOME_STORE_FULL;
	if (c->end != DRAIN_GOES_ON && !n->drain)
		outcome = make_eligible(d, c, n);
	else
		outcome = change(d, c, n);
	c->made.index = d->state->index;
	return outcome;
}
