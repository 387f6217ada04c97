// Which classes score alike, and the best of their nodes. A finder searches the fit tree among the classes of one
// affinity whose values are used equally often: what is left to tell their nodes apart is the fit. As long as enough of
// the rows that it found are as it found them, no node of its classes without a row can be among the best.
#include "placement/scheduler/common/growing.h"
#include "placement/scheduler/node/checks.h"
#include "placement/scheduler/node/rank.h"
#include "placement/scheduler/stack/candidate_columns.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FOUND_MOST 256u // at once

static uint32_t class_words(const struct candidate_columns *c)
{
	return c->set->class_room / 64;
}

static uint32_t add_finder(struct candidate_columns *c, uint32_t group)
{
	GROW(c->finders, c->finder_count, c->finder_room);
	c->finders[c->finder_count] = (struct row_finder){.group = group, .example = CLASS_NONE};
	if (c->property_count) {
		c->bins = memory_resize(c->bins, c->finder_room * sizeof *c->bins);
		c->bins[c->bin_count++] = (struct column_bin){0};
		CHECK(c->bin_count == c->finder_count + 1);
	}
	return c->finder_count++;
}

// No fit and no score of devices is above 1, and no mean of such and affinities.
static double greatest_score(const struct candidate_columns *c, double affinity, double spread)
{
	bool devices = c->g->devices.weights > 0;

	CHECK(!c->g->affinity_unique || spread == 0);
	if (c->g->affinity_unique)
		return 1;
	return (1 + devices + affinity + spread) / (1 + devices + (affinity != 0) + (spread != 0));
}

static void add_finder_of_group(struct candidate_columns *c, uint32_t group)
{
	uint32_t number = add_finder(c, group);
	struct row_finder *finder = &c->finders[number];
	const struct class_group *of = &c->set->groups[group];

	finder->classes = of->classes;
	finder->bits = of->bits;
	finder->ready = of->ready;
	finder->bound = greatest_score(c, of->affinity, 0);
	if (!c->property_count)
		return;
	finder->classes = memory_take_array(class_words(c) + 1, sizeof *finder->classes);
	memcpy(finder->classes, of->classes, class_words(c) * sizeof *finder->classes);
}

void candidate_columns_release_finders(struct candidate_columns *c)
{
	for (uint32_t i = 0; i < c->finder_count; i++) {
		free(c->finders[i].waiting);
		bounds_search_release(&c->finders[i].search);
		if (c->property_count)
			free(c->finders[i].classes);
	}
	free(c->finders);
	c->finders = NULL;
	c->finder_count = 0;
}

static const char *value_in(const struct candidate_columns *c, uint32_t property, uint32_t id)
{
	const struct class_values *values = &c->set->values[property];
	return values->texts[values->number_of[id]];
}

// What the plan says of the values of a class, for the classes that have the same.
struct uses {
	uint32_t values[CLASS_VALUES_MAX]; // numbers
	int64_t used[CLASS_VALUES_MAX];    // of values that are not few
	const char *refusal;               // by distinct_property; NULL: none
	bool is_known;
};

static bool are_of_values(const struct candidate_columns *c, uint32_t id, const struct uses *u)
{
	for (uint32_t i = 0; i < c->property_count; i++)
		if (c->set->values[i].number_of[id] != u->values[i])
			return false;
	return u->is_known;
}

static uint32_t finder_for(
	struct candidate_columns *c, uint32_t group, const int64_t used[CLASS_VALUES_MAX])
{
	for (uint32_t i = 0; i < c->finder_count; i++)
		if (c->finders[i].group == group &&
			memcmp(c->finders[i].used, used, sizeof c->finders[i].used) == 0)
			return i;
	uint32_t finder = add_finder(c, group);
	memcpy(c->finders[finder].used, used, sizeof c->finders[finder].used);
	c->finders[finder].classes = memory_take_array(class_words(c) + 1, sizeof(uint64_t));
	return finder;
}

