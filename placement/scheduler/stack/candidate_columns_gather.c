// Gathers the columns from the view.
#include "placement/scheduler/common/growing.h"
#include "placement/scheduler/node/checks.h"
#include "placement/scheduler/node/neighbours.h"
#include "placement/scheduler/node/rank.h"
#include "placement/scheduler/node/stack_available.h"
#include "placement/scheduler/stack/candidate_columns.h"
#include "state/base/check.h"
#include "state/records/shared_strings.h"
#include <stdlib.h>
#include <string.h>

// Records are scattered in memory, so this many are prefetched before the first is read.
#define AHEAD 32u

struct gathering {
	struct candidate_columns *c;
	struct gathered_node *rows; // by slot
	uint32_t count, room;
	struct availability available;
};

static void look_at(struct gathering *g, const struct node *n)
{
	struct candidate_columns *c = g->c;
	if (!node_is_usable(n) || !stack_targets_node(c->s, n))
		return;
	c->candidates++;
	availability_add(&g->available, n);
	const char *refusal = stack_check_static(c->s, c->g, n, c->name_index);
	const char *class_name = n->node_class->class_name;
	if (refusal) {
		refusal_counts_add(&c->first, refusal, class_name, STACK_FILTERED, 1);
		// Another look may find the class in the memo.
		refusal_counts_add(&c->later, stack_check_static(c->s, c->g, n, c->name_index),
			class_name, STACK_FILTERED, 1);
		return;
	}
	GROW(g->rows, g->count, g->room);
	g->rows[g->count++] = (struct gathered_node){n, n->slot, n->node_class->id,
		node_capacity(n), proposal_used(&c->s->proposal, n->slot)};
}

static void look_at_all(struct gathering *g)
{
	availability_begin(&g->available, g->c->s);
	const struct scheduler_view *view = &g->c->s->view;
	const struct node *nodes[AHEAD];
	for (uint32_t from = 0; from < g->c->slots; from += AHEAD) {
		uint32_t count = g->c->slots - from < AHEAD ? g->c->slots - from : AHEAD;
		for (uint32_t i = 0; i < count; i++) {
			nodes[i] = view->node_at(view->context, from + i);
			if (!nodes[i])
				continue;
			__builtin_prefetch(&nodes[i]->slot);
			__builtin_prefetch(&nodes[i]->drain);
		}
		for (uint32_t i = 0; i < count; i++)
			if (nodes[i])
				__builtin_prefetch(nodes[i]->node_class);
		for (uint32_t i = 0; i < count; i++)
			if (nodes[i])
				look_at(g, nodes[i]);
	}
	availability_end(&g->available);
	CHECK(g->count <= g->room);
}

static uint64_t hash_values(const struct candidate_columns *c, const struct node *n)
{
	char id[UUID_TEXT_BYTES];
	uint64_t hash = 0;
	for (uint32_t i = 0; i < c->property_count; i++) {
		const char *value = property_set_value(c->properties[i], n, id);
		hash = hash_bytes(
			hash + !value, value ? value : "", value ? (uint32_t)strlen(value) : 0);
	}
	return hash;
}

static bool same_values(
	const struct candidate_columns *c, const struct node *a, const struct node *b)
{
	char id_a[UUID_TEXT_BYTES], id_b[UUID_TEXT_BYTES];
	for (uint32_t i = 0; i < c->property_count; i++) {
		const char *p = property_set_value(c->properties[i], a, id_a);
		const char *q = property_set_value(c->properties[i], b, id_b);
		if (!p != !q || (p && strcmp(p, q) != 0))
			return false;
	}
	return true;
}

struct bin_search {
	struct candidate_columns *c;
	uint32_t *table; // by hash of the values: bin + 1
	uint32_t mask, bin_room;
	uint32_t *of_class; // by class number: bin + 1; NULL: nodes of a class may differ
};

