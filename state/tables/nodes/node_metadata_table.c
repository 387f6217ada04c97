// A node that was purged may come back under its id, which a kind with the key of a UUID would not allow: so the key is
// the id as text.
#include "state/tables/nodes/node_metadata_table.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/limits.h"
#include "state/records/nodes/node_metadata.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"

static bool is_node_metadata_sound(const void *record)
{
	CHECK(record);
	return node_metadata_is_fit(record) && record_is_sound(&node_metadata_description, record);
}

// Nodes come before their metadata, and with it.
static int check_loaded_node_metadata(const struct state *state, const void *record)
{
	const struct node_metadata *m = record;
	struct uuid id;

	CHECK(uuid_parse(m->node, &id));
	const struct node *node = state_node_by_id(state, &id);
	return node && node_metadata_is_laid(m, node) ? 0 : -ERROR_CORRUPT;
}

const struct kind node_metadata_kind = {
	.name = "metadata of nodes",
	.key = KEY_NAME,
	.key_offset = offsetof(struct node_metadata, node),
	.cell_bytes = sizeof(struct cell),
	.fields = &node_metadata_description,
	.limit_offset = offsetof(struct state_limits, nodes),
	.limit_max = NODES_MAX,
	.is_quiet = true,
	.is_sound = is_node_metadata_sound,
	.check_loaded = check_loaded_node_metadata,
};

struct cell *node_metadata_cell(const struct state *state, const struct uuid *node)
{
	char id[UUID_TEXT_BYTES];
	struct text name = text_of(uuid_format(node, id));

	return table_find(state, STATE_NODE_METADATA, &name);
}

const struct node_metadata *state_node_metadata(const struct state *state, const struct uuid *node)
{
	CHECK(node);
	return cell_published(node_metadata_cell(state, node));
}
