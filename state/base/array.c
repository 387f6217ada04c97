#include "state/base/array.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define LIST_SHORT 64u

void *array_append(struct array *a, size_t bytes_each)
{
	CHECK(a->count < UINT32_MAX);
	size_t bytes = ((size_t)a->count + 1) * bytes_each;
	// Most lists are short and kept for long: they have no spare room. A long one grows by half: to move it for
	// each item costs the square of its length.
	if (a->count < LIST_SHORT)
		a->items = memory_resize(a->items, bytes);
	else if (malloc_usable_size(a->items) < bytes)
		a->items = memory_resize(a->items, bytes + bytes / 2);
	void *item = (char *)a->items + (size_t)a->count++ * bytes_each;
	memset(item, 0, bytes_each);
	return item;
}

uint32_t items_sort_unique(
	void *items, uint32_t count, size_t bytes_each, int (*compare)(const void *, const void *))
{
	char *at = items;
	uint32_t kept = count > 0;

	if (count > 1)
		qsort(items, count, bytes_each, compare);
	for (uint32_t i = 1; i < count; i++) {
		const char *item = at + (size_t)i * bytes_each;
		if (compare(at + (size_t)(kept - 1) * bytes_each, item) != 0)
			memmove(at + (size_t)kept++ * bytes_each, item, bytes_each);
	}
	return kept;
}

static int name_compare(const void *a, const void *b)
{
	const char *p = *(char *const *)a, *q = *(char *const *)b;
	return strcmp(p ? p : "", q ? q : "");
}

bool map_sort(struct array *a, size_t bytes_each)
{
	if (a->count < 2)
		return true;
	qsort(a->items, a->count, bytes_each, name_compare);
	const char *item = a->items;
	for (uint32_t i = 1; i < a->count; i++)
		if (name_compare(item + (i - 1) * bytes_each, item + i * bytes_each) == 0)
			return false;
	return true;
}

bool map_find(const struct array *a, size_t bytes_each, const char *name, uint32_t *at)
{
	uint32_t low = 0, high = a->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const char *there = *(char *const *)((char *)a->items + middle * bytes_each);
		int order = strcmp(name, there ? there : "");
		if (order == 0) {
			*at = middle;
			return true;
		}
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	*at = low;
	return false;
}

void map_free(struct array *a, size_t bytes_each)
{
	for (uint32_t i = 0; i < a->count; i++)
		free(*(char **)((char *)a->items + i * bytes_each));
	free(a->items);
	*a = (struct array){0};
}

const char *map_get(const struct array *a, const char *name)
{
	uint32_t at;
	return map_find(a, sizeof(struct string_pair), name, &at)
		       ? ARRAY_AT(a, struct string_pair, at)->value
		       : NULL;
}

void *map_item(struct array *a, size_t bytes_each, const char *name)
{
	uint32_t at;
	if (map_find(a, bytes_each, name, &at))
		return (char *)a->items + at * bytes_each;
	array_append(a, bytes_each);
	char *item = (char *)a->items + at * bytes_each;
	memmove(item + bytes_each, item, (a->count - 1 - at) * bytes_each);
	memset(item, 0, bytes_each);
	*(char **)item = text_copy(text_of(name));
	return item;
}
