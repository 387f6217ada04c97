#include "placement/scheduler/reconcile/id_set.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>
#include <string.h>

void id_set_add_all(struct id_set *set, const struct array *ids)
{
	if (!ids->count)
		return;
	set->ids = memory_resize(set->ids, (set->count + ids->count) * sizeof *set->ids);
	memcpy(set->ids + set->count, ids->items, ids->count * sizeof *set->ids);
	set->count += ids->count;
	CHECK(set->count >= ids->count);
}

void id_set_sort(struct id_set *set)
{
	if (set->count > 1)
		qsort(set->ids, set->count, sizeof *set->ids, uuid_order);
}

bool id_set_has(const struct id_set *set, const struct uuid *id)
{
	return set->count && bsearch(id, set->ids, set->count, sizeof *id, uuid_order);
}

void id_set_release(struct id_set *set)
{
	free(set->ids);
	*set = (struct id_set){0};
}
