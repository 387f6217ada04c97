#include "placement/direct/classes/node_ratings.h"
#include "placement/direct/placement.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>
#include <string.h>

static void release_ratings(void *attached)
{
	struct node_ratings *r = attached;

	bounds_tree_release(&r->tree);
	bounds_best_release(&r->best);
	score_trees_release(&r->sums);
	free(r->affinities);
	free(r->devices);
	free(r->cpu_mhz);
	free(r->shortages);
	free(r->classes);
	free(r->of_tally);
	free(r->of_class);
	free(r);
}

struct rating {
	uint32_t shortage;
	double sum;     // of the scores
	uint8_t scores; // 0: no instance will do there
	uint8_t rank;
};

// Nodes that are alike come one after the other.
static bool devices_will_do(struct node_ratings *r, const struct fit_index *x,
	const struct rating_ask *ask, const struct fit_node *n)
{
	struct rated_devices *newest = &r->newest;
	uint64_t since = fit_index_class_since(x, n->node_class);

	if (newest->since == since && newest->node_class == n->node_class &&
		memcmp(newest->free, n->devices_free, sizeof newest->free) == 0)
		return newest->will_do;
	newest->since = since;
	newest->node_class = n->node_class;
	memcpy(newest->free, n->devices_free, sizeof newest->free);
	newest->score = 0;
	newest->will_do = ask->devices(
		ask->context, fit_index_class(x, n->node_class), n->devices_free, &newest->score);
	return newest->will_do;
}

static double fit_of(
	enum placement_algorithm algorithm, const struct fit_node *n, const struct resources *room)
{
	struct resources capacity = {n->cpu_capacity, n->memory_capacity, 0};
	struct resources used = {n->cpu_capacity - n->cpu_free + room->cpu_mhz,
		n->memory_capacity - n->memory_free + room->memory_mb, 0};

	return placement_score(algorithm, capacity, used);
}

// The scores are added in the order in which those of a row are, so that both are the same to the last bit.
static struct rating rate_slot(struct node_ratings *r, const struct class_set *s,
	const struct fit_index *x, const struct rating_ask *ask, uint32_t slot)
{
	const struct fit_node *n = fit_index_node(x, slot);
	const struct class_in_set *in = class_set_of(s, slot, n);
	uint8_t scores = 1;

	if (!fit_is_ready(n) || !class_set_passes(s, slot) || in->verdict != CLASS_TAKEN)
		return (struct rating){.shortage = NODE_SHORTAGES};
	if (ask->devices && !devices_will_do(r, x, ask, n))
		return (struct rating){.shortage = SHORT_OF_DEVICES};
	if (ask->cores && !ask->cores(ask->context, slot))
		return (struct rating){.shortage = SHORT_OF_CORES};
	struct resources room = s->ask.room;
	room.cpu_mhz = r->cpu_mhz ? r->cpu_mhz[slot] : room.cpu_mhz;
	enum fit_shortage shortage = fit_shortage_of(n, &room);
	if (shortage != FIT_SHORTAGES)
		return (struct rating){.shortage = shortage};
	double affinity = r->affinities ? r->affinities[slot] : in->affinity;
	double sum = fit_of(fit_index_algorithm(x), n, &room);
	if (ask->devices) {
		sum += r->devices[slot] = r->newest.score;
		scores++;
	}
	if (affinity != 0) {
		sum += affinity;
		scores++;
	}
	uint8_t rank = ask->rank ? ask->rank(ask->context, fit_index_snapshot(x, slot)) : 0;
	return (struct rating){NODE_SHORTAGES, sum, scores, rank};
}

static void count_slot(
	struct node_ratings *r, const struct class_set *s, uint32_t slot, uint32_t by)
{
	uint32_t shortage = r->shortages[slot], id = r->classes[slot];

	if (shortage == NODE_SHORTAGES)
		return;
	r->of_class[id][shortage] += by;
	r->of_tally[s->classes[id].tally][shortage] += by;
}

static struct rating note_rating(struct node_ratings *r, const struct class_set *s,
	const struct fit_index *x, const struct rating_ask *ask, uint32_t slot)
{
	struct rating rating = rate_slot(r, s, x, ask, slot);

	r->shortages[slot] = (uint8_t)rating.shortage;
	r->classes[slot] = class_set_number(s, slot, fit_index_node(x, slot));
	count_slot(r, s, slot, 1);
	return rating;
}

// What stands until the node is described anew.
static void ask_node(struct node_ratings *r, const struct rating_ask *ask, uint32_t slot)
{
	if (r->affinities)
		r->affinities[slot] = ask->affinity(ask->context, slot);
	if (r->cpu_mhz)
		r->cpu_mhz[slot] = ask->cpu(ask->context, slot);
}

