// How often the values of classes and rows are used, and what spreads and distinct properties say of them: all that are
// used equally often are in one finder and its bin, and move to another with each use.
#include "placement/scheduler/common/growing.h"
#include "placement/scheduler/node/checks.h"
#include "placement/scheduler/node/rank.h"
#include "placement/scheduler/stack/candidate_columns.h"
#include "state/base/check.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t class_words(const struct candidate_columns *c)
{
	return c->set->class_room / 64;
}

uint32_t candidate_columns_mark_of(
	const struct candidate_columns *c, uint32_t property, const char *value)
{
	uint32_t distinct = candidate_columns_distinct_count(c);

	if (!value)
		return 0;
	if (property < distinct)
		return MARK_OTHER;
	const struct compiled_spread *spread = &c->g->spreads[property - distinct];
	const struct spread_bucket *bucket = spread_bucket_of(spread, value);
	return bucket && bucket->value ? (uint32_t)(bucket - spread->buckets) + MARK_OTHER + 1
				       : MARK_OTHER;
}

static const char *value_in(const struct candidate_columns *c, uint32_t property, uint32_t id)
{
	const struct class_values *values = &c->set->values[property];
	return values->texts[values->number_of[id]];
}

// What the plan says of the values of a class, for the classes that have the same.
struct uses {
	const char *refusal;    // by distinct_property; NULL: none
	uint32_t group, finder; // of the newest class
	bool is_known;
};

static bool are_of_values(const struct candidate_columns *c, uint32_t id, const struct uses *u)
{
	for (uint32_t i = 0; i < c->property_count; i++)
		if (c->set->values[i].number_of[id] != c->uses[i].number)
			return false;
	return u->is_known;
}

// Why a class is refused by its values; NULL: it is not. What is its nodes' own refuses none without a row, even where
// that is asked for first. Classes of a value come one after the other, so the text of the newest refusal is kept.
static const char *class_refusal(struct candidate_columns *c, uint32_t id)
{
	struct class_refusal *newest = &c->newest_refusal;
	struct node any = {
		.node_class = (struct node_class *)class_set_class(c->set, c->fleet->fit, id)};

	for (uint32_t i = 0; i < candidate_columns_distinct_count(c); i++) {
		const struct property_set *set = c->properties[i];
		const char *value = value_in(c, i, id);
		int64_t used = value ? property_set_used(set, value) : 0;
		if (set->usable && value && used < set->limit)
			continue;
		if (newest->set != set || newest->value != value || newest->used != used)
			*newest = (struct class_refusal){
				set, value, used, stack_check_property(c->s, set, &any)};
		return newest->text;
	}
	return NULL;
}

static void leave_finder(struct candidate_columns *c, const struct column_class *of)
{
	struct row_finder *finder = &c->finders[of->finder];

	finder->classes[of->id / 64] &= ~(1ull << of->id % 64);
	finder->ready -= class_in_set_nodes(&c->set->classes[of->id]) - of->own_rows;
	finder->rows -= of->rows - of->own_rows;
}

// Nodes of the class that a search may find.
static uint32_t open_nodes_of(const struct candidate_columns *c, const struct column_class *of)
{
	uint32_t nodes = class_in_set_nodes(&c->set->classes[of->id]) - of->rows;
	uint32_t full = candidate_columns_short_without_rows(c, of);

	CHECK(full <= nodes);
	return nodes - full;
}

// Each use of a value moves its classes, and the finder that they come to would have to search anew, perhaps for few
// nodes among many. If all nodes of the newcomers get rows, it need not.
#define JOINED_NODES_FEW 2048u

// Leaves out those that moved on, or whose nodes are full or have rows by now.
static void count_joined(const struct candidate_columns *c, struct row_finder *finder)
{
	uint32_t count = 0;

	CHECK(finder->joined_count <= finder->joined_room);
	finder->joined_nodes = 0;
	for (uint32_t i = 0; i < finder->joined_count; i++) {
		const struct column_class *of =
			&c->classes[slot_map_get(&c->class_at, finder->joined[i]) - 1];
		uint32_t open = open_nodes_of(c, of);
		if (&c->finders[of->finder] != finder || open == 0)
			continue;
		finder->joined[count++] = of->id;
		finder->joined_nodes += open;
	}
	finder->joined_count = count;
}

