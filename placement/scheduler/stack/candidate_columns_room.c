// The memory of rows. Columns lie in one piece: a group has few rows most often, and to take and give back a piece for
// each column took longer than to fill them.
#include "placement/scheduler/stack/candidate_columns.h"
#include "state/base/check.h"
#include <string.h>

#define COLUMN_ALIGNMENT 16u

struct carving {
	char *memory; // NULL: only bytes are counted
	size_t bytes; // that columns have so far
	uint32_t rows, room;
};

// The next column, with what its rows have so far.
static void carve(struct carving *k, void *column, size_t bytes_each)
{
	char **at = column, *to = k->memory;
	size_t bytes = k->room * bytes_each, before = k->bytes;

	k->bytes += (bytes + COLUMN_ALIGNMENT - 1) / COLUMN_ALIGNMENT * COLUMN_ALIGNMENT;
	if (!to)
		return;
	to += before;
	if (k->rows > 0)
		memcpy(to, *at, k->rows * bytes_each);
	*at = to;
}

static void carve_scores(struct candidate_columns *c, struct carving *k)
{
	carve(k, &c->sums, sizeof *c->sums);
	carve(k, &c->fits, sizeof *c->fits);
	carve(k, &c->antis, sizeof *c->antis);
	carve(k, &c->recorded, sizeof *c->recorded);
	carve(k, &c->bounded, sizeof *c->bounded);
	if (c->g->affinity_count)
		carve(k, &c->affinities, sizeof *c->affinities);
	if (c->g->needs.devices.weights > 0)
		carve(k, &c->devices, sizeof *c->devices);
	if (c->g->snapshot)
		carve(k, &c->tiers, sizeof *c->tiers);
	if (!c->evictions)
		return;
	carve(k, &c->evictions->scores, sizeof *c->evictions->scores);
	carve(k, &c->evictions->rest_on, sizeof *c->evictions->rest_on);
	carve(k, &c->evictions->bounds, sizeof *c->evictions->bounds);
}

static void carve_refusals(struct candidate_columns *c, struct carving *k)
{
	carve(k, &c->refusals, sizeof *c->refusals);
	carve(k, &c->outcomes, sizeof *c->outcomes);
	carve(k, &c->shown, sizeof *c->shown);
	carve(k, &c->shown_outcomes, sizeof *c->shown_outcomes);
	if (!c->g->plain && !c->evictions)
		carve(k, &c->is_full, sizeof *c->is_full);
}

static void carve_places(struct candidate_columns *c, struct carving *k)
{
	carve(k, &c->nodes, sizeof *c->nodes);
	carve(k, &c->slot_of, sizeof *c->slot_of);
	carve(k, &c->has_neighbours, sizeof *c->has_neighbours);
	carve(k, &c->bin_of, sizeof *c->bin_of);
	carve(k, &c->block_of, sizeof *c->block_of);
	if (!c->fleet)
		return;
	carve(k, &c->finder_of, sizeof *c->finder_of);
	carve(k, &c->finder_epoch, sizeof *c->finder_epoch);
	if (!c->property_count)
		return;
	carve(k, &c->class_of, sizeof *c->class_of);
	carve(k, &c->next_of_class, sizeof *c->next_of_class);
}

static void carve_all(struct candidate_columns *c, struct carving *k)
{
	k->bytes = 0;
	carve_scores(c, k);
	carve_refusals(c, k);
	carve_places(c, k);
}

void candidate_columns_make_room(struct candidate_columns *c, uint32_t room)
{
	struct carving k = {.rows = c->row_count, .room = room};

	CHECK(room > c->row_room && c->row_room >= c->row_count);
	carve_all(c, &k);
	k.memory = arena_take(c->memory, k.bytes);
	carve_all(c, &k);
	c->row_room = room;
}
