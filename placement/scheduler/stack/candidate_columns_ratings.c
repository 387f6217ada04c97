// Ratings of single nodes (placement/direct/classes), for groups whose nodes of a class differ in more than their room:
// by affinities for what is unique to a node, by scores of devices, by the share of cpu that stands for a core, and by
// the snapshot that it ran last. Finders take the best nodes by them instead of searching the fit tree.
#include "placement/scheduler/node/fit.h"
#include "placement/scheduler/node/rank.h"
#include "placement/scheduler/rules/cores.h"
#include "placement/scheduler/stack/candidate_columns.h"
#include "state/base/check.h"
#include <string.h>

double candidate_columns_rate_affinity(void *context, uint32_t slot)
{
	const struct candidate_columns *c = context;
	const struct node *n = view_node_in_no_order(&c->s->view, slot);

	return n ? affinity_score(c->g, n) : 0;
}

static bool rate_devices(void *context, const struct node_class *node_class,
	const uint8_t free[NODE_DEVICE_GROUPS_MAX], double *score)
{
	const struct candidate_columns *c = context;

	return device_needs_score(&c->g->needs.devices, node_class, free, score);
}

static uint32_t rate_cpu(void *context, uint32_t slot)
{
	const struct candidate_columns *c = context;
	const struct node *n = view_node_in_no_order(&c->s->view, slot);

	return n ? stack_ask(c->g, n).cpu_mhz : 0;
}

static bool add_cores(const struct allocation *a, void *context)
{
	if (allocation_holds_room(a))
		core_set_add_details(context, a->details);
	return true;
}

// As if there were no plan: that of the next evaluation is another one.
static bool rate_cores(void *context, uint32_t slot)
{
	const struct candidate_columns *c = context;
	const struct scheduler_view *view = &c->s->view;
	const struct node *n = view_node_in_no_order(view, slot);
	struct core_set left = core_set_parse(n ? node_fittings(n)->reservable_cores : NULL);
	struct core_set used = {0};

	if (n && view->node_use(view->context, slot).with_details > 0)
		view->node_allocations(view->context, slot, add_cores, &used);
	core_set_remove(&left, &used);
	return core_set_count(&left) >= group_cores(c->g->group);
}

static uint8_t rate_snapshot(void *context, const char *last)
{
	const struct candidate_columns *c = context;
	return (uint8_t)snapshot_tier(c->g->snapshot, last, last != NULL);
}

// Whether nodes of a finder may have different affinities.
static bool are_affinities_rated(const struct candidate_columns *c)
{
	return c->g->affinity_unique || c->set->mixes_affinities;
}

bool candidate_columns_are_rated(const struct candidate_columns *c)
{
	const struct group_rules *g = c->g;
	return !c->evictions &&
	       (are_affinities_rated(c) || g->needs.devices.weights > 0 || g->cores || g->snapshot);
}

// Nodes that may have an affinity more than others of their group have a score more, too. What a spread adds then ranks
// them anew.
static bool are_ranked_by_sums(const struct candidate_columns *c)
{
	return are_affinities_rated(c) && c->g->spread_count > 0;
}

void candidate_columns_open_ratings(struct candidate_columns *c)
{
	const struct rating_ask ask = {
		.affinity = c->g->affinity_unique ? candidate_columns_rate_affinity : NULL,
		.devices = c->g->needs.devices.weights > 0 ? rate_devices : NULL,
		.cpu = c->g->cores ? rate_cpu : NULL,
		.cores = c->g->cores ? rate_cores : NULL,
		.rank = c->g->snapshot ? rate_snapshot : NULL,
		.by_sums = are_ranked_by_sums(c),
		.context = c,
	};

	CHECK(candidate_columns_are_rated(c));
	c->ratings = node_ratings_of(c->set, c->fleet->fit, &ask);
}

const struct bounds_best *candidate_columns_best_rated(struct candidate_columns *c)
{
	CHECK(c->ratings && !c->ratings->by_sums);
	bounds_best_find(&c->ratings->best, &c->ratings->tree, c->s->first_slot);
	return &c->ratings->best;
}

struct fit_candidate candidate_columns_rated(const struct candidate_columns *c, uint32_t slot)
{
	CHECK(slot < fit_index_slots(c->fleet->fit));
	const struct fit_node *n = fit_index_node(c->fleet->fit, slot);
	return (struct fit_candidate){.slot = slot,
		.cpu_free = n->cpu_free,
		.memory_free = n->memory_free,
		.cpu_capacity = n->cpu_capacity,
		.memory_capacity = n->memory_capacity};
}

uint32_t candidate_columns_search_rated(struct candidate_columns *c, struct row_finder *finder,
	const struct fit_query *q, uint32_t count, struct fit_candidate best[])
{
	struct bounds_search *search = &finder->search;
	uint32_t found = 0;

	CHECK(c->ratings && count > 0);
	if (!q->after || !search->context) // what goes before was found without a search
		bounds_search_begin(search, &c->ratings->tree, c->s->first_slot);
	while (found < count && search->count > 0) {
		uint32_t slot = bounds_search_take(search);
		if (slot == BOUNDS_SEARCH_ON)
			continue;
		const struct fit_node *n = fit_index_node(c->fleet->fit, slot);
		if (fit_query_takes(q, n->node_class) && q->accepts(q->context, slot, n))
			best[found++] = candidate_columns_rated(c, slot);
	}
	return found;
}
