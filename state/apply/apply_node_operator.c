#include "state/apply/apply.h"
#include "state/apply/apply_node_metadata.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/records/job_traits.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/jobs/alloc_table.h"
#include "state/tables/jobs/job_reevaluations.h"
#include "state/tables/jobs/job_table.h"
#include "state/tables/nodes/node_cell.h"
#include "state/tables/nodes/node_groups.h"
#include "state/tables/nodes/node_record.h"
#include "state/tables/nodes/node_slots.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include <urcu-qsbr.h>

static const struct node *node_of(const struct state *state, uint32_t slot, uint32_t generation)
{
	const struct node *n = node_working(state, slot);
	return n && n->generation == generation ? n : NULL;
}

int node_eligibility_check(const struct state *state, const void *body)
{
	const struct entry_node_eligibility *e = body;
	const struct node *n = node_of(state, e->slot, e->generation);

	bool eligible = e->eligibility == NODE_ELIGIBLE;

	return n && e->eligibility <= NODE_INELIGIBLE_NOT_ADMITTED &&
			       eligible != (n->eligibility == NODE_ELIGIBLE) &&
			       !(n->drain && eligible)
		       ? 0
		       : -ERROR_CORRUPT;
}

static const uint8_t eligibility_events[] = {[NODE_ELIGIBLE] = NODE_MARKED_ELIGIBLE,
	[NODE_INELIGIBLE] = NODE_MARKED_INELIGIBLE,
	[NODE_INELIGIBLE_REJECTING] = NODE_REJECTED_PLANS,
	[NODE_INELIGIBLE_NOT_ADMITTED] = NODE_NOT_ADMITTED};

void node_eligibility_apply(struct state *state, void *body, int64_t time_ns)
{
	const struct entry_node_eligibility *e = body;
	struct node_cell *cell = &state->cells[e->slot];
	bool eligible = e->eligibility == NODE_ELIGIBLE;

	CHECK(node_of(state, e->slot, e->generation));
	CHECK(e->eligibility < sizeof eligibility_events);
	struct node *n = node_revise_with_event(
		state, cell, state->index, eligibility_events[e->eligibility], time_ns);

	state_count_node(state, n, -1);
	n->eligibility = eligible ? NODE_ELIGIBLE : NODE_INELIGIBLE;
	state_count_node(state, n, 1);
	CHECK(!(n->drain && eligible));
	if (eligible)
		node_mark_jobs(state, cell);
	state_node_changed(state, e->slot);
}

int node_purge_check(const struct state *state, const void *body)
{
	const struct entry_node_purge *e = body;

	return node_of(state, e->slot, e->generation) ? 0 : -ERROR_CORRUPT;
}

static void leave_allocations(struct state *state, struct node_cell *node, int64_t time_ns)
{
	struct alloc_cell *cell, *next;

	cds_list_for_each_entry_safe (cell, next, &node->allocations, on_node) {
		if (alloc_cell_is_living(cell) && job_is_direct(cell->working->job)) {
			alloc_cell_end(state, cell, END_NODE_DOWN, time_ns, ++state->index);
			job_cell_update_status(state, cell->job_cell, state->index);
		}
		if (alloc_cell_is_there(cell))
			alloc_cell_leave_node(state, cell, ++state->index);
		else
			alloc_cell_leave_grave(state, cell);
	}
}

void node_purge_apply(struct state *state, void *body, int64_t time_ns)
{
	const struct entry_node_purge *e = body;
	struct node_cell *cell = &state->cells[e->slot];
	uint64_t index = state->index;

	CHECK(node_of(state, e->slot, e->generation));
	node_mark_jobs(state, cell);
	leave_allocations(state, cell, time_ns);
	vm_worker_forget_node(state, &cell->working->id);
	node_metadata_purged(state, &cell->working->id);
	state_count_node(state, cell->working, -1);
	node_groups_leave(state->node_groups, e->slot);
	CHECK(cell->living == 0);
	node_cell_close(state, cell, index);
	CHECK(!node_of(state, e->slot, e->generation));
	state_node_changed(state, e->slot);
}