static void forget_found(struct row_finder *finder)
{
	finder->epoch++;
	finder->open = 0;
	finder->has_all = false;
	finder->joined_count = 0;
	finder->joined_nodes = JOINED_MANY;
}

// Nodes of the class without rows may be better than those that were found.
static void note_joined(
	struct candidate_columns *c, struct row_finder *finder, const struct column_class *of)
{
	uint32_t open = open_nodes_of(c, of);

	if (open == 0 || finder->joined_nodes == JOINED_MANY)
		return;
	GROW(finder->joined, finder->joined_count, finder->joined_room);
	finder->joined[finder->joined_count++] = of->id;
	finder->joined_nodes += open;
	if (finder->joined_nodes > JOINED_NODES_FEW)
		count_joined(c, finder);
	if (finder->joined_nodes > JOINED_NODES_FEW)
		forget_found(finder);
}

static void join_finder(struct candidate_columns *c, struct column_class *of, uint32_t number)
{
	struct row_finder *finder = &c->finders[number];

	of->finder = number;
	finder->classes[of->id / 64] |= 1ull << of->id % 64;
	finder->bits |= class_set_bits(c->set, of->id);
	finder->ready += class_in_set_nodes(&c->set->classes[of->id]) - of->own_rows;
	finder->rows += of->rows - of->own_rows;
	if (!c->bounds) // those are not searched anew
		note_joined(c, finder, of);
}

static void put_in_bin(struct candidate_columns *c, uint32_t row, uint32_t bin)
{
	candidate_columns_row_is_touched(c, row);
	c->bin_of[row] = bin;
	c->blocks[c->block_of[row]].bin = bin;
	candidate_columns_block_changed(c, c->block_of[row]);
}

// Moves a class with its rows. Those whose own values are used stay apart from the others.
static void move_class(struct candidate_columns *c, struct column_class *of, uint32_t number)
{
	uint32_t before = of->finder;

	leave_finder(c, of);
	join_finder(c, of, number);
	for (uint32_t row = of->first_row; row != ROW_NONE; row = c->next_of_class[row]) {
		if (c->bin_of[row] == before)
			put_in_bin(c, row, number);
		else
			candidate_columns_place_row(c, row);
	}
}

static void count_uses(struct candidate_columns *c, uint32_t id, struct uses *u)
{
	*u = (struct uses){.group = CLASS_GROUPS_MAX, .is_known = true};
	for (uint32_t i = 0; i < c->property_count; i++) {
		const char *value = c->set->are_few[i] ? NULL : value_in(c, i, id);
		c->uses[i].number = c->set->values[i].number_of[id];
		c->uses[i].used = value ? property_set_used(c->properties[i], value) : 0;
	}
	u->refusal = class_refusal(c, id);
}

static void want_uses(struct candidate_columns *c, const struct finder_key *of)
{
	for (uint32_t i = 0; i < c->property_count; i++) {
		c->wanted[i] = of->values[i];
		c->wanted[i].used = c->uses[i].used;
	}
}

// Puts a class where others of its values' uses are.
static void place_class(struct candidate_columns *c, uint32_t id, struct uses *known)
{
	const struct class_in_set *in = &c->set->classes[id];

	if (in->verdict != CLASS_TAKEN || class_in_set_nodes(in) == 0)
		return;
	if (!are_of_values(c, id, known))
		count_uses(c, id, known);
	struct column_class *of = candidate_columns_class(c, id);
	if (known->group != in->group) {
		want_uses(c, &c->finders[of->finder].key);
		known->finder = candidate_columns_finder_for(c, c->finders[of->finder].key.group);
		known->group = in->group;
	}
	if (of->finder != known->finder)
		move_class(c, of, known->finder);
	if (candidate_columns_distinct_count(c) > 0)
		candidate_columns_refuse_class(c, of, known->refusal);
}