// Why a class is refused by its values; NULL: it is not. Classes of a value come one after the other, so the text of
// the newest refusal is kept.
static const char *class_refusal(struct candidate_columns *c, uint32_t id)
{
	struct class_refusal *newest = &c->newest_refusal;
	struct node any = {.node_class = (struct node_class *)fit_index_class(c->fleet->fit, id)};

	for (uint32_t i = 0; i < candidate_columns_distinct_count(c); i++) {
		const struct property_set *set = c->properties[i];
		const char *value = value_in(c, i, id);
		int64_t used = value ? property_set_used(set, value) : 0;
		if (set->usable && value && used < set->limit)
			continue;
		if (newest->set != set || newest->value != value || newest->used != used)
			*newest = (struct class_refusal){
				set, value, used, stack_check_properties(c->s, c->g, &any)};
		return newest->text;
	}
	return NULL;
}

static void leave_finder(struct candidate_columns *c, const struct column_class *of)
{
	struct row_finder *finder = &c->finders[of->finder];

	finder->classes[of->id / 64] &= ~(1ull << of->id % 64);
	finder->ready -= class_in_set_nodes(&c->set->classes[of->id]);
	finder->rows -= of->rows;
	if (finder->example == of->id)
		finder->example = CLASS_NONE;
}

// Nodes of the class may be better than those that were found.
static void join_finder(struct candidate_columns *c, struct column_class *of, uint32_t number)
{
	struct row_finder *finder = &c->finders[number];

	of->finder = number;
	finder->classes[of->id / 64] |= 1ull << of->id % 64;
	finder->bits |= 1ull << of->id % 64;
	finder->ready += class_in_set_nodes(&c->set->classes[of->id]);
	finder->rows += of->rows;
	finder->epoch++;
	finder->open = 0;
	finder->has_all = false;
	for (uint32_t row = of->first_row; row != ROW_NONE; row = c->next_of_class[row]) {
		candidate_columns_row_is_touched(c, row);
		c->bin_of[row] = number;
		c->blocks[c->block_of[row]].bin = number;
		candidate_columns_block_changed(c, c->block_of[row]);
	}
}

static void count_uses(struct candidate_columns *c, uint32_t id, struct uses *u)
{
	*u = (struct uses){.is_known = true};
	for (uint32_t i = 0; i < c->property_count; i++) {
		const char *value = c->set->are_few[i] ? NULL : value_in(c, i, id);
		u->values[i] = c->set->values[i].number_of[id];
		u->used[i] = value ? property_set_used(c->properties[i], value) : 0;
	}
	u->refusal = class_refusal(c, id);
}

