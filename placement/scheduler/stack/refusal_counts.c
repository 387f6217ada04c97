#include "placement/scheduler/stack/refusal_counts.h"
#include "placement/scheduler/common/growing.h"
#include "state/base/check.h"
#include "state/base/text.h"
#include <stdlib.h>
#include <string.h>

#define BUCKETS_FIRST 16u

void refusal_counts_release(struct refusal_counts *t)
{
	free(t->items);
	free(t->sorted);
	free(t->buckets);
}

// Returns the place of a count's number (counted from 1), or where it would go. Pointers tell reasons and class names
// apart, as each is kept once; where one is not, the metrics add up equal texts.
static uint32_t *find_count(
	const struct refusal_counts *t, const char *reason, const char *class_name)
{
	CHECK(t->buckets);
	uint64_t hash = ((uint64_t)(uintptr_t)reason * 31 + (uint64_t)(uintptr_t)class_name) *
			0x9e3779b97f4a7c15ull;
	uint32_t at = (uint32_t)(hash >> 32) & t->mask;
	for (; t->buckets[at]; at = (at + 1) & t->mask) {
		const struct refusal_count *refusal_count = &t->items[t->buckets[at] - 1];
		if (refusal_count->reason == reason && refusal_count->class_name == class_name)
			break;
	}
	return &t->buckets[at];
}

static void grow_buckets(struct refusal_counts *t)
{
	t->mask = t->buckets ? t->mask * 2 + 1 : BUCKETS_FIRST - 1;
	free(t->buckets);
	t->buckets = memory_take_array((size_t)t->mask + 1, sizeof *t->buckets);
	for (uint32_t i = 0; i < t->count; i++)
		*find_count(t, t->items[i].reason, t->items[i].class_name) = i + 1;
	CHECK(t->count <= t->mask);
}

// Sorts counts by reason, so that the maps of metrics are made in order.
static void sort_in(struct refusal_counts *t, uint32_t number)
{
	CHECK(number == t->count);
	uint32_t low = 0, high = number;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (strcmp(t->items[t->sorted[middle]].reason, t->items[number].reason) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	memmove(&t->sorted[low + 1], &t->sorted[low], (number - low) * sizeof *t->sorted);
	t->sorted[low] = number;
}

static struct refusal_count *add_count(
	struct refusal_counts *t, const char *reason, const char *class_name)
{
	uint32_t sorted_room = t->room;
	GROW(t->items, t->count, t->room);
	if (sorted_room != t->room)
		t->sorted = memory_resize(t->sorted, t->room * sizeof *t->sorted);
	t->items[t->count] = (struct refusal_count){.reason = reason, .class_name = class_name};
	sort_in(t, t->count);
	CHECK(t->count < t->room);
	return &t->items[t->count++];
}

void refusal_counts_add(struct refusal_counts *t, const char *reason, const char *class_name,
	enum stack_outcome outcome, int64_t by)
{
	CHECK(reason && outcome != STACK_FITS);
	if (by == 0)
		return;
	if (!t->buckets || t->count > t->mask / 2)
		grow_buckets(t);
	uint32_t *number = find_count(t, reason, class_name);
	struct refusal_count *refusal_count =
		*number ? &t->items[*number - 1] : add_count(t, reason, class_name);
	if (!*number)
		*number = t->count;
	refusal_count->outcome = outcome;
	refusal_count->count += by;
	CHECK(refusal_count->count >= 0);
}

static void count_one(const struct refusal_count *t, struct alloc_metrics *m)
{
	CHECK(t->outcome != STACK_FITS);
	bool filtered = t->outcome == STACK_FILTERED;
	*(filtered ? &m->nodes_filtered : &m->nodes_exhausted) += t->count;
	if (t->class_name && t->class_name[0])
		count_add(filtered ? &m->class_filtered : &m->class_exhausted, t->class_name,
			t->count);
}

// Makes the map of one outcome's reasons. Texts come in order, so each is appended.
static void count_reasons(
	const struct refusal_counts *t, enum stack_outcome outcome, struct array *counts)
{
	CHECK(counts->count == 0);
	struct named_count *items = memory_take_array(t->count + 1, sizeof *items), *last = NULL;
	for (uint32_t i = 0; i < t->count; i++) {
		const struct refusal_count *refusal_count = &t->items[t->sorted[i]];
		if (refusal_count->count == 0 || refusal_count->outcome != outcome)
			continue;
		if (last && strcmp(last->name, refusal_count->reason) == 0) {
			last->count += refusal_count->count;
			continue;
		}
		last = &items[counts->count++];
		*last = (struct named_count){
			text_copy(text_of(refusal_count->reason)), refusal_count->count};
	}
	counts->items = items;
}

static void add_reasons(
	const struct refusal_counts *t, enum stack_outcome outcome, struct array *counts)
{
	for (uint32_t i = 0; i < t->count; i++)
		if (t->items[i].count != 0 && t->items[i].outcome == outcome)
			count_add(counts, t->items[i].reason, t->items[i].count);
}

void refusal_counts_report(const struct refusal_counts *t, struct alloc_metrics *m)
{
	for (uint32_t i = 0; i < t->count; i++)
		if (t->items[i].count != 0)
			count_one(&t->items[i], m);
	for (enum stack_outcome o = STACK_FILTERED; t->count && o <= STACK_EXHAUSTED; o++) {
		struct array *counts =
			o == STACK_FILTERED ? &m->constraint_filtered : &m->dimension_exhausted;
		if (counts->items)
			add_reasons(t, o, counts);
		else
			count_reasons(t, o, counts);
	}
}