static uint32_t find_bin(struct bin_search *b, const struct node *n)
{
	struct candidate_columns *c = b->c;
	uint32_t at = (uint32_t)hash_values(c, n) & b->mask;
	while (b->table[at] && !same_values(c, c->bins[b->table[at] - 1].node, n))
		at = (at + 1) & b->mask;
	if (!b->table[at]) {
		ARENA_GROW(c->memory, c->bins, c->bin_count, b->bin_room);
		c->bins[c->bin_count++] = (struct column_bin){.node = n};
		b->table[at] = c->bin_count;
	}
	CHECK(b->table[at] <= c->bin_count);
	return b->table[at] - 1;
}

static uint32_t bin_of_node(struct bin_search *b, const struct gathered_node *n)
{
	if (!b->of_class)
		return find_bin(b, n->node);
	uint32_t *known = &b->of_class[n->class_id];
	if (*known == 0)
		*known = find_bin(b, n->node) + 1;
	return *known - 1;
}

static bool are_of_class(const struct candidate_columns *c)
{
	for (uint32_t i = 0; i < c->property_count; i++)
		if (node_property_is_node_unique(c->properties[i]->property))
			return false;
	return true;
}

static void find_bins(struct candidate_columns *c, const struct gathering *g, uint32_t *bin_of)
{
	struct bin_search b = {.c = c, .mask = 15};
	while (b.mask < 2 * (uint64_t)g->count)
		b.mask = b.mask * 2 + 1;
	b.table = memory_take_array((size_t)b.mask + 1, sizeof *b.table);
	if (are_of_class(c))
		b.of_class =
			memory_take_array(class_memo_limit(&c->s->classes) + 1, sizeof *b.of_class);
	for (uint32_t i = 0; i < g->count; i++) {
		bin_of[i] = bin_of_node(&b, &g->rows[i]);
		c->bins[bin_of[i]].rows++;
	}
	free(b.table);
	free(b.of_class);
	CHECK(c->bin_count <= g->count);
}

static void one_bin(struct candidate_columns *c, const struct gathering *g)
{
	CHECK(c->bin_count == 0);
	c->bins = arena_take(c->memory, sizeof *c->bins);
	c->bin_count = g->count > 0;
	if (g->count > 0)
		*c->bins = (struct column_bin){.node = g->rows[0].node, .rows = g->count};
}

// Sorts the rows by bin.
static struct gathered_node *sort_rows(
	struct candidate_columns *c, const struct gathering *g, const uint32_t *bin_of)
{
	struct gathered_node *sorted = memory_take_array(g->count + 1, sizeof *sorted);
	uint32_t *next = memory_take_array(c->bin_count + 1, sizeof *next);
	for (uint32_t i = 1; i < c->bin_count; i++)
		next[i] = next[i - 1] + c->bins[i - 1].rows;
	for (uint32_t i = 0; i < g->count; i++) {
		uint32_t row = next[bin_of[i]]++;
		sorted[row] = g->rows[i];
		c->bin_of[row] = bin_of[i];
	}
	free(next);
	return sorted;
}

static void divide_into_bins(struct candidate_columns *c, struct gathering *g)
{
	CHECK(c->bin_count == 0);
	if (!c->property_count) {
		one_bin(c, g);
		return;
	}
	uint32_t *bin_of = memory_take_array(g->count + 1, sizeof *bin_of);
	find_bins(c, g, bin_of);
	struct gathered_node *sorted = sort_rows(c, g, bin_of);
	free(g->rows);
	free(bin_of);
	g->rows = sorted;
}

static void divide_into_blocks(struct candidate_columns *c)
{
	uint32_t row = 0, room = 0;
	for (uint32_t bin = 0; bin < c->bin_count; bin++) {
		c->bins[bin].first_row = row;
		c->bins[bin].first_block = c->block_count;
		for (uint32_t end = row + c->bins[bin].rows; row < end;) {
			uint32_t to = end - row < BLOCK_ROWS ? end : row + BLOCK_ROWS;
			ARENA_GROW(c->memory, c->blocks, c->block_count, room);
			c->blocks[c->block_count] =
				(struct column_block){.first = row, .end = to, .bin = bin};
			for (; row < to; row++)
				c->block_of[row] = c->block_count;
			c->block_count++;
		}
		c->bins[bin].blocks = c->block_count - c->bins[bin].first_block;
	}
	CHECK(row == c->row_count);
}

