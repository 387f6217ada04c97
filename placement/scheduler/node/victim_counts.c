#include "placement/scheduler/node/victim_counts.h"
#include "placement/scheduler/common/allocation_facts.h"
#include "placement/scheduler/common/growing.h"
#include "state/base/check.h"
#include "state/records/shared_strings.h"
#include <stdlib.h>
#include <string.h>

#define BUCKETS_FIRST 16u

void victim_counts_release(struct victim_counts *v)
{
	free(v->buckets);
	free(v->order);
	*v = (struct victim_counts){0};
}

static uint32_t hash_of(const struct allocation *a)
{
	const char *texts[] = {a->job->namespace_name, a->job->id, allocation_group(a)->name};
	uint64_t hash = 0;
	for (uint32_t i = 0; i < 3; i++)
		hash = hash_bytes(hash, texts[i], (uint32_t)strlen(texts[i]));
	return (uint32_t)hash;
}

uint8_t victim_group_bit(const struct allocation *a)
{
	return (uint8_t)(hash_of(a) >> 26);
}

static bool same_group(const struct allocation *a, const struct allocation *b)
{
	return strcmp(a->job->id, b->job->id) == 0 &&
	       strcmp(allocation_group(a)->name, allocation_group(b)->name) == 0 &&
	       strcmp(a->job->namespace_name, b->job->namespace_name) == 0;
}

static struct victim_count *find_victims(const struct victim_counts *v, const struct allocation *a)
{
	CHECK(v->buckets);
	uint32_t at = hash_of(a) & v->mask;
	while (v->buckets[at].of && !same_group(v->buckets[at].of, a))
		at = (at + 1) & v->mask;
	return &v->buckets[at];
}

static void grow_buckets(struct victim_counts *v)
{
	struct victim_counts wider = *v;
	wider.mask = v->buckets ? v->mask * 2 + 1 : BUCKETS_FIRST - 1;
	wider.buckets = memory_take_array(wider.mask + 1, sizeof *wider.buckets);
	for (uint32_t i = 0; v->buckets && i <= v->mask; i++)
		if (v->buckets[i].of)
			*find_victims(&wider, v->buckets[i].of) = v->buckets[i];
	free(v->buckets);
	*v = wider;
	CHECK(v->used <= v->mask);
}

void victim_counts_add(struct victim_counts *v, const struct allocation *a)
{
	if (!v->buckets || v->used > v->mask / 2)
		grow_buckets(v);
	struct victim_count *entry = find_victims(v, a);
	v->used += !entry->of;
	entry->of = a;
	entry->count++;
	GROW(v->order, v->count, v->room);
	v->order[v->count++] = victim_group_bit(a);
	CHECK(entry->count > 0 && v->used <= v->mask);
}

uint32_t victim_counts_of(const struct victim_counts *v, const struct allocation *a)
{
	return v->buckets ? find_victims(v, a)->count : 0;
}
