// Properties of which nodes of one class may differ, as their names. To nearly all nodes such a property is the same:
// their values are used by nobody. Only nodes with other values get rows, found by an index of the fleet that is kept
// by changes.
#include "placement/scheduler/node/rank.h"
#include "placement/scheduler/stack/candidate_columns.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/shared_strings.h"
#include <stdlib.h>
#include <string.h>

static uint32_t hash_of(const char *value)
{
	uint32_t hash = value ? (uint32_t)hash_bytes(0, value, (uint32_t)strlen(value))
			      : NODE_WITHOUT_VALUE;
	return value && hash == NODE_WITHOUT_VALUE ? hash + 1 : hash;
}

struct reading {
	const struct candidate_columns *c;
	const struct property_set *set;
};

static uint32_t hash_of_node(void *context, uint32_t slot)
{
	const struct reading *r = context;
	const struct node *n = view_node_in_no_order(&r->c->s->view, slot);
	char id[UUID_TEXT_BYTES];

	return n ? hash_of(property_set_value(r->set, n, id)) : NODE_WITHOUT_VALUE;
}

static void open_one(
	struct candidate_columns *c, struct property_set *set, const struct compiled_spread *spread)
{
	struct reading reading = {c, set};

	c->owns[c->own_count++] = (struct own_property){set, spread,
		node_values_take(c->fleet->values, set->attribute, hash_of_node, &reading)};
}

void candidate_columns_open_own(struct candidate_columns *c)
{
	uint32_t distinct = candidate_columns_distinct_count(c);
	uint32_t all = c->row_property_count + c->property_count;

	if (all == 0)
		return;
	c->owns = memory_take_array(all, sizeof c->owns[0]);
	for (uint32_t i = 0; i < c->row_property_count; i++)
		open_one(c, c->row_properties[i].set, NULL);
	for (uint32_t i = 0; i < c->property_count; i++) {
		c->are_own[i] = node_property_is_node_unique(c->properties[i]->property);
		if (c->are_own[i])
			open_one(c, c->properties[i], &c->g->spreads[i - distinct]);
	}
}

void candidate_columns_close_own(struct candidate_columns *c)
{
	for (uint32_t i = 0; i < c->own_count; i++)
		node_values_give(c->owns[i].values);
	if (c->by_class)
		node_values_give(c->by_class);
	free(c->owns);
	c->by_class = NULL;
	c->owns = NULL;
	c->own_count = 0;
}

static bool has_value(const struct candidate_columns *c, const struct property_set *set,
	uint32_t row, const char *value)
{
	char id[UUID_TEXT_BYTES];
	const char *its = property_set_value(set, c->nodes[row], id);
	return its ? value && strcmp(its, value) == 0 : !value;
}

// value: NULL for nodes that have none. visit: of rows that the property may refuse; NULL when the rows are enough. A
// spread moves its rows, and leaves what is known of their nodes.
static void visit_value(struct candidate_columns *c, const struct own_property *own,
	const char *value, candidate_columns_row_visit *visit)
{
	uint32_t slot = node_values_first(own->values, hash_of(value));

	for (; slot != NODE_VALUES_END; slot = node_values_next(own->values, slot)) {
		uint32_t row = candidate_columns_row_for(c, slot);
		if (!visit || row == ROW_NONE || !has_value(c, own->set, row, value))
			continue;
		if (own->spread)
			candidate_columns_place_row(c, row);
		else
			visit(c, row);
	}
}

static void make_rows_of(struct candidate_columns *c, const struct own_property *own)
{
	visit_value(c, own, NULL, NULL);
	for (uint32_t i = 0; i < own->set->count; i++)
		if (property_count_left(&own->set->counts[i]) > 0)
			visit_value(c, own, own->set->counts[i].value, NULL);
	for (uint32_t i = 0; own->spread && i < own->spread->bucket_count; i++)
		if (own->spread->buckets[i].value)
			visit_value(c, own, own->spread->buckets[i].value, NULL);
}

void candidate_columns_make_own_rows(struct candidate_columns *c)
{
	for (uint32_t i = 0; i < c->own_count; i++)
		make_rows_of(c, &c->owns[i]);
}

void candidate_columns_each_own(
	struct candidate_columns *c, const struct node *n, candidate_columns_row_visit *visit)
{
	char id[UUID_TEXT_BYTES];

	for (uint32_t i = 0; n && i < c->own_count; i++) {
		const char *value = property_set_value(c->owns[i].set, n, id);
		if (value)
			visit_value(c, &c->owns[i], value, visit);
	}
}

void candidate_columns_move_row(struct candidate_columns *c, uint32_t row, uint32_t finder)
{
	struct column_class *of = &c->classes[c->class_of[row]];
	uint32_t before = c->bin_of[row];

	if (before == finder)
		return;
	candidate_columns_row_is_touched(c, row);
	c->finders[before].ready--;
	c->finders[before].rows--;
	c->finders[finder].ready++;
	c->finders[finder].rows++;
	of->own_rows += (before == of->finder) - (finder == of->finder);
	CHECK(of->own_rows <= of->rows);
	c->bin_of[row] = finder;
	c->blocks[c->block_of[row]].bin = finder;
	candidate_columns_block_changed(c, c->block_of[row]);
}

void candidate_columns_place_row(struct candidate_columns *c, uint32_t row)
{
	CHECK(c->class_of && row < c->row_count);
	const struct finder_key *of_class = &c->finders[c->classes[c->class_of[row]].finder].key;
	char id[UUID_TEXT_BYTES];

	for (uint32_t i = 0; i < c->property_count; i++) {
		c->wanted[i] = of_class->values[i];
		if (!c->are_own[i])
			continue;
		const char *value = property_set_value(c->properties[i], c->nodes[row], id);
		c->wanted[i].mark = candidate_columns_mark_of(c, i, value);
		c->wanted[i].used = value ? property_set_used(c->properties[i], value) : 0;
	}
	candidate_columns_move_row(c, row, candidate_columns_finder_for(c, of_class->group));
}