// number: of the set.
static void place_classes_with(struct candidate_columns *c, uint32_t property, uint32_t number)
{
	const struct class_values *values = &c->set->values[property];
	struct uses known = {.is_known = false};

	if (number == 0 || number == CLASS_VALUE_UNKNOWN)
		return;
	for (uint32_t at = values->first[number]; at; at = values->next[at - 1])
		place_class(c, at - 1, &known);
}

void candidate_columns_place_classes(struct candidate_columns *c)
{
	for (uint32_t i = 0; i < c->property_count; i++)
		for (uint32_t j = 0; j < c->properties[i]->count && !c->set->are_few[i]; j++)
			if (c->properties[i]->counts[j].counted)
				place_classes_with(c, i,
					class_values_find(&c->set->values[i],
						c->properties[i]->counts[j].value));
}

static uint32_t hash_of_class(void *context, uint32_t slot)
{
	const struct candidate_columns *c = context;
	return fit_index_node(c->fleet->fit, slot)->node_class + 1;
}

static bool is_open(const struct candidate_columns *c, uint32_t slot)
{
	CHECK(slot < fit_index_slots(c->fleet->fit));
	return fit_is_ready(fit_index_node(c->fleet->fit, slot)) &&
	       candidate_columns_shortage(c, slot) == NODE_SHORTAGES;
}

static void make_rows_of_class(struct candidate_columns *c, uint32_t id)
{
	const struct column_class *of = candidate_columns_class(c, id);

	CHECK(c->by_class);
	if (c->set->classes[id].verdict != CLASS_TAKEN || open_nodes_of(c, of) == 0)
		return;
	bool all_open = candidate_columns_short_without_rows(c, of) == 0;
	uint32_t at = class_set_first(c->set, id);
	for (; at != CLASS_NONE; at = class_set_next(c->set, at)) {
		uint32_t slot = node_values_first(c->by_class, at + 1);
		for (; slot != NODE_VALUES_END; slot = node_values_next(c->by_class, slot))
			if (all_open || is_open(c, slot))
				(void)candidate_columns_row_for(c, slot);
	}
}

void candidate_columns_look_at_joined(struct candidate_columns *c, uint32_t number)
{
	struct row_finder *finder = &c->finders[number];

	CHECK(!c->bounds && number < c->finder_count);
	count_joined(c, finder);
	uint32_t *joined = finder->joined, count = finder->joined_count;
	// Rows whose own values are used may come to new finders meanwhile.
	finder->joined = NULL;
	finder->joined_count = finder->joined_room = finder->joined_nodes = 0;
	if (!c->by_class)
		c->by_class = node_values_take(c->fleet->values, "class", hash_of_class, c);
	c->makes_classes = true;
	for (uint32_t i = 0; i < count; i++)
		make_rows_of_class(c, joined[i]);
	c->makes_classes = false;
	free(joined);
}

// The number of a node's value. The index knows it by the class, unless the node was registered anew meanwhile.
static uint32_t value_number(
	const struct candidate_columns *c, uint32_t property, const struct node *n)
{
	const struct class_values *values = &c->set->values[property];
	uint32_t id = n->slot < fit_index_slots(c->fleet->fit)
			      ? fit_index_node(c->fleet->fit, n->slot)->node_class
			      : CLASS_NONE;
	char text[UUID_TEXT_BYTES];

	if (id < fit_index_classes(c->fleet->fit) &&
		fit_index_class(c->fleet->fit, id) == n->node_class) {
		uint32_t number = class_set_number_of_class(c->set, id);
		if (c->set->classes[number].verdict == CLASS_TAKEN)
			return values->number_of[number];
	}
	return class_values_find(values, property_set_value(c->properties[property], n, text));
}

// Whether classes with one value of the property have one value of an earlier one, too.
static bool is_of_earlier(const struct candidate_columns *c, uint32_t property)
{
	for (uint32_t i = 0; i < property; i++)
		if (strcmp(c->properties[i]->attribute, c->properties[property]->attribute) == 0)
			return true;
	return false;
}

