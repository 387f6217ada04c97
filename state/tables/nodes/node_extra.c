#include "state/tables/nodes/node_extra.h"
#include "state/base/check.h"
#include "state/records/slab.h"
#include "state/tables/tables.h"

static const struct node_extra nothing;

struct node_extra *node_extra_make(struct state *state, struct node_cell *cell)
{
	if (cell->extra)
		return cell->extra;
	struct node_extra *extra = slab_take(sizeof *extra);

	__atomic_store_n(&cell->extra, extra, __ATOMIC_RELEASE);
	state->bytes_records += sizeof *extra;
	CHECK(node_extra_of(cell) == extra);
	return extra;
}

void node_extra_free(struct state *state, struct node_cell *cell)
{
	if (!cell->extra)
		return;
	CHECK(state->bytes_records >= sizeof *cell->extra);
	state->bytes_records -= sizeof *cell->extra;
	slab_give(cell->extra, sizeof *cell->extra);
	cell->extra = NULL;
}

const struct node_extra *node_extra_of(const struct node_cell *cell)
{
	const struct node_extra *extra = __atomic_load_n(&cell->extra, __ATOMIC_ACQUIRE);

	return extra ? extra : &nothing;
}

const struct uuid *node_cell_id(const struct node_cell *cell)
{
	static const struct uuid none;
	const struct node *n = cell->working ? cell->working : node_extra_of(cell)->gone;

	CHECK(!n || n->slot < NODES_MAX);
	return n ? &n->id : &none;
}
