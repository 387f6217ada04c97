// The rows of columns that have but few.
#include "placement/scheduler/node/fit.h"
#include "placement/scheduler/stack/candidate_columns.h"
#include "state/base/check.h"
#include <string.h>

// A group of few instances needs no more.
#define ROWS_FIRST 8u

static void make_room(struct candidate_columns *c)
{
	candidate_columns_make_room(c, c->row_room ? 2 * c->row_room : ROWS_FIRST);
	uint32_t blocks = c->row_room / c->block_rows;
	c->blocks = arena_widen(c->memory, c->blocks, c->block_count * sizeof *c->blocks,
		blocks * sizeof *c->blocks);
	candidate_columns_tree_create(c, blocks);
}

// All rows of the best blocks are compared for each instance, and few rows need no high tree.
#define FEW_BLOCK_ROWS 4u

// Rows of several bins come in any order, so that each is a block of its own; so is each with victims, because so many
// of the best are compared with what may come.
void candidate_columns_begin_rows(struct candidate_columns *c)
{
	c->block_rows = c->property_count || c->evictions ? 1 : FEW_BLOCK_ROWS;
	if (!c->property_count) {
		c->bins = arena_take(c->memory, sizeof *c->bins);
		c->bin_count = 1;
	}
	slot_map_begin(&c->class_at, c->set->class_count, c->memory);
	make_room(c);
}

struct column_class *candidate_columns_class(struct candidate_columns *c, uint32_t id)
{
	uint32_t at = slot_map_get(&c->class_at, id);
	if (at == 0) {
		ARENA_GROW(c->memory, c->classes, c->class_count, c->class_room);
		c->classes[c->class_count++] = (struct column_class){
			.id = id, .finder = c->set->classes[id].group, .first_row = ROW_NONE};
		at = c->class_count;
		slot_map_put(&c->class_at, id, at);
	}
	CHECK(c->classes[at - 1].id == id);
	return &c->classes[at - 1];
}

static void count_shortages(
	struct candidate_columns *c, const struct column_class *of, const char *name, int64_t by)
{
	const struct class_in_set *in = &c->set->classes[of->id];
	const uint32_t *nodes = c->ratings ? c->ratings->of_class[of->id] : in->short_of;
	for (uint32_t i = 0; i < (c->ratings ? NODE_SHORTAGES : FIT_SHORTAGES); i++)
		refusal_counts_add(&c->refused, shortage_reasons[i], name, STACK_EXHAUSTED,
			by * (nodes[i] - of->short_rows[i]));
}

uint32_t candidate_columns_short_without_rows(
	const struct candidate_columns *c, const struct column_class *of)
{
	const uint32_t *nodes =
		c->ratings ? c->ratings->of_class[of->id] : c->set->classes[of->id].short_of;
	uint32_t sum = 0;

	for (uint32_t i = 0; i < (c->ratings ? NODE_SHORTAGES : FIT_SHORTAGES) && !c->bounds; i++)
		sum += nodes[i] - of->short_rows[i];
	return sum;
}

// The same with victims.
static void count_bounded(
	struct candidate_columns *c, const struct column_class *of, const char *name, int64_t by)
{
	uint32_t refused[VICTIM_REASONS_MAX];
	memcpy(refused, c->bounds->refused_of_class[of->id], sizeof refused);
	for (uint32_t row = of->first_row; row != ROW_NONE; row = c->next_of_class[row]) {
		uint32_t reason = victim_bounds_reason(c->bounds, c->slot_of[row]);
		if (reason != VICTIM_REASON_NONE)
			refused[reason]--;
	}
	for (uint32_t i = 0; i < c->bounds->reason_count; i++)
		refusal_counts_add(&c->refused, c->bound_reasons[i], name, STACK_EXHAUSTED,
			by * (int64_t)refused[i]);
}

static void count_exhausted(
	struct candidate_columns *c, const struct column_class *of, const char *name, int64_t by)
{
	(c->bounds ? count_bounded : count_shortages)(c, of, name, by);
}