static void mark_neighbours(struct candidate_columns *c)
{
	CHECK(c->slots >= c->s->proposal.slots);
	const struct proposal *p = &c->s->proposal;
	const struct neighbour_counts *near = c->s->near[c->g->number];
	for (uint32_t i = 0; i < near->count; i++) {
		uint32_t row = candidate_columns_row_of(c, near->items[i].slot);
		if (row != ROW_NONE)
			c->has_neighbours[row] = true;
	}
	for (uint32_t i = 0; i < p->touched_count; i++) {
		uint32_t row = candidate_columns_row_of(c, p->touched[i].slot);
		if (row != ROW_NONE)
			c->has_neighbours[row] = true;
	}
}

struct known_score {
	double score;
	bool known;
};

// The nodes of a class have one affinity score, unless an affinity looks at single nodes.
static void find_affinities(struct candidate_columns *c, const struct gathered_node *nodes)
{
	CHECK(c->affinities);
	struct known_score *of_class =
		memory_take_array(class_memo_limit(&c->s->classes) + 1, sizeof *of_class);
	for (uint32_t row = 0; row < c->row_count; row++) {
		struct known_score *of = &of_class[nodes[row].class_id];
		if (!of->known || c->g->affinity_unique)
			*of = (struct known_score){affinity_score(c->g, c->nodes[row]), true};
		c->affinities[row] = of->score;
	}
	free(of_class);
}

static void gather_all(struct candidate_columns *c)
{
	struct gathering g = {.c = c};
	g.room = c->slots + 1;
	g.rows = memory_resize(NULL, (size_t)g.room * sizeof *g.rows);
	c->s->gathered++;
	candidate_columns_remember_classes(c->s);
	look_at_all(&g);
	candidate_columns_make_room(c, g.count + 1); // for one even without rows
	c->row_count = g.count;
	divide_into_bins(c, &g);
	divide_into_blocks(c);
	for (uint32_t row = 0; row < c->row_count; row++) {
		c->nodes[row] = g.rows[row].node;
		c->slot_of[row] = g.rows[row].slot;
		slot_map_put(&c->row_of, g.rows[row].slot, row + 1);
	}
	candidate_columns_know_values(c);
	candidate_columns_tree_create(c, c->block_count);
	mark_neighbours(c);
	if (c->affinities)
		find_affinities(c, g.rows);
	candidate_columns_fill(c, g.rows);
	free(g.rows);
	CHECK(c->row_count <= c->candidates);
}

struct candidate_columns *candidate_columns_create(
	struct stack *s, struct group_rules *rules, uint32_t name_index, bool evict)
{
	CHECK(rules->job == s->job);
	struct arena own = {0};
	struct candidate_columns *c =
		arena_take(rules->needs.volumes_per_alloc ? &own : &s->of_job, sizeof *c);
	c->own = own;
	c->memory = rules->needs.volumes_per_alloc ? &c->own : &s->of_job;
	c->s = s;
	c->g = rules;
	c->name_index = rules->needs.volumes_per_alloc ? name_index : 0;
	c->slots = s->view.slots(s->view.context);
	slot_map_begin(&c->row_of, c->slots, c->memory);
	c->first.arena = c->later.arena = c->refused.arena = c->memory;
	candidate_columns_find_properties(c);
	if (!s->near[rules->number])
		s->near[rules->number] = neighbour_counts_create(s, rules);
	if (evict)
		candidate_columns_open_evictions(c);
	if (!candidate_columns_open_sparse(c))
		gather_all(c);
	c->seen = s->changed_count;
	return c;
}

void candidate_columns_destroy(struct candidate_columns *c)
{
	if (!c)
		return;
	struct arena own = c->own;
	free(c->cache);
	free(c->many_best);
	candidate_columns_close_evictions(c);
	candidate_columns_close_sparse(c);
	candidate_columns_release_properties(c);
	arena_release(&own); // and with it the columns
}
