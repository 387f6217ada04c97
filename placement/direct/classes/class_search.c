#include "placement/direct/classes/class_search.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>

// So many are searched for, and so few are too few: a decision looks at five, and passes over some that the job has.
#define BEST_SEARCHED 16u
#define BEST_LEAST 8u
// To follow a change takes a hundredth of a search of a small fleet.
#define CHANGES_FOLLOWED 64u

// In one piece, so that the set frees it without knowing it.
struct class_best {
	struct fit_query query;
	struct shortlist list;
	uint64_t seen;   // changes of the index
	uint64_t judged; // of the set: other classes may be in the group since
};

static bool has_room(const struct fit_query *q, const struct fit_node *n)
{
	return fit_is_placeable(n) && q->cpu <= n->cpu_free && q->memory <= n->memory_free &&
	       q->disk <= n->disk_free;
}

// Whether a node is like a candidate, and comes behind it.
static bool is_behind(const struct fit_query *q, uint32_t slot, const struct fit_node *n,
	const struct fit_candidate *than)
{
	return slot - q->first_slot > than->slot - q->first_slot && n->cpu_free == than->cpu_free &&
	       n->memory_free == than->memory_free && n->cpu_capacity == than->cpu_capacity &&
	       n->memory_capacity == than->memory_capacity;
}

// Whether a quick look shows that a node is not preferred to a candidate.
static bool is_worse(enum placement_algorithm algorithm, const struct fit_query *q, uint32_t slot,
	const struct fit_node *n, const struct fit_candidate *than)
{
	return is_behind(q, slot, n, than) || fit_costs_more(algorithm, n, q, than->cost);
}

static bool is_accepted(const struct fit_query *q, uint32_t slot, const struct fit_node *n)
{
	return fit_query_takes(q, n->node_class) && q->accepts(q->context, slot, n);
}

// Returns how many there are by now.
static uint32_t keep_best(enum placement_algorithm algorithm, const struct fit_query *q,
	struct fit_candidate one, uint32_t found, uint32_t count, struct fit_candidate best[])
{
	if (found == count && !fit_prefer(algorithm, q, &one, &best[count - 1]))
		return found;
	uint32_t at = found < count ? found++ : count - 1;
	for (; at > 0 && fit_prefer(algorithm, q, &one, &best[at - 1]); at--)
		best[at] = best[at - 1];
	best[at] = one;
	return found;
}

static uint32_t search_few(const struct own_refusals *own, const struct fit_index *x,
	const struct fit_query *q, uint32_t count, struct fit_candidate best[])
{
	enum placement_algorithm algorithm = fit_index_algorithm(x);
	struct fit_candidate after = q->after ? *q->after : (struct fit_candidate){0};
	uint32_t found = 0;

	CHECK(own->few && count > 0);
	for (uint32_t i = 0; i < own->passing; i++) {
		uint32_t slot = own->few[i];
		const struct fit_node *n = fit_index_node(x, slot);
		if (!has_room(q, n) ||
			(found == count && is_worse(algorithm, q, slot, n, &best[count - 1])) ||
			!is_accepted(q, slot, n))
			continue;
		struct fit_candidate one = fit_candidate_of(algorithm, n, slot, q);
		if (!q->after || fit_prefer(algorithm, q, &after, &one))
			found = keep_best(algorithm, q, one, found, count, best);
	}
	return found;
}

// A look at each is worth while where a search would pass over most others, or look at all.
static bool are_few(const struct class_set *s, struct fit_index *x, uint32_t count)
{
	uint32_t share = fit_tree_is_flat(fit_index_tree(x)) ? 8 : 2;
	return s->own.few &&
	       (s->own.passing <= count || s->own.passing <= fit_index_nodes(x) / share);
}

uint32_t class_set_search(const struct class_set *s, struct fit_index *x, const struct fit_query *q,
	uint32_t count, struct fit_candidate best[])
{
	if (are_few(s, x, count))
		return search_few(&s->own, x, q, count, best);
	return fit_tree_search(fit_index_tree(x), q, count, best);
}

// Ready nodes that are not refused for what is their own.
static uint32_t passing_nodes(const struct class_set *s, const struct fit_index *x)
{
	return s->ask.by_node ? s->own.passing : fit_index_nodes(x) - fit_index_not_ready(x);
}

struct fit_query class_set_query(
	const struct class_set *s, uint32_t group, const struct fit_index *x, uint32_t first_slot)
{
	const struct class_group *g = &s->groups[group];
	uint32_t passing = passing_nodes(s, x);

	CHECK(group < s->group_count && g->ready <= passing);
	return (struct fit_query){
		.cpu = s->ask.room.cpu_mhz,
		.memory = s->ask.room.memory_mb,
		.disk = s->ask.room.disk_mb,
		.class_bits = g->bits,
		.classes = g->ready == passing ? NULL : g->classes, // no node needs to be asked
		.kinds = s->kinds ? s->kinds->of_class : NULL,
		.first_slot = first_slot,
		.refuses_many = passing < (fit_index_nodes(x) - fit_index_not_ready(x)) / 2,
	};
}

static bool passes(void *context, uint32_t slot, const struct fit_node *unused)
{
	return class_set_passes(context, slot);
}

static void reconsider_slot(struct class_best *best, const struct fit_index *x, uint32_t slot)
{
	struct shortlist *list = &best->list;
	const struct fit_query *q = &best->query;
	const struct fit_node *n = fit_index_node(x, slot);

	shortlist_drop(list, slot);
	if (!has_room(q, n) || !is_accepted(q, slot, n) ||
		(!list->complete && is_worse(list->algorithm, q, slot, n, &list->horizon)))
		return;
	shortlist_offer(list, fit_candidate_of(list->algorithm, n, slot, q));
}

static bool follow_changes(
	struct class_best *best, const struct class_set *s, const struct fit_index *x)
{
	uint64_t head = fit_index_head(x);

	if (best->judged != s->judged || head - best->seen > CHANGES_FOLLOWED)
		return false;
	for (; best->seen < head; best->seen++)
		reconsider_slot(best, x, fit_index_change(x, best->seen)->slot);
	return best->list.complete || best->list.count >= BEST_LEAST;
}

static void search_anew(struct class_best *best, const struct class_set *s, struct fit_index *x)
{
	struct shortlist *list = &best->list;

	list->count = class_set_search(s, x, &best->query, BEST_SEARCHED, list->at);
	shortlist_fill(list, BEST_SEARCHED);
	best->judged = s->judged;
	best->seen = fit_index_head(x);
}

const struct shortlist *class_set_best(
	struct class_set *s, uint32_t group, struct fit_index *x, uint32_t first_slot)
{
	struct class_best **kept = &s->groups[group].best, *best = *kept;
	bool is_same = best && best->query.first_slot == first_slot;

	if (!best)
		best = *kept = memory_take(sizeof *best);
	best->query = class_set_query(s, group, x, first_slot);
	best->query.accepts = passes;
	best->query.context = s;
	best->list.query = &best->query;
	best->list.algorithm = fit_index_algorithm(x);
	if (!is_same || !follow_changes(best, s, x))
		search_anew(best, s, x);
	CHECK(best->seen == fit_index_head(x));
	return &best->list;
}
