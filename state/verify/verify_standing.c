// How nodes stand: records, groups by snapshot and counts say the same.
#include "state/tables/nodes/node_groups.h"
#include "state/tables/state.h"
#include "state/verify/verifier.h"

static void check_group(struct verifier *v, const struct node_cell *cell)
{
	const struct node_groups *groups = v->state->node_groups;
	const struct node *n = cell->working;
	bool is_forgotten = standing_of(&n->standing) == NODE_FORGOTTEN;

	expect(v, node_groups_has(groups, n->slot) == !is_forgotten,
		"slot %u: a group has it though it is forgotten, or none though it is not",
		n->slot);
	if (!node_groups_has(groups, n->slot)) {
		expect(v, *n->snapshot == 0, "slot %u: forgotten, but not its snapshot", n->slot);
		return;
	}
	v->grouped++;
	expect(v, strcmp(node_groups_snapshot(groups, n->slot), n->snapshot) == 0,
		"slot %u: in the group of another snapshot", n->slot);
	expect(v, node_groups_is_busy(groups, n->slot) == (cell->living > 0),
		"slot %u: idle in its group though it is busy, or the other way round", n->slot);
}

void verify_standing(struct verifier *v, const struct node_cell *cell)
{
	const struct standing *l = &cell->working->standing;
	enum node_standing standing = standing_of(l);
	bool is_suspended = standing == NODE_SUSPENDED;
	uint32_t slot = cell->working->slot;

	expect(v, standing_is_sound(l), "slot %u: no node can stand so", slot);
	check_group(v, cell);
	v->standing.nodes_standing[standing]++;
	v->standing.nodes_lost += is_suspended && l->lost_ns != 0;
	v->standing.nodes_flaky += is_suspended && l->flaky_ns != 0;
	v->standing.nodes_unready += is_suspended && l->readiness != READINESS_GIVEN;
	v->standing.nodes_running += cell->living > 0;
}

void verify_standings(struct verifier *v)
{
	const struct node_groups *groups = v->state->node_groups;
	const struct state_counts *kept = &v->state->counts, *found = &v->standing;
	uint32_t cursor = 0, group, members = 0;

	expect(v,
		memcmp(found->nodes_standing, kept->nodes_standing, sizeof kept->nodes_standing) ==
				0 &&
			found->nodes_lost == kept->nodes_lost &&
			found->nodes_flaky == kept->nodes_flaky &&
			found->nodes_unready == kept->nodes_unready,
		"counts of how nodes stand do not add up");
	expect(v, found->nodes_running == kept->nodes_running, "%u nodes run something, %u counted",
		found->nodes_running, kept->nodes_running);
	while ((group = node_groups_next(groups, &cursor)) != NODE_GROUP_NONE)
		members += node_group_size(groups, group, false) +
			   node_group_size(groups, group, true);
	expect(v, members == v->grouped, "%u nodes are in groups, %u should be", members,
		v->grouped);
}
