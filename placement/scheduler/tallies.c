// Refused nodes by reason and node class name.
#include "placement/scheduler/columns.h"
#include "state/base/memory.h"
#include <stdlib.h>

#define BUCKETS_FIRST 16u

// Reasons and class names are kept once each, so that pointers tell them apart; where they are not, the metrics
// add up what is equal.
static struct tally *find(const struct tallies *t, const char *reason, const char *class_name)
{
	uint64_t hash = ((uint64_t)(uintptr_t)reason * 31 + (uint64_t)(uintptr_t)class_name) *
			0x9e3779b97f4a7c15ull;
	uint32_t at = (uint32_t)(hash >> 32) & t->mask;
	while (t->buckets[at].reason &&
		(t->buckets[at].reason != reason || t->buckets[at].class_name != class_name))
		at = (at + 1) & t->mask;
	return &t->buckets[at];
}

static void grow(struct tallies *t)
{
	struct tallies wider = {.mask = t->buckets ? t->mask * 2 + 1 : BUCKETS_FIRST - 1};
	wider.buckets = memory_take_array(wider.mask + 1, sizeof *wider.buckets);
	wider.used = t->used;
	for (uint32_t i = 0; t->buckets && i <= t->mask; i++)
		if (t->buckets[i].reason)
			*find(&wider, t->buckets[i].reason, t->buckets[i].class_name) =
				t->buckets[i];
	free(t->buckets);
	*t = wider;
}

void tallies_add(struct tallies *t, const char *reason, const struct node *n,
	enum stack_outcome outcome, int by)
{
	const char *class_name = n->node_class->class_name;
	if (!t->buckets || t->used > t->mask / 2)
		grow(t);
	struct tally *tally = find(t, reason, class_name);
	t->used += !tally->reason;
	tally->reason = reason;
	tally->class_name = class_name;
	tally->outcome = outcome;
	tally->count += by;
}

static void count_one(const struct tally *t, struct alloc_metrics *m)
{
	bool filtered = t->outcome == STACK_FILTERED;
	*(filtered ? &m->nodes_filtered : &m->nodes_exhausted) += t->count;
	count_add(
		filtered ? &m->constraint_filtered : &m->dimension_exhausted, t->reason, t->count);
	if (t->class_name && t->class_name[0])
		count_add(filtered ? &m->class_filtered : &m->class_exhausted, t->class_name,
			t->count);
}

void tallies_count(const struct tallies *t, struct alloc_metrics *m)
{
	for (uint32_t i = 0; t->buckets && i <= t->mask; i++)
		if (t->buckets[i].reason && t->buckets[i].count != 0)
			count_one(&t->buckets[i], m);
}
