// Sorts allocations once by the name of the group, the number in the name, and the id, and goes through them by group.
#include "placement/scheduler/common/allocation_facts.h"
#include "placement/scheduler/reconcile/group_pass.h"
#include "state/base/check.h"
#include "state/base/text.h"
#include <stdlib.h>

struct sort_key {
	const char *group;
	const struct allocation *allocation;
	uint32_t index;
};

static int key_compare(const void *a, const void *b)
{
	const struct sort_key *x = a, *y = b;
	int order = x->group == y->group ? 0 : strcmp(x->group, y->group);
	if (order)
		return order;
	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return uuid_compare(&x->allocation->id, &y->allocation->id);
}

static bool is_sorted(const struct sort_key *keys, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (key_compare(&keys[i - 1], &keys[i]) > 0)
			return false;
	return true;
}

static struct sort_key key_of(const struct allocation *a)
{
	return (struct sort_key){allocation_group(a)->name, a, a->index};
}

static uint32_t highest_number(const struct reconcile_ask *ask)
{
	uint32_t highest = 0;
	for (uint32_t i = 0; i < ask->allocation_count; i++)
		if (ask->allocations[i]->index > highest)
			highest = ask->allocations[i]->index;
	return highest;
}

// A counting sort: numbers in names are mostly dense, so for a job with one group this is the whole order.
static void place_by_number(
	const struct reconcile_ask *ask, struct sort_key *keys, uint32_t highest)
{
	CHECK(highest / 4 <= ask->allocation_count);
	uint32_t *at = memory_take_array((size_t)highest + 2, sizeof *at);
	for (uint32_t i = 0; i < ask->allocation_count; i++)
		at[ask->allocations[i]->index + 1]++;
	for (uint32_t number = 0; number < highest; number++)
		at[number + 1] += at[number];
	for (uint32_t i = 0; i < ask->allocation_count; i++)
		keys[at[ask->allocations[i]->index]++] = key_of(ask->allocations[i]);
	free(at);
}

static void collect_keys(const struct reconcile_ask *ask, struct sort_key *keys)
{
	uint32_t highest = highest_number(ask);
	if (highest / 4 <= ask->allocation_count)
		place_by_number(ask, keys, highest);
	else
		for (uint32_t i = 0; i < ask->allocation_count; i++)
			keys[i] = key_of(ask->allocations[i]);
}

void reconcile_members(struct reconciler *r)
{
	CHECK(!r->members);
	uint32_t count = r->ask->allocation_count;
	struct sort_key *keys = memory_take_array((size_t)count + 1, sizeof *keys);
	collect_keys(r->ask, keys);
	if (!is_sorted(keys, count))
		qsort(keys, count, sizeof *keys, key_compare);
	r->members = memory_take_array((size_t)count + 1, sizeof *r->members);
	r->member_count = count;
	for (uint32_t i = 0; i < count; i++)
		r->members[i].allocation = keys[i].allocation;
	free(keys);
	CHECK(r->member_count == r->ask->allocation_count);
}

// The first name in order after `last` among the job's groups; NULL: none is left.
static const char *next_wanted(const struct reconciler *r, const char *last)
{
	const char *least = NULL;
	for (uint32_t i = 0; r->job && i < r->job->task_groups.count; i++) {
		const char *name = ARRAY_AT(&r->job->task_groups, struct task_group, i)->name;
		if ((!last || strcmp(name, last) > 0) && (!least || strcmp(name, least) < 0))
			least = name;
	}
	CHECK(!least || !last || strcmp(least, last) > 0);
	return least;
}

static const char *group_name(const struct member *m)
{
	return allocation_group(m->allocation)->name;
}

static uint32_t span_of(const struct reconciler *r, uint32_t first, const char *name)
{
	CHECK(first <= r->member_count);
	uint32_t i = first;
	const char *known = name;
	for (; i < r->member_count; i++) {
		const char *other = group_name(&r->members[i]);
		if (other != known && strcmp(other, name) != 0)
			break;
		known = other;
	}
	CHECK(i >= first && i <= r->member_count);
	return i - first;
}

static void find_group(struct group_pass *g, const struct job *job)
{
	int at = job && !job->stop ? job_group_index(job, text_of(g->name)) : -1;
	if (at < 0)
		return;
	g->number = (uint32_t)at;
	g->group = ARRAY_AT(&job->task_groups, struct task_group, at);
	CHECK(g->number < job->task_groups.count);
}

bool next_group(struct reconciler *r, struct group_pass *g)
{
	const struct member *end = g->members ? g->members + g->count : r->members;
	uint32_t first = (uint32_t)(end - r->members);
	const char *wanted = next_wanted(r, g->name);
	const char *there = first < r->member_count ? group_name(&r->members[first]) : NULL;
	const char *name = !there || (wanted && strcmp(wanted, there) < 0) ? wanted : there;
	if (!name)
		return false;
	*g = (struct group_pass){.r = r, .name = name, .members = r->members + first};
	g->count = span_of(r, first, name);
	find_group(g, r->job);
	CHECK(first + g->count <= r->member_count);
	return true;
}
