#include "placement/vms/ranking.h"
#include "state/base/check.h"
#include <stdlib.h>
#include <string.h>

static bool is_before(const struct vm_ranking *r, uint32_t a, uint32_t b)
{
	if (r->machines[a] != r->machines[b])
		return (r->machines[a] < r->machines[b]) == r->fewest_first;
	return a < b;
}

static int in_order(const void *a, const void *b, void *ranking)
{
	return is_before(ranking, *(const uint32_t *)a, *(const uint32_t *)b) ? -1 : 1;
}

void vm_ranking_sort(struct vm_ranking *r)
{
	if (r->size)
		qsort_r(r->order, r->size, sizeof *r->order, in_order, r);
}

// The first place in [from, to) whose worker does not come before this one.
static uint32_t ranking_place(
	const struct vm_ranking *r, uint32_t from, uint32_t to, uint32_t worker)
{
	while (from < to) {
		uint32_t middle = from + (to - from) / 2;
		if (is_before(r, r->order[middle], worker))
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

void vm_ranking_move(struct vm_ranking *r, uint32_t worker, int by)
{
	uint32_t at = ranking_place(r, 0, r->size, worker), to;

	CHECK(at < r->size && r->order[at] == worker);
	CHECK(by > 0 || r->machines[worker] > 0);
	r->machines[worker] += (uint32_t)by;
	to = ranking_place(r, 0, at, worker);
	if (to < at) {
		memmove(r->order + to + 1, r->order + to, (at - to) * sizeof *r->order);
	} else {
		to = ranking_place(r, at + 1, r->size, worker) - 1;
		memmove(r->order + at, r->order + at + 1, (to - at) * sizeof *r->order);
	}
	r->order[to] = worker;
}