void candidate_columns_refuse_class(
	struct candidate_columns *c, struct column_class *of, const char *refusal)
{
	const struct class_in_set *in = &c->set->classes[of->id];
	const char *name = c->set->tallies.shorts[in->tally].class_name;
	int64_t nodes = class_in_set_nodes(in) - of->rows;

	CHECK(nodes >= 0);
	if (refusal == of->refusal)
		return;
	if (of->refusal)
		refusal_counts_add(&c->refused, of->refusal, name, STACK_FILTERED, -nodes);
	else
		count_exhausted(c, of, name, -1);
	if (refusal)
		refusal_counts_add(&c->refused, refusal, name, STACK_FILTERED, nodes);
	else
		count_exhausted(c, of, name, 1);
	of->refusal = refusal;
	c->has_reopened |= !refusal;
	for (uint32_t row = of->first_row; row != ROW_NONE; row = c->next_of_class[row])
		candidate_columns_show_row(c, row);
}

// Rows that are made for a whole value share blocks, as their classes move together, unless something is their nodes'
// own. In larger ones more rows are compared whenever a block is among the best.
#define SHARED_BLOCK_ROWS 16u

static bool shares_block(const struct candidate_columns *c, const struct column_class *of)
{
	if (!c->makes_classes || c->block_count == 0 || c->own_count > 0)
		return false;
	const struct column_block *last = &c->blocks[c->block_count - 1];
	uint32_t other = c->classes[c->class_of[last->first]].id;
	bool moves_along = c->set->classes[other].group == c->set->classes[of->id].group;
	for (uint32_t i = 0; i < c->property_count; i++)
		moves_along &=
			c->set->values[i].number_of[other] == c->set->values[i].number_of[of->id];
	return moves_along && last->end - last->first < SHARED_BLOCK_ROWS;
}

static uint32_t block_for_row(
	struct candidate_columns *c, uint32_t row, const struct column_class *of)
{
	bool shares = c->block_rows > 1 ? row % c->block_rows > 0 : shares_block(c, of);

	if (shares)
		return c->block_count - 1;
	struct column_block *block = &c->blocks[c->block_count];
	*block = (struct column_block){.first = row};
	for (uint32_t i = 0; i < ROW_SCORES_MAX; i++)
		block->best[i] = ROW_NONE;
	return c->block_count++;
}

// of: the row's class; NULL: classes are not noted.
static uint32_t add_row(struct candidate_columns *c, const struct node *n, uint32_t slot,
	const struct column_class *of)
{
	if (c->row_count == c->row_room)
		make_room(c);
	uint32_t row = c->row_count++, block = block_for_row(c, row, of);
	c->blocks[block].end = row + 1;
	c->nodes[row] = n;
	c->slot_of[row] = slot;
	c->block_of[row] = block;
	slot_map_put(&c->row_of, slot, row + 1);
	return row;
}

static void put_in_class(struct candidate_columns *c, uint32_t row, struct column_class *of)
{
	c->class_of[row] = (uint32_t)(of - c->classes);
	c->next_of_class[row] = of->first_row;
	of->first_row = row;
	c->bin_of[row] = of->finder;
	c->blocks[c->block_of[row]].bin = of->finder;
}

uint32_t candidate_columns_shortage(const struct candidate_columns *c, uint32_t slot)
{
	CHECK(!c->bounds);
	if (c->ratings)
		return c->ratings->shortages[slot];
	enum fit_shortage shortage =
		fit_shortage_of(fit_index_node(c->fleet->fit, slot), &c->g->ask);
	return shortage == FIT_SHORTAGES ? NODE_SHORTAGES : shortage;
}

// Why a node without a row is refused for what it has; NULL: it is not.
static const char *reason_without_row(const struct candidate_columns *c, uint32_t slot)
{
	if (c->bounds) {
		uint32_t reason = victim_bounds_reason(c->bounds, slot);
		return reason == VICTIM_REASON_NONE ? NULL : c->bound_reasons[reason];
	}
	uint32_t shortage = candidate_columns_shortage(c, slot);
	return shortage == NODE_SHORTAGES ? NULL : shortage_reasons[shortage];
}

