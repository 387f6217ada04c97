#include "tools/api/name_set.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include <stdlib.h>

// Where the name is, or where it would be.
static uint32_t place_of(const struct name_set *set, const char *name)
{
	uint32_t low = 0, high = set->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (strcmp(set->names[middle], name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool name_set_has(const struct name_set *set, const char *name)
{
	uint32_t at = place_of(set, name);
	return at < set->count && strcmp(set->names[at], name) == 0;
}

void name_set_add(struct name_set *set, const char *name)
{
	if (name_set_has(set, name))
		return;
	uint32_t at = place_of(set, name);
	if (set->count == set->capacity) {
		set->capacity = set->capacity ? set->capacity * 2 : 16;
		set->names = memory_resize(set->names, set->capacity * sizeof set->names[0]);
	}
	memmove(&set->names[at + 1], &set->names[at], (set->count - at) * sizeof set->names[0]);
	set->names[at] = text_copy(text_of(name));
	set->count++;
}

void name_set_free(struct name_set *set)
{
	for (uint32_t i = 0; i < set->count; i++)
		free(set->names[i]);
	free(set->names);
	*set = (struct name_set){0};
}
