// The best of few nodes.
#include "placement/scheduler/stack/candidate_columns.h"
#include "state/base/check.h"

static bool is_in_query(const struct fit_query *q, uint32_t slot, const struct fit_node *n)
{
	const struct resources ask = {q->cpu, q->memory, q->disk};

	return fit_is_placeable(n) && fit_shortage_of(n, &ask) == FIT_SHORTAGES &&
	       q->classes[n->node_class / 64] >> n->node_class % 64 & 1 &&
	       q->accepts(q->context, slot, n);
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

uint32_t candidate_columns_search_few(struct candidate_columns *c, const struct fit_query *q,
	uint32_t count, struct fit_candidate best[])
{
	const struct own_refusals *own = &c->set->own;
	struct fit_candidate after = q->after ? *q->after : (struct fit_candidate){0};
	uint32_t found = 0;

	CHECK(own->few && count > 0);
	for (uint32_t i = 0; i < own->passing; i++) {
		const struct fit_node *n = fit_index_node(c->fleet->fit, own->few[i]);
		if (!is_in_query(q, own->few[i], n))
			continue;
		struct fit_candidate one = fit_candidate_of(c->s->algorithm, n, own->few[i], q);
		if (!q->after || fit_prefer(c->s->algorithm, q, &after, &one))
			found = keep_best(c->s->algorithm, q, one, found, count, best);
	}
	return found;
}
