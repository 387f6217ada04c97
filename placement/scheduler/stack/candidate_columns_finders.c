// Which classes score alike, and the best of their nodes. A finder searches the fit tree among the classes of one
// affinity whose values are used equally often: what is left to tell their nodes apart is the fit. As long as enough of
// the rows that it found are as it found them, no node of its classes without a row can be among the best.
#include "placement/direct/classes/class_search.h"
#include "placement/scheduler/common/snapshot_tier.h"
#include "placement/scheduler/node/checks.h"
#include "placement/scheduler/node/rank.h"
#include "placement/scheduler/stack/candidate_columns.h"
#include "state/base/check.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FOUND_MOST 256u // at once

static uint32_t class_words(const struct candidate_columns *c)
{
	return c->set->class_room / 64;
}

// What spreads and distinct properties ask for each time is looked up once.
static void know_values(const struct candidate_columns *c, struct row_finder *finder)
{
	uint32_t distinct = candidate_columns_distinct_count(c);

	for (uint32_t i = 0; i < c->property_count; i++) {
		const struct compiled_spread *spread =
			i < distinct ? NULL : &c->g->spreads[i - distinct];
		struct finder_value *of = &finder->key.values[i];
		uint32_t mark = of->mark;
		of->number = VALUE_NONE;
		of->bucket = NULL;
		if (mark == 0)
			continue;
		if (c->set->are_few[i] && !c->are_own[i]) {
			const char *value = c->set->values[i].texts[mark];
			of->number = property_set_number(c->properties[i], value);
			of->bucket = spread ? spread_bucket_of(spread, value) : NULL;
		} else if (spread) {
			of->bucket = mark == MARK_OTHER ? spread_rest(spread)
							: &spread->buckets[mark - MARK_OTHER - 1];
		}
	}
}

// Its classes and values lie in one piece.
static void take_own(const struct candidate_columns *c, struct row_finder *finder)
{
	size_t words = class_words(c), values = c->property_count * sizeof *finder->key.values;

	finder->classes = arena_take(c->memory, words * sizeof *finder->classes + values);
	finder->key.values = (struct finder_value *)(finder->classes + words);
	CHECK(values > 0);
	memcpy(finder->key.values, c->wanted, values);
	know_values(c, finder);
}

static uint32_t add_finder(struct candidate_columns *c, uint32_t group)
{
	uint32_t room = c->finder_room;
	ARENA_GROW(c->memory, c->finders, c->finder_count, c->finder_room);
	c->finders[c->finder_count] = (struct row_finder){.key.group = group};
	if (c->property_count) {
		if (room != c->finder_room)
			c->bins = arena_widen(c->memory, c->bins, room * sizeof *c->bins,
				c->finder_room * sizeof *c->bins);
		c->bins[c->bin_count++] = (struct column_bin){0};
		take_own(c, &c->finders[c->finder_count]);
		c->properties_seen = 0; // they said nothing of it yet
		CHECK(c->bin_count == c->finder_count + 1);
	}
	return c->finder_count++;
}

static bool is_wanted(const struct candidate_columns *c, const struct finder_key *key)
{
	for (uint32_t i = 0; i < c->property_count; i++)
		if (key->values[i].mark != c->wanted[i].mark ||
			key->values[i].used != c->wanted[i].used)
			return false;
	return true;
}

uint32_t candidate_columns_finder_for(struct candidate_columns *c, uint32_t group)
{
	for (uint32_t i = 0; i < c->finder_count; i++)
		if (c->finders[i].key.group == group && is_wanted(c, &c->finders[i].key))
			return i;
	return add_finder(c, group);
}

double candidate_columns_greatest_score(
	const struct candidate_columns *c, double affinity, double spread)
{
	bool devices = c->g->needs.devices.weights > 0;

	return (1 + devices + affinity + spread) / (1 + devices + (affinity != 0) + (spread != 0));
}

static void add_finder_of_group(struct candidate_columns *c, uint32_t group)
{
	const struct class_group *of = &c->set->groups[group];

	for (uint32_t i = 0; i < c->property_count; i++)
		c->wanted[i] =
			(struct finder_value){.mark = c->are_own[i] ? MARK_OTHER : of->marks[i]};
	uint32_t number = add_finder(c, group);
	struct row_finder *finder = &c->finders[number];
	finder->bits = of->bits;
	finder->ready = of->ready;
	finder->bound = candidate_columns_greatest_score(c, of->affinity, 0);
	if (c->property_count)
		memcpy(finder->classes, of->classes, class_words(c) * sizeof *finder->classes);
	else
		finder->classes = of->classes;
}

void candidate_columns_open_finders(struct candidate_columns *c)
{
	c->finder_room = c->set->group_count;
	c->finders = arena_room(c->memory, c->finder_room * sizeof *c->finders);
	if (c->property_count)
		c->bins = arena_room(c->memory, c->finder_room * sizeof *c->bins);
	for (uint32_t i = 0; i < c->set->group_count; i++)
		add_finder_of_group(c, i);
	candidate_columns_place_classes(c);
	candidate_columns_refresh_bins(c);
}

void candidate_columns_release_finders(struct candidate_columns *c)
{
	for (uint32_t i = 0; i < c->finder_count; i++) {
		free(c->finders[i].joined);
		bounds_search_release(&c->finders[i].search);
		candidate_columns_release_sums(&c->finders[i]);
	}
	c->finder_count = 0;
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
	return class_set_search(c->set, c->fleet->fit, q, finder->at_once, finder->waiting);
}