static void make_room(struct node_ratings *r, const struct class_set *s, const struct fit_index *x,
	const struct rating_ask *ask)
{
	r->slots = fit_index_slots(x);
	if (ask->by_sums)
		score_trees_begin(&r->sums, r->slots);
	else
		bounds_tree_make_room(&r->tree, r->slots, ask->rank != NULL);
	if (ask->affinity)
		r->affinities =
			memory_resize(r->affinities, (r->slots + 1) * sizeof r->affinities[0]);
	if (ask->devices)
		r->devices = memory_resize(r->devices, (r->slots + 1) * sizeof r->devices[0]);
	if (ask->cpu)
		r->cpu_mhz = memory_resize(r->cpu_mhz, (r->slots + 1) * sizeof r->cpu_mhz[0]);
	r->shortages = memory_resize(r->shortages, r->slots + 1);
	r->classes = memory_resize(r->classes, (r->slots + 1) * sizeof r->classes[0]);
	free(r->of_tally);
	free(r->of_class);
	r->of_tally = memory_take_array(s->tallies.short_count + 1, sizeof r->of_tally[0]);
	r->of_class = memory_take_array(s->class_count + 1, sizeof r->of_class[0]);
}

static double mean_of(const struct rating *rating)
{
	return rating->scores > 0 ? rating->sum / rating->scores : BOUND_NONE;
}

// Among nodes of one tree a spread changes no order.
static void put_sum(struct node_ratings *r, const struct class_set *s, uint32_t slot,
	const struct rating *rating)
{
	uint32_t group = s->classes[r->classes[slot]].group;
	const struct score_tree where = {.group = node_ratings_group(s, group),
		.scores = rating->scores,
		.tier = rating->rank};

	score_trees_put(&r->sums, slot, rating->scores > 0 ? &where : NULL,
		(struct tree_scores){rating->sum, 0});
}

static void begin_rating(struct node_ratings *r, const struct class_set *s, uint32_t slot,
	const struct rating *rating)
{
	if (r->by_sums) {
		put_sum(r, s, slot, rating);
		return;
	}
	r->tree.levels[0][slot] = mean_of(rating);
	if (r->tree.ranks[0])
		r->tree.ranks[0][slot] = rating->rank;
}

static void change_rating(struct node_ratings *r, const struct class_set *s, uint32_t slot,
	const struct rating *rating)
{
	if (r->by_sums) {
		put_sum(r, s, slot, rating);
		return;
	}
	bounds_tree_put(&r->tree, slot, rating->rank, mean_of(rating));
	bounds_best_follow(&r->best, &r->tree, slot);
}

static void rate_all(struct node_ratings *r, const struct class_set *s, const struct fit_index *x,
	const struct rating_ask *ask)
{
	make_room(r, s, x, ask);
	for (uint32_t slot = 0; slot < r->slots; slot++) {
		if (fit_index_described(x, slot) > r->seen)
			ask_node(r, ask, slot);
		struct rating rating = note_rating(r, s, x, ask, slot);
		begin_rating(r, s, slot, &rating);
	}
	if (!r->by_sums)
		bounds_tree_find_greatest(&r->tree);
	r->best.is_known = false;
	r->is_begun = true;
}

static void follow_change(struct node_ratings *r, const struct class_set *s,
	const struct fit_index *x, const struct rating_ask *ask, const struct fit_change *change)
{
	count_slot(r, s, change->slot, -1u);
	if (change->described_anew)
		ask_node(r, ask, change->slot);
	struct rating rating = note_rating(r, s, x, ask, change->slot);
	change_rating(r, s, change->slot, &rating);
}

static bool is_to_begin_anew(
	const struct node_ratings *r, const struct class_set *s, const struct fit_index *x)
{
	return !r->is_begun || r->judged != s->judged || r->slots != fit_index_slots(x) ||
	       fit_index_head(x) - r->seen > FIT_LOG_CHANGES;
}

struct node_ratings *node_ratings_of(
	struct class_set *s, const struct fit_index *x, const struct rating_ask *ask)
{
	struct node_ratings *r = s->attached;

	if (!r) {
		r = s->attached = memory_take(sizeof *r);
		s->release_attached = release_ratings;
	}
	CHECK(!r->is_begun || (r->affinities != NULL) == (ask->affinity != NULL));
	r->is_begun &= r->by_sums == ask->by_sums; // else its groups are others
	r->by_sums = ask->by_sums;
	if (is_to_begin_anew(r, s, x))
		rate_all(r, s, x, ask);
	else
		for (uint64_t i = r->seen; i < fit_index_head(x); i++)
			follow_change(r, s, x, ask, fit_index_change(x, i));
	r->judged = s->judged;
	r->seen = fit_index_head(x);
	return r;
}