void candidate_columns_follow_values(struct candidate_columns *c, const struct node *n)
{
	for (uint32_t i = 0; i < c->property_count; i++) {
		if (!c->set->are_few[i] && !is_of_earlier(c, i))
			place_classes_with(c, i, value_number(c, i, n));
	}
}

static int64_t uses_in(
	const struct candidate_columns *c, const struct row_finder *finder, uint32_t property)
{
	const struct finder_value *of = &finder->key.values[property];

	if (of->mark == 0)
		return SPREAD_NO_VALUE;
	return of->number == VALUE_NONE
		       ? of->used
		       : property_count_left(&c->properties[property]->counts[of->number]);
}

static double boost_of(const struct candidate_columns *c, uint32_t spread,
	const struct row_finder *finder, int64_t unlisted)
{
	uint32_t property = candidate_columns_distinct_count(c) + spread;
	return spread_boost(&c->g->spreads[spread], uses_in(c, finder, property),
		finder->key.values[property].bucket, unlisted);
}

static void find_bound(
	struct candidate_columns *c, struct row_finder *finder, const int64_t *unlisted)
{
	double affinity = c->set->groups[finder->key.group].affinity, spread = 0;
	struct column_bin *bin = &c->bins[finder - c->finders];

	for (uint32_t i = 0; i < c->g->spread_count; i++) {
		double boost = boost_of(c, i, finder, unlisted[i]);
		spread += isnan(boost) ? *c->g->lowest_boost : boost;
	}
	finder->bound = candidate_columns_greatest_score(c, affinity, spread);
	finder->is_changed |= spread != bin->spread;
	bin->spread = spread;
}

static void refuse_all(struct candidate_columns *c, const struct row_finder *finder)
{
	for (uint32_t i = 0; i < class_words(c); i++)
		for (uint64_t left = finder->classes[i]; left; left &= left - 1) {
			uint32_t id = 64 * i + (uint32_t)__builtin_ctzll(left);
			if (class_in_set_nodes(&c->set->classes[id]) > 0)
				candidate_columns_refuse_class(
					c, candidate_columns_class(c, id), class_refusal(c, id));
		}
}

static void find_refusal(struct candidate_columns *c, struct row_finder *finder)
{
	struct column_bin *bin = &c->bins[finder - c->finders];
	uint32_t refused_by = 0;
	int64_t used = 0;

	for (uint32_t i = 0; i < candidate_columns_distinct_count(c) && !refused_by; i++) {
		const struct property_set *set = c->properties[i];
		used = uses_in(c, finder, i);
		used = used == SPREAD_NO_VALUE ? set->limit : used;
		refused_by = !set->usable || used >= set->limit ? i + 1 : 0;
	}
	if (refused_by == bin->refused_by && (!refused_by || used == bin->refused_at))
		return;
	finder->is_changed |= !refused_by != !bin->refused_by;
	bin->refused_by = refused_by;
	bin->refused_at = used;
	bin->refusal = refused_by ? "distinct_property" : NULL; // its classes know the text
	refuse_all(c, finder);
}

static void tell_rows(struct candidate_columns *c)
{
	bool any = false;

	for (uint32_t i = 0; i < c->finder_count; i++)
		any |= c->finders[i].is_changed;
	for (uint32_t row = 0; any && row < c->row_count; row++)
		if (c->finders[c->bin_of[row]].is_changed)
			candidate_columns_block_changed(c, c->block_of[row]);
	for (uint32_t i = 0; i < c->finder_count; i++)
		c->finders[i].is_changed = false;
}

void candidate_columns_refresh_finders(struct candidate_columns *c, const int64_t *unlisted)
{
	for (uint32_t i = 0; i < c->finder_count; i++) {
		if (c->finders[i].ready > 0)
			find_bound(c, &c->finders[i], unlisted);
		// Its classes may have nodes whose own values are used, which have other finders.
		find_refusal(c, &c->finders[i]);
	}
	tell_rows(c);
}
