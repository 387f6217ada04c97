#include "tools/api/metrics/metric_set.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>

static struct metric *metric_add(
	struct metric_set *set, enum metric_family family, const char *labels)
{
	if (set->count == set->capacity) {
		set->capacity = set->capacity ? set->capacity * 2 : 128;
		set->items = memory_resize(set->items, set->capacity * sizeof set->items[0]);
	}
	struct metric *m = &set->items[set->count];
	*m = (struct metric){.family = family, .order = set->count++};
	m->labels = text_copy(text_of(labels));
	return m;
}

static void add_value(void *sink, enum metric_family family, const char *labels, double value)
{
	CHECK(metric_descriptions[family].type != METRIC_TYPE_HISTOGRAM);
	metric_add(sink, family, labels)->value = value;
}

static void add_histogram(void *sink, enum metric_family family,
	const uint64_t buckets[METRIC_BUCKETS], double sum_us)
{
	CHECK(metric_descriptions[family].type == METRIC_TYPE_HISTOGRAM);
	struct metric *m = metric_add(sink, family, "");
	memcpy(m->buckets, buckets, sizeof m->buckets);
	m->sum_us = sum_us;
}

struct metric_sink metric_set_sink(struct metric_set *set)
{
	return (struct metric_sink){set, add_value, add_histogram};
}

static int by_name(const void *a, const void *b)
{
	const struct metric *x = a, *y = b;
	int names =
		strcmp(metric_descriptions[x->family].name, metric_descriptions[y->family].name);
	return names ? names : (x->order > y->order) - (x->order < y->order);
}

void metric_set_sort(struct metric_set *set)
{
	if (set->count)
		qsort(set->items, set->count, sizeof set->items[0], by_name);
}

void metric_set_free(struct metric_set *set)
{
	for (uint32_t i = 0; i < set->count; i++)
		free(set->items[i].labels);
	free(set->items);
	*set = (struct metric_set){0};
}
