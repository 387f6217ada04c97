// Metadata that operators set on nodes.
#include "state/base/check.h"
#include "state/decide/command_kinds.h"
#include "state/decide/decide.h"
#include "state/records/nodes/node_metadata.h"
#include "state/tables/nodes/node_cell.h"
#include "state/tables/nodes/node_metadata_table.h"
#include "state/tables/state.h"
#include "state/tables/table.h"

// Whether anything is different that was set or taken away. NULL: nothing was.
static bool metadata_differs(const struct node_metadata *before, const struct node_metadata *after)
{
	CHECK(after);
	return before ? !record_equal(&node_metadata_description, before, after)
		      : after->items.count > 0;
}

enum command_outcome decide_node_metadata(struct decider *d, struct command *command)
{
	const struct command_node_metadata *c = &command->node_metadata;
	const struct node_cell *node = node_cell_find(d->state, &c->node);

	if (!node)
		return OUTCOME_UNKNOWN_NODE;
	if (d->store_is_full)
		return OUTCOME_STORE_FULL;
	const struct cell *cell = node_metadata_cell(d->state, &c->node);
	const struct node_metadata *before = cell_is_there(cell) ? cell->working : NULL;
	struct node_metadata *after =
		node_metadata_change(before, node->working, c->changes, c->count);
	bool differs = metadata_differs(before, after);
	int error = differs ? decider_put(d, STATE_NODE_METADATA, after) : 0;
	if (error || !differs)
		record_free(&node_metadata_description, after);
	return outcome_of_error(error);
}
