#include "placement/direct/classes/class_tallies.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include <stdlib.h>
#include <string.h>

void class_tallies_release(struct class_tallies *t)
{
	for (uint32_t i = 0; i < t->available_count; i++)
		free(t->available[i].datacenter);
	for (uint32_t i = 0; i < t->refused_count; i++) {
		free(t->refused[i].refusal);
		free(t->refused[i].class_name);
	}
	for (uint32_t i = 0; i < t->short_count; i++)
		free(t->shorts[i].class_name);
	free(t->available);
	free(t->refused);
	free(t->shorts);
}

void class_tallies_clear(struct class_tallies *t)
{
	for (uint32_t i = 0; i < t->available_count; i++)
		t->available[i].nodes = 0;
	for (uint32_t i = 0; i < t->refused_count; i++)
		t->refused[i].nodes = t->refused[i].classes = 0;
	for (uint32_t i = 0; i < t->short_count; i++)
		memset(t->shorts[i].nodes, 0, sizeof t->shorts[i].nodes);
	t->candidates = 0;
}

// The array with room for one more.
static void *grown(void *items, uint32_t count, uint32_t *room, size_t bytes_each)
{
	if (count < *room)
		return items;
	*room = *room ? 2 * *room : 8;
	return memory_resize(items, *room * bytes_each);
}

static char *copy_of(const char *text)
{
	return text_copy(text_of(text ? text : ""));
}

static bool is_same(const char *kept, const char *text)
{
	return strcmp(kept, text ? text : "") == 0;
}

uint32_t class_tallies_available(struct class_tallies *t, const char *datacenter)
{
	for (uint32_t i = 0; i < t->available_count; i++)
		if (is_same(t->available[i].datacenter, datacenter))
			return i;
	t->available =
		grown(t->available, t->available_count, &t->available_room, sizeof t->available[0]);
	t->available[t->available_count] =
		(struct available_tally){.datacenter = copy_of(datacenter)};
	return t->available_count++;
}

uint32_t class_tallies_refused(
	struct class_tallies *t, const char *refusal, const char *class_name, enum refused_by by)
{
	for (uint32_t i = 0; i < t->refused_count; i++)
		if (t->refused[i].by == by && is_same(t->refused[i].refusal, refusal) &&
			is_same(t->refused[i].class_name, class_name))
			return i;
	t->refused = grown(t->refused, t->refused_count, &t->refused_room, sizeof t->refused[0]);
	t->refused[t->refused_count] = (struct refused_tally){
		.refusal = copy_of(refusal), .class_name = copy_of(class_name), .by = by};
	return t->refused_count++;
}

uint32_t class_tallies_short(struct class_tallies *t, const char *class_name)
{
	for (uint32_t i = 0; i < t->short_count; i++)
		if (is_same(t->shorts[i].class_name, class_name))
			return i;
	t->shorts = grown(t->shorts, t->short_count, &t->short_room, sizeof t->shorts[0]);
	t->shorts[t->short_count] = (struct short_tally){.class_name = copy_of(class_name)};
	return t->short_count++;
}
