#include "placement/direct/classes/class_values.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include "state/records/shared_strings.h"
#include <stdlib.h>
#include <string.h>

#define BUCKETS_FIRST 16u
#define IN_NO_CHAIN UINT32_MAX

static uint32_t *find_bucket(const struct class_values *v, const char *text)
{
	uint32_t at = (uint32_t)hash_bytes(0, text, (uint32_t)strlen(text)) & v->mask;
	while (v->buckets[at] && strcmp(v->texts[v->buckets[at]], text) != 0)
		at = (at + 1) & v->mask;
	return &v->buckets[at];
}

static void grow_buckets(struct class_values *v)
{
	v->mask = v->buckets ? 2 * v->mask + 1 : BUCKETS_FIRST - 1;
	free(v->buckets);
	v->buckets = memory_take_array((size_t)v->mask + 1, sizeof v->buckets[0]);
	for (uint32_t i = 1; i < v->count; i++)
		*find_bucket(v, v->texts[i]) = i;
}

static uint32_t add_value(struct class_values *v, char *text)
{
	if (v->count == v->room) {
		v->room = v->room ? 2 * v->room : 8;
		v->texts = memory_resize(v->texts, v->room * sizeof v->texts[0]);
		v->first = memory_resize(v->first, v->room * sizeof v->first[0]);
	}
	v->texts[v->count] = text;
	v->first[v->count] = 0;
	return v->count++;
}

void class_values_begin(struct class_values *v)
{
	*v = (struct class_values){0};
	grow_buckets(v);
	CHECK(add_value(v, NULL) == 0);
}

void class_values_release(struct class_values *v)
{
	for (uint32_t i = 0; i < v->count; i++)
		free(v->texts[i]);
	free(v->texts);
	free(v->first);
	free(v->buckets);
	free(v->number_of);
	free(v->next);
	free(v->previous);
}

void class_values_make_room(struct class_values *v, uint32_t classes)
{
	v->number_of = memory_resize(v->number_of, classes * sizeof v->number_of[0]);
	v->next = memory_resize(v->next, classes * sizeof v->next[0]);
	v->previous = memory_resize(v->previous, classes * sizeof v->previous[0]);
	for (; v->class_room < classes; v->class_room++)
		v->number_of[v->class_room] = IN_NO_CHAIN;
}

uint32_t class_values_find(const struct class_values *v, const char *text)
{
	if (!text)
		return 0;
	uint32_t number = *find_bucket(v, text);
	return number ? number : CLASS_VALUE_UNKNOWN;
}

static uint32_t number_for(struct class_values *v, const char *text)
{
	uint32_t number = class_values_find(v, text);

	if (number != CLASS_VALUE_UNKNOWN)
		return number;
	if (2 * v->count > v->mask)
		grow_buckets(v);
	number = add_value(v, text_copy(text_of(text)));
	*find_bucket(v, text) = number;
	return number;
}

static void leave_chain(struct class_values *v, uint32_t node_class)
{
	uint32_t next = v->next[node_class], previous = v->previous[node_class];

	if (previous)
		v->next[previous - 1] = next;
	else
		v->first[v->number_of[node_class]] = next;
	if (next)
		v->previous[next - 1] = previous;
}

void class_values_put(struct class_values *v, uint32_t node_class, const char *text)
{
	CHECK(node_class < v->class_room);
	uint32_t number = number_for(v, text);

	if (v->number_of[node_class] != IN_NO_CHAIN)
		leave_chain(v, node_class);
	v->number_of[node_class] = number;
	v->next[node_class] = v->first[number];
	v->previous[node_class] = 0;
	if (v->first[number])
		v->previous[v->first[number] - 1] = node_class + 1;
	v->first[number] = node_class + 1;
}
