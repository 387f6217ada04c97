#include "state/apply/apply_node_metadata.h"
#include "state/apply/apply_record.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/records/nodes/node_describe.h"
#include "state/records/nodes/node_metadata.h"
#include "state/tables/jobs/job_reevaluations.h"
#include "state/tables/nodes/node_cell.h"
#include "state/tables/nodes/node_metadata_table.h"
#include "state/tables/nodes/node_record.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"
#include <stdlib.h>

// NULL: nothing was set of the node.
static const struct node_metadata *metadata_of(const struct state *state, const struct uuid *node)
{
	const struct cell *cell = node_metadata_cell(state, node);
	return cell_is_there(cell) ? cell->working : NULL;
}

// Whether all that the node says under what is set is kept, as it says it.
static bool keeps_what_is_said(const struct node_metadata *before,
	const struct node_metadata *after, const struct node *node)
{
	for (uint32_t i = 0; before && i < before->items.count; i++) {
		const struct node_metadatum *item =
			ARRAY_AT(&before->items, struct node_metadatum, i);
		if (item->is_said && !node_metadata_find(after, item->name))
			return false;
	}
	for (uint32_t i = 0; i < after->items.count; i++) {
		const char *name = ARRAY_AT(&after->items, struct node_metadatum, i)->name;
		const char *said = node_metadata_said(before, node, name);
		const char *kept = node_metadata_said(after, node, name);
		if (!said != !kept || (said && strcmp(said, kept) != 0))
			return false;
	}
	return true;
}

int node_metadata_put_check(const struct state *state, const struct entry_record_put *e)
{
	const struct node_metadata *after = e->record;
	struct uuid id;
	int error = table_check(state, STATE_NODE_METADATA, after);

	if (error)
		return error;
	CHECK(uuid_parse(after->node, &id));
	const struct node_cell *cell = node_cell_find(state, &id);
	return cell && keeps_what_is_said(metadata_of(state, &id), after, cell->working)
		       ? 0
		       : -ERROR_CORRUPT;
}

// The node's description as it is, without what was set of it.
static struct node_registration *describe_without(
	const struct node *n, const struct node_metadata *before, struct description_texts *texts)
{
	struct node_registration *d = memory_take(sizeof *d);

	node_describe_whole(n, d, texts);
	CHECK(uuid_equal(&d->node, &n->id));
	if (before)
		node_metadata_lift(before, d);
	return d;
}

void node_metadata_put(struct state *state, struct entry_record_put *e)
{
	const struct node_metadata *after = e->record;
	struct description_texts texts = {0};
	struct uuid id;

	CHECK(uuid_parse(after->node, &id));
	struct node_cell *cell = node_cell_find(state, &id);
	struct node_registration *d =
		describe_without(cell->working, metadata_of(state, &id), &texts);
	node_metadata_lay(after, d);
	node_revise_with_description(state, cell, state->index, d);
	free(d);
	description_texts_free(&texts);
	CHECK(node_metadata_is_laid(after, cell->working));
	table_put(state, STATE_NODE_METADATA, e->record);
	node_mark_jobs(state, cell);
	state_node_changed(state, cell->working->slot);
}

bool node_metadata_registered(struct state *state, struct node_registration *d)
{
	const struct node_metadata *before = metadata_of(state, &d->node);

	if (!before)
		return false;
	struct node_metadata *after = node_metadata_follow(before, d);
	CHECK(after->items.count <= before->items.count);
	struct cell *cell = table_put(state, STATE_NODE_METADATA, after);
	node_metadata_lay(cell->working, d);
	return true;
}

void node_metadata_purged(struct state *state, const struct uuid *node)
{
	struct cell *cell = node_metadata_cell(state, node);

	if (cell_is_there(cell))
		cell_delete(state, cell, state->index);
	CHECK(!metadata_of(state, node));
}