// Puts a class where others of its values' uses are.
static void place_class(struct candidate_columns *c, uint32_t id, struct uses *known)
{
	const struct class_in_set *in = &c->set->classes[id];

	if (in->verdict != CLASS_TAKEN || class_in_set_nodes(in) == 0)
		return;
	if (!are_of_values(c, id, known))
		count_uses(c, id, known);
	uint32_t number = finder_for(c, in->group, known->used);
	struct column_class *of = candidate_columns_class(c, id);
	if (of->finder != number) {
		leave_finder(c, of);
		join_finder(c, of, number);
	}
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

void candidate_columns_open_finders(struct candidate_columns *c)
{
	for (uint32_t i = 0; i < c->set->group_count; i++)
		add_finder_of_group(c, i);
	for (uint32_t i = 0; i < c->property_count; i++)
		for (uint32_t j = 0; j < c->properties[i]->count && !c->set->are_few[i]; j++)
			if (c->properties[i]->counts[j].counted)
				place_classes_with(c, i,
					class_values_find(&c->set->values[i],
						c->properties[i]->counts[j].value));
	candidate_columns_refresh_bins(c);
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

	if (id < c->set->class_count && fit_index_class(c->fleet->fit, id) == n->node_class &&
		c->set->classes[id].verdict == CLASS_TAKEN)
		return values->number_of[id];
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
	for (uint32_t i = 0; i < c->property_count; i++)
		if (!c->set->are_few[i] && !is_of_earlier(c, i))
			place_classes_with(c, i, value_number(c, i, n));
}

static void know_example(const struct candidate_columns *c, struct row_finder *finder, uint32_t id)
{
	finder->example = id;
	for (uint32_t i = 0; i < c->property_count; i++) {
		const char *value = value_in(c, i, id);
		finder->numbers[i] =
			value ? property_set_number(c->properties[i], value) : VALUE_NONE;
	}
}

// A class with nodes stands for all of its finder.
static bool find_example(const struct candidate_columns *c, struct row_finder *finder)
{
	if (finder->ready == 0 || finder->example != CLASS_NONE)
		return finder->ready > 0;
	for (uint32_t i = 0; i < class_words(c) && finder->example == CLASS_NONE; i++)
		for (uint64_t left = finder->classes[i]; left; left &= left - 1) {
			uint32_t id = 64 * i + (uint32_t)__builtin_ctzll(left);
			if (class_in_set_nodes(&c->set->classes[id]) == 0)
				continue;
			know_example(c, finder, id);
			break;
		}
	CHECK(finder->example != CLASS_NONE);
	return true;
}

static double boost_of(const struct candidate_columns *c, uint32_t spread,
	const struct row_finder *finder, int64_t unlisted)
{
	uint32_t property = candidate_columns_distinct_count(c) + spread;
	const struct compiled_spread *s = &c->g->spreads[spread];
	const char *value = value_in(c, property, finder->example);
	return spread_boost(
		s, finder->numbers[property], value ? spread_bucket_of(s, value) : NULL, unlisted);
}

static void note_lowest(
	struct candidate_columns *c, const struct row_finder *finder, const int64_t *unlisted)
{
	for (uint32_t i = 0; i < c->g->spread_count; i++) {
		const struct compiled_spread *s = &c->g->spreads[i];
		const char *value =
			value_in(c, candidate_columns_distinct_count(c) + i, finder->example);
		if (!s->bucket_count || !value || !spread_bucket_of(s, value))
			continue;
		double boost = boost_of(c, i, finder, unlisted[i]);
		if (boost < *c->g->lowest_boost) // never true of NaN
			*c->g->lowest_boost = boost;
	}
}

static void find_bound(
	struct candidate_columns *c, struct row_finder *finder, const int64_t *unlisted)
{
	double affinity = c->set->groups[finder->group].affinity, spread = 0;
	struct column_bin *bin = &c->bins[finder - c->finders];

	for (uint32_t i = 0; i < c->g->spread_count; i++) {
		double boost = boost_of(c, i, finder, unlisted[i]);
		spread += isnan(boost) ? *c->g->lowest_boost : boost;
	}
	finder->bound = greatest_score(c, affinity, spread);
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
		uint32_t number = finder->numbers[i];
		used = number == VALUE_NONE ? set->limit
					    : property_count_left(&set->counts[number]);
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
	if (!c->property_count)
		return;
	for (uint32_t i = 0; i < c->finder_count; i++)
		if (find_example(c, &c->finders[i]))
			note_lowest(c, &c->finders[i], unlisted);
	for (uint32_t i = 0; i < c->finder_count; i++) {
		if (c->finders[i].ready == 0)
			continue;
		find_bound(c, &c->finders[i], unlisted);
		find_refusal(c, &c->finders[i]);
	}
	tell_rows(c);
}

static bool may_be_found(void *context, uint32_t slot, const struct fit_node *unused)
{
	const struct candidate_columns *c = context;
	return candidate_columns_row_of(c, slot) == ROW_NONE && slot < c->slots &&
	       class_set_passes(c->set, slot);
}

// Nodes of the newest search that wait for their rows are all that the finder knows of its classes.
static bool knows_waiting(const struct row_finder *finder)
{
	return finder->waiting && finder->waiting_epoch == finder->epoch;
}

static uint32_t search_nodes(
	struct candidate_columns *c, struct row_finder *finder, const struct fit_query *q)
{
	if (c->ratings)
		return candidate_columns_search_rated(
			c, finder, q, finder->at_once, finder->waiting);
	if (c->set->own.few)
		return candidate_columns_search_few(c, q, finder->at_once, finder->waiting);
	return fit_tree_search(fit_index_tree(c->fleet->fit), q, finder->at_once, finder->waiting);
}

static void search_more(struct candidate_columns *c, struct row_finder *finder, uint32_t wanted)
{
	struct fit_candidate last;
	bool goes_on = knows_waiting(finder) && finder->waiting_count > 0;
	struct fit_query query = {
		.cpu = c->g->ask.cpu_mhz,
		.memory = c->g->ask.memory_mb,
		.disk = c->g->ask.disk_mb,
		.class_bits = finder->bits,
		.classes = finder->classes,
		.first_slot = c->s->first_slot,
		.accepts = may_be_found,
		.context = c,
	};

	if (goes_on) {
		last = finder->waiting[finder->waiting_count - 1];
		query.after = &last;
	}
	finder->at_once = finder->at_once * 2 > wanted ? finder->at_once * 2 : wanted;
	if (finder->at_once > FOUND_MOST)
		finder->at_once = FOUND_MOST;
	finder->waiting =
		memory_resize(finder->waiting, finder->at_once * sizeof finder->waiting[0]);
	finder->waiting_count = search_nodes(c, finder, &query);
	finder->waiting_at = 0;
	finder->waiting_epoch = finder->epoch;
	finder->has_all = finder->waiting_count < finder->at_once;
}

static void make_found_row(
	struct candidate_columns *c, uint32_t number, const struct fit_candidate *found)
{
	const struct row_finder *finder = &c->finders[number];
	uint32_t id = fit_index_node(c->fleet->fit, found->slot)->node_class;

	// The class moved on, or the plan touched the node.
	if (!(finder->classes[id / 64] >> id % 64 & 1) ||
		candidate_columns_row_of(c, found->slot) != ROW_NONE)
		return;
	const struct node *n = view_node_in_no_order(&c->s->view, found->slot);
	if (n) // else it is gone meanwhile
		candidate_columns_add_found(c, n, found, number);
}

static void fetch_waiting(const struct candidate_columns *c, const struct row_finder *finder,
	uint32_t at, bool is_near)
{
	if (at < finder->waiting_count)
		view_fetch_node(&c->s->view, finder->waiting[at].slot, is_near);
}

static bool has_waiting(const struct row_finder *finder)
{
	return knows_waiting(finder) && finder->waiting_at < finder->waiting_count;
}

// More rows than are wanted would be made for nothing: a value that is used up takes all nodes with it.
static void fetch_rows(struct candidate_columns *c, uint32_t number, uint32_t wanted)
{
	enum { AHEAD = 6 };
	struct row_finder *finder = &c->finders[number];

	if (!has_waiting(finder))
		search_more(c, finder, wanted);
	while (has_waiting(finder) && finder->open < wanted) {
		fetch_waiting(c, finder, finder->waiting_at + 2 * AHEAD, false);
		fetch_waiting(c, finder, finder->waiting_at + AHEAD, true);
		make_found_row(c, number, &finder->waiting[finder->waiting_at++]);
	}
}

// The most promising finder that has too few rows; finder_count: none.
static uint32_t next_finder(const struct candidate_columns *c, uint32_t wanted)
{
	uint32_t next = c->finder_count;

	for (uint32_t i = 0; i < c->finder_count; i++) {
		const struct row_finder *finder = &c->finders[i];
		CHECK(finder->rows <= finder->ready);
		bool is_refused = c->property_count && c->bins[i].refused_by;
		if (finder->ready == finder->rows || is_refused || finder->open >= wanted ||
			(finder->has_all && !has_waiting(finder)))
			continue;
		if (next == c->finder_count || finder->bound > c->finders[next].bound)
			next = i;
	}
	return next;
}

// Whether so many rows are better than any node of a finder.
static bool is_beaten(struct candidate_columns *c, double bound, uint32_t wanted)
{
	uint32_t blocks[ROWS_WANTED_MAX];

	if (c->row_count < wanted || candidate_columns_best_score(c) <= bound)
		return false;
	uint32_t count = candidate_columns_best_blocks(c, wanted, blocks);
	return count == wanted && c->tree[c->leaves + blocks[count - 1]].score > bound;
}

void candidate_columns_fetch(struct candidate_columns *c, uint32_t wanted)
{
	CHECK(wanted <= ROWS_WANTED_MAX);
	if (c->bounds)
		candidate_columns_fetch_evicting(c, wanted);
	while (c->fleet && !c->bounds) {
		uint32_t next = next_finder(c, wanted);
		if (next == c->finder_count || is_beaten(c, c->finders[next].bound, wanted))
			return;
		fetch_rows(c, next, wanted);
	}
}
