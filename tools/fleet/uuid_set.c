#include "tools/fleet/uuid_set.h"
#include "state/base/memory.h"
#include <stdlib.h>

static bool insert(struct uuid_set *set, const struct uuid *id)
{
	uint32_t at = (uint32_t)uuid_hash(id) & set->mask;
	while (!uuid_is_zero(&set->ids[at])) {
		if (uuid_equal(&set->ids[at], id))
			return false;
		at = (at + 1) & set->mask;
	}
	set->ids[at] = *id;
	return true;
}

static void uuid_set_grow(struct uuid_set *set)
{
	struct uuid_set larger = {.mask = set->ids ? set->mask * 2 + 1 : 1023};
	larger.ids = memory_take_array((size_t)larger.mask + 1, sizeof *larger.ids);
	for (uint32_t i = 0; set->ids && i <= set->mask; i++)
		if (!uuid_is_zero(&set->ids[i]))
			insert(&larger, &set->ids[i]);
	larger.count = set->count;
	free(set->ids);
	*set = larger;
}

bool uuid_set_add(struct uuid_set *set, const struct uuid *id)
{
	if (!set->ids || set->count > set->mask / 2)
		uuid_set_grow(set);
	if (uuid_is_zero(id) || !insert(set, id))
		return false;
	set->count++;
	return true;
}

void uuid_set_free(struct uuid_set *set)
{
	free(set->ids);
	*set = (struct uuid_set){0};
}
