#include "state/tables/nodes/admit_table.h"
#include "state/base/check.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"

static bool is_rule_sound(const void *record)
{
	CHECK(record);
	return admit_rule_is_sound(record);
}

static bool is_refused_sound(const void *record)
{
	const struct refused_node *refused = record;

	CHECK(record);
	return !uuid_is_zero(&refused->id) && refused->claim > ADMIT &&
	       refused->newest_ns >= refused->first_ns &&
	       record_is_sound(&refused_node_description, record);
}

const struct kind admit_rule_kind = {
	.name = "rule of admission",
	.key = KEY_NAME,
	.key_offset = offsetof(struct admit_rule, pattern),
	.cell_bytes = sizeof(struct cell),
	.fields = &admit_rule_description,
	.limit_offset = offsetof(struct state_limits, admit_rules),
	.limit_max = ADMIT_RULES_MAX,
	.is_sound = is_rule_sound,
};

const struct kind refused_node_kind = {
	.name = "refused node",
	.key = KEY_UUID,
	.key_offset = offsetof(struct refused_node, id),
	.cell_bytes = sizeof(struct cell),
	.fields = &refused_node_description,
	.limit_offset = offsetof(struct state_limits, refused_nodes),
	.limit_max = REFUSED_NODES_MAX,
	.is_sound = is_refused_sound,
};

static const void *working_of(const struct cell *cell)
{
	CHECK(!cell || cell->table == STATE_ADMIT_RULES || cell->table == STATE_REFUSED_NODES);
	return cell_is_there(cell) ? cell->working : NULL;
}

const struct admit_rule *admit_rule_working(const struct state *state, struct text pattern)
{
	return working_of(table_find(state, STATE_ADMIT_RULES, &pattern));
}

const struct refused_node *refused_node_working(const struct state *state, const struct uuid *id)
{
	return working_of(table_find(state, STATE_REFUSED_NODES, id));
}
