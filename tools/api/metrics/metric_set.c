#include "tools/api/metrics/metric_set.h"
#include "state/base/memory.h"
#include <stdlib.h>

static struct metric *metric_add(
	struct metric_set *set, char kind, const char *name, const char *labels)
{
	if (set->count == set->capacity) {
		set->capacity = set->capacity ? set->capacity * 2 : 128;
		set->items = memory_resize(set->items, set->capacity * sizeof set->items[0]);
	}
	struct metric *m = &set->items[set->count];
	*m = (struct metric){.kind = kind, .order = set->count++};
	m->name = text_copy(text_of(name));
	m->labels = text_copy(text_of(labels));
	return m;
}

static void add_value(void *sink, char kind, const char *name, const char *labels, double value)
{
	metric_add(sink, kind, name, labels)->value = value;
}

static void add_histogram(void *sink, const char *name, const char *labels,
	const uint64_t buckets[METRIC_BUCKETS], double sum_us)
{
	struct metric *m = metric_add(sink, 'h', name, labels);
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
	int names = strcmp(x->name, y->name);
	return names ? names : (x->order > y->order) - (x->order < y->order);
}

void metric_set_sort(struct metric_set *set)
{
	if (set->count)
		qsort(set->items, set->count, sizeof set->items[0], by_name);
}

void metric_set_free(struct metric_set *set)
{
	for (uint32_t i = 0; i < set->count; i++) {
		free(set->items[i].name);
		free(set->items[i].labels);
	}
	free(set->items);
	*set = (struct metric_set){0};
}
