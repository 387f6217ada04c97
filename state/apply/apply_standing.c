// The standing of nodes (node_standing.h): in their records, in the counts, and in the groups by snapshot.
#include "state/apply/apply.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/tables/jobs/job_reevaluations.h"
#include "state/tables/nodes/node_cell.h"
#include "state/tables/nodes/node_groups.h"
#include "state/tables/nodes/node_record.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"

void node_set_snapshot(struct state *state, struct node *n, const char *snapshot)
{
	const char *former = n->snapshot;

	n->snapshot = *snapshot ? strings_share(&state->strings, text_of(snapshot)) : "";
	if (*former)
		strings_release(&state->strings, former);
}

bool node_stands(struct state *state, struct node *n, const struct standing *l)
{
	struct node_groups *groups = state->node_groups;
	enum node_standing before = standing_of(&n->standing);
	enum node_standing after = standing_of(l);

	n->standing = *l;
	if (after == NODE_FORGOTTEN) {
		node_groups_leave(groups, n->slot);
		node_set_snapshot(state, n, "");
	} else if (!node_groups_has(groups, n->slot)) {
		node_groups_join(
			groups, n->slot, text_of(n->snapshot), state->cells[n->slot].living > 0);
	}
	CHECK(node_groups_has(groups, n->slot) == (after != NODE_FORGOTTEN));
	return before != NODE_HEALTHY && after == NODE_HEALTHY;
}

bool node_announced(struct state *state, struct node *n, bool readiness)
{
	struct standing l = n->standing;

	standing_added(&l, readiness);
	return node_stands(state, n, &l);
}

void node_went_away(struct state *state, struct node *n, int64_t time_ns)
{
	struct standing l = n->standing;

	standing_removed(&l, time_ns);
	node_stands(state, n, &l);
}

void node_task_scheduled(struct state *state, uint32_t slot, const struct task_group *task)
{
	struct node_cell *cell = &state->cells[slot];
	const char *snapshot = task->snapshot ? task->snapshot : "";

	CHECK(slot < state_node_slots(state) && cell->working);
	// A task without a snapshot leaves what was there before it (row E22).
	if (!*snapshot || !node_groups_has(state->node_groups, slot))
		return;
	node_groups_schedule(state->node_groups, slot, text_of(snapshot));
	const char *group = node_groups_snapshot(state->node_groups, slot);
	if (strcmp(cell->working->snapshot, group) != 0)
		node_set_snapshot(state, node_revise(state, cell, state->index), group);
}

void node_task_ended(
	struct state *state, struct node_cell *cell, const struct task_end *end, int64_t time_ns)
{
	CHECK(cell->working && !cell->working->record.deleted);
	struct standing l = cell->working->standing;
	bool changes = false;

	// The report only says that the node is not ready now; its agent decides whether probing goes on.
	if (end->unready)
		changes = standing_probed(&l, false, 1);
	changes |= standing_completed(&l, end->flaky, end->readiness, time_ns);
	if (!changes)
		return;
	struct node *n = node_revise(state, cell, state->index);
	state_count_node(state, n, -1);
	node_stands(state, n, &l);
	state_count_node(state, n, 1);
}

int node_standing_check(const struct state *state, const void *body)
{
	const struct entry_node_standing *e = body;

	for (uint32_t i = 0; i < e->count; i++) {
		const struct standing_change *item = &e->items[i];
		const struct node *n = node_working(state, item->slot);
		// A forgotten node returns only by its own message, and joins no group.
		if (!n || n->generation != item->generation || n->standing.forgotten ||
			(item->cause == STANDING_REJOINED && item->standing.forgotten) ||
			(i > 0 && item->slot <= e->items[i - 1].slot))
			return -ERROR_CORRUPT;
	}
	return 0;
}

static void apply_change(struct state *state, const struct standing_change *item)
{
	struct node_cell *cell = &state->cells[item->slot];
	CHECK(item->slot < state_node_slots(state) &&
		cell->working->generation == item->generation);
	CHECK(item->cause < STANDING_CAUSES);
	struct node *n = node_revise(state, cell, state->index);

	state_count_node(state, n, -1);
	bool is_healthy = node_stands(state, n, &item->standing);
	state_count_node(state, n, 1);
	if (item->cause == STANDING_REJOINED) {
		node_groups_rejoin(state->node_groups, item->slot);
		node_set_snapshot(state, n, "");
	}
	if (is_healthy)
		node_mark_jobs(state, cell);
	state_node_changed(state, item->slot);
}

void node_standing_apply(struct state *state, void *body, int64_t time_ns)
{
	struct entry_node_standing *e = body;

	for (uint32_t i = 0; i < e->count; i++)
		apply_change(state, &e->items[i]);
}
