// The start and the end of a node's drain (docs/spec/states.md). The drainer moves the node's allocations; schedulers
// evaluate the node only when it is eligible again.
#include "state/apply/apply.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/tables/jobs/job_reevaluations.h"
#include "state/tables/nodes/node_cell.h"
#include "state/tables/nodes/node_history.h"
#include "state/tables/nodes/node_record.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"

int node_drain_check(const struct state *state, const void *body)
{
	const struct entry_node_drain *e = body;
	const struct node *n = node_working(state, e->slot);

	if (!n || n->generation != e->generation || e->end > DRAIN_DEADLINE_REACHED ||
		e->deadline_ns > DRAIN_DEADLINE_MAX_NS)
		return -ERROR_CORRUPT;
	return e->end == DRAIN_GOES_ON || n->drain ? 0 : -ERROR_CORRUPT;
}

static struct drain_strategy strategy_of(
	const struct entry_node_drain *e, const struct drain_strategy *before, int64_t time_ns)
{
	return (struct drain_strategy){
		.deadline_ns = e->deadline_ns,
		.force_deadline_ns = e->deadline_ns > 0 ? time_ns + e->deadline_ns : 0,
		.started_at_ns = before ? before->started_at_ns : time_ns,
		.ignore_system_jobs = e->ignore_system_jobs,
	};
}

static const uint8_t end_statuses[] = {
	[DRAIN_GOES_ON] = LAST_DRAIN_DRAINING,
	[DRAIN_CANCELED] = LAST_DRAIN_CANCELED,
	[DRAIN_COMPLETE] = LAST_DRAIN_COMPLETE,
	[DRAIN_DEADLINE_REACHED] = LAST_DRAIN_COMPLETE,
};

static enum node_message message_of(uint8_t end, const struct drain_strategy *before)
{
	CHECK(end <= DRAIN_DEADLINE_REACHED);
	switch (end) {
	case DRAIN_CANCELED: return NODE_DRAIN_DISABLED;
	case DRAIN_COMPLETE: return NODE_DRAIN_COMPLETE;
	case DRAIN_DEADLINE_REACHED: return NODE_DRAIN_DEADLINE;
	default: return before ? NODE_DRAIN_UPDATED : NODE_DRAIN_SET;
	}
}

// The metadata of a drain stays until other metadata replaces it.
static struct last_drain last_of(
	const struct entry_node_drain *e, const struct node *before, int64_t time_ns)
{
	const struct last_drain *known = before->drain ? node_last_drain(before) : NULL;
	bool is_kept = known && e->meta.count == 0;

	return (struct last_drain){
		.started_at_ns = known ? known->started_at_ns : time_ns,
		.updated_at_ns = time_ns,
		.status = end_statuses[e->end],
		.meta_count = is_kept ? known->meta_count : e->meta.count,
		.meta = is_kept ? known->meta : e->meta.items,
	};
}

void node_drain_apply(struct state *state, void *body, int64_t time_ns)
{
	struct entry_node_drain *e = body;
	struct node_cell *cell = &state->cells[e->slot];
	const struct node *before = cell->working;
	struct drain_strategy drain = strategy_of(e, before->drain, time_ns);
	struct last_drain last = last_of(e, before, time_ns);
	struct node_history history = node_history_of(before);

	CHECK(before->generation == e->generation && (e->end == DRAIN_GOES_ON || before->drain));

	node_history_add(&history, message_of(e->end, before->drain), time_ns, state->index);
	history.drain = e->end == DRAIN_GOES_ON ? &drain : NULL;
	history.last_drain = &last;
	state_count_node(state, before, -1);
	struct node *n = node_revise_with_history(state, cell, state->index, &history);
	if (e->end == DRAIN_GOES_ON)
		n->eligibility = NODE_INELIGIBLE;
	else if (e->mark_eligible)
		n->eligibility = NODE_ELIGIBLE;
	state_count_node(state, n, 1);
	CHECK((n->drain != NULL) == (e->end == DRAIN_GOES_ON) && n->was_drained);
	CHECK(n->eligibility == NODE_INELIGIBLE || !n->drain);
	if (n->eligibility == NODE_ELIGIBLE)
		node_mark_jobs(state, cell);
	state_node_changed(state, e->slot);
}