static void take_kept(
	struct candidate_columns *c, struct row_finder *finder, const struct fit_candidate *one)
{
	if (may_be_found(c, one->slot, NULL))
		finder->waiting[finder->waiting_count++] = *one;
}

static void make_waiting_room(
	const struct candidate_columns *c, struct row_finder *finder, uint32_t at_once)
{
	if (!finder->waiting || at_once > finder->at_once)
		finder->waiting = arena_room(c->memory, at_once * sizeof finder->waiting[0]);
	finder->at_once = at_once;
}

// What the set knows to be the best of the group, of which the finder's classes are some, is found without a search.
static void take_best(struct candidate_columns *c, struct row_finder *finder)
{
	const struct shortlist *best =
		class_set_best(c->set, finder->key.group, c->fleet->fit, c->s->first_slot);

	make_waiting_room(c, finder, best->count);
	for (uint32_t i = 0; i < best->count; i++)
		take_kept(c, finder, &best->at[i]);
	finder->has_all = best->complete;
}

// The same by ratings.
static void take_best_rated(struct candidate_columns *c, struct row_finder *finder)
{
	const struct bounds_best *best = candidate_columns_best_rated(c);

	make_waiting_room(c, finder, best->count);
	for (uint32_t i = 0; i < best->count; i++) {
		struct fit_candidate one = candidate_columns_rated(c, best->slots[i]);
		take_kept(c, finder, &one);
	}
	finder->has_all = best->is_complete;
}

static void begin_waiting(struct candidate_columns *c, struct row_finder *finder)
{
	(c->ratings ? take_best_rated : take_best)(c, finder);
	finder->waiting_epoch = finder->epoch;
}

static void search_more(struct candidate_columns *c, struct row_finder *finder, uint32_t wanted)
{
	struct fit_candidate last;
	bool goes_on = knows_waiting(finder) && finder->waiting_count > 0;
	struct fit_query query =
		class_set_query(c->set, finder->key.group, c->fleet->fit, c->s->first_slot);

	query.accepts = may_be_found;
	query.context = c;
	if (c->property_count) {
		query.class_bits = finder->bits;
		query.classes = finder->classes;
	}
	if (goes_on) {
		last = finder->waiting[finder->waiting_count - 1];
		query.after = &last;
	}
	uint32_t at_once = finder->at_once * 2 > wanted ? finder->at_once * 2 : wanted;
	make_waiting_room(c, finder, at_once < FOUND_MOST ? at_once : FOUND_MOST);
	finder->waiting_count = search_nodes(c, finder, &query);
	finder->waiting_at = 0;
	finder->waiting_epoch = finder->epoch;
	finder->has_all = finder->waiting_count < finder->at_once;
}

void candidate_columns_make_found(
	struct candidate_columns *c, uint32_t number, const struct fit_candidate *found)
{
	const struct row_finder *finder = &c->finders[number];
	uint32_t id = candidate_columns_class_number(c, found->slot);

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

	if (finder->joined_count > 0) {
		candidate_columns_look_at_joined(c, number);
		return;
	}
	finder->joined_nodes = 0;
	if (!finder->waiting)
		begin_waiting(c, finder);
	if (!has_waiting(finder) && !finder->has_all)
		search_more(c, finder, wanted);
	while (has_waiting(finder) && finder->open < wanted) {
		fetch_waiting(c, finder, finder->waiting_at + 2 * AHEAD, false);
		fetch_waiting(c, finder, finder->waiting_at + AHEAD, true);
		candidate_columns_make_found(c, number, &finder->waiting[finder->waiting_at++]);
	}
}

// Whether the finder's best nodes have rows.
static bool has_enough(const struct row_finder *finder, uint32_t wanted)
{
	bool has_found = finder->open >= wanted || (finder->has_all && !has_waiting(finder));

	return finder->ready == finder->rows || (has_found && finder->joined_count == 0);
}

// The most promising finder that has too few rows; finder_count: none.
static uint32_t next_finder(const struct candidate_columns *c, uint32_t wanted)
{
	uint32_t next = c->finder_count;

	for (uint32_t i = 0; i < c->finder_count; i++) {
		const struct row_finder *finder = &c->finders[i];
		CHECK(finder->rows <= finder->ready);
		bool is_refused = c->property_count && c->bins[i].refused_by;
		if (is_refused || has_enough(finder, wanted))
			continue;
		if (next == c->finder_count || finder->bound > c->finders[next].bound)
			next = i;
	}
	return next;
}

// Whether so many rows are better than any node of a finder.
static bool is_beaten(struct candidate_columns *c, double bound, uint32_t wanted)
{
	if (c->row_count < wanted || candidate_columns_best_score(c) <= bound)
		return false;
	uint32_t count = candidate_columns_best_blocks(c, wanted);
	if (count < wanted)
		return false;
	const struct contender *last = &c->tree[c->leaves + c->best_blocks[count - 1]];
	return last->score > bound && (!c->tiers || last->tier == SNAPSHOT_SAME);
}

void candidate_columns_fetch(struct candidate_columns *c, uint32_t wanted)
{
	CHECK(wanted > 0);
	bool by_sums = c->ratings && c->ratings->by_sums;
	if (c->bounds)
		candidate_columns_fetch_evicting(c, wanted);
	if (by_sums)
		candidate_columns_fetch_by_sums(c, wanted);
	while (c->fleet && !c->bounds && !by_sums) {
		uint32_t next = next_finder(c, wanted);
		if (next == c->finder_count || is_beaten(c, c->finders[next].bound, wanted))
			return;
		fetch_rows(c, next, wanted);
	}
}