// From now on the row itself says why the node is refused.
static void count_out(struct candidate_columns *c, uint32_t slot, struct column_class *of)
{
	const char *reason = reason_without_row(c, slot);
	const struct class_in_set *in = &c->set->classes[candidate_columns_class_number(c, slot)];
	const char *name = c->set->tallies.shorts[in->tally].class_name;

	if (of && of->refusal)
		refusal_counts_add(&c->refused, of->refusal, name, STACK_FILTERED, -1);
	else if (reason)
		refusal_counts_add(&c->refused, reason, name, STACK_EXHAUSTED, -1);
	if (!of)
		return;
	of->rows++;
	uint32_t shortage = c->bounds ? NODE_SHORTAGES : candidate_columns_shortage(c, slot);
	if (shortage != NODE_SHORTAGES)
		of->short_rows[shortage]++;
}

static double affinity_of(
	const struct candidate_columns *c, const struct class_in_set *in, uint32_t slot)
{
	if (!c->g->affinity_unique)
		return in->affinity;
	return c->bounds ? c->bounds->affinities[slot] : c->ratings->affinities[slot];
}

// Makes a row of a node that the index has among those in question. found: by the finder, counted from 1.
static uint32_t make_row(struct candidate_columns *c, const struct node *n, uint32_t slot,
	const struct fit_candidate *found, uint32_t finder)
{
	uint32_t number = candidate_columns_class_number(c, slot);
	const struct class_in_set *in = &c->set->classes[number];
	struct column_class *of = c->property_count ? candidate_columns_class(c, number) : NULL;
	uint32_t row = add_row(c, n, slot, of);

	CHECK(in->verdict == CLASS_TAKEN);
	if (c->g->needs.network) // else its own network speaks when it is looked at
		candidate_columns_remember_class(
			c, fit_index_node(c->fleet->fit, slot)->node_class);
	count_out(c, slot, of);
	c->finders[of ? of->finder : in->group].rows++;
	if (of)
		put_in_class(c, row, of);
	if (c->affinities)
		c->affinities[row] = affinity_of(c, in, slot);
	c->has_neighbours[row] = finder == FINDER_NONE;
	c->finder_of[row] = finder;
	c->finder_epoch[row] = finder ? c->finders[finder - 1].epoch : 0;
	if (c->own_count > 0 && of && finder == FINDER_NONE)
		candidate_columns_place_row(c, row);
	candidate_columns_enter(c, row, found);
	return row;
}

uint32_t candidate_columns_row_for(struct candidate_columns *c, uint32_t slot)
{
	uint32_t row = candidate_columns_row_of(c, slot);
	if (row != ROW_NONE || !c->fleet || slot >= c->slots ||
		slot >= fit_index_slots(c->fleet->fit))
		return row;
	const struct fit_node *f = fit_index_node(c->fleet->fit, slot);
	const struct node *n = view_node_in_no_order(&c->s->view, slot);
	if (!n || !fit_is_ready(f) || class_set_of(c->set, slot, f)->verdict != CLASS_TAKEN ||
		!class_set_passes(c->set, slot))
		return ROW_NONE;
	return make_row(c, n, slot, NULL, FINDER_NONE);
}

void candidate_columns_add_found(struct candidate_columns *c, const struct node *n,
	const struct fit_candidate *found, uint32_t finder)
{
	c->finders[finder].open++;
	(void)make_row(c, n, found->slot, found, finder + 1);
}

void candidate_columns_row_is_touched(struct candidate_columns *c, uint32_t row)
{
	CHECK(row < c->row_count);
	if (!c->fleet || c->finder_of[row] == FINDER_NONE)
		return;
	struct row_finder *finder = &c->finders[c->finder_of[row] - 1];
	if (finder->epoch == c->finder_epoch[row]) {
		CHECK(finder->open > 0);
		finder->open--;
	}
	c->finder_of[row] = FINDER_NONE;
}
