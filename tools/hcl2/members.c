// Members of objects and maps while they are collected.
#include "tools/hcl2/values.h"
#include <stdlib.h>

struct member_row {
	struct text key;
	const struct hcl2_value *item;
	uint32_t place;
};

void members_put(struct hcl2_run *run, struct members *members, struct text key,
	const struct hcl2_value *item)
{
	if (members->count == members->room) {
		uint32_t room = 2 * members->room + 8;
		struct text *keys = hcl2_take(run, room * sizeof *keys);
		const struct hcl2_value **items = hcl2_take(run, room * sizeof *items);
		if (members->count) {
			memcpy(keys, members->keys, members->count * sizeof *keys);
			memcpy(items, members->items, members->count * sizeof *items);
		}
		members->keys = keys;
		members->items = items;
		members->room = room;
	}
	members->keys[members->count] = key;
	members->items[members->count++] = item;
}

static int by_key(const void *a, const void *b)
{
	const struct member_row *left = a, *right = b;
	int order = text_order(left->key, right->key);
	return order ? order : (left->place > right->place) - (left->place < right->place);
}

void members_sort(struct hcl2_run *run, struct members *members)
{
	struct member_row *rows = hcl2_take(run, members->count * sizeof *rows);
	for (uint32_t i = 0; i < members->count; i++)
		rows[i] = (struct member_row){members->keys[i], members->items[i], i};
	qsort(rows, members->count, sizeof *rows, by_key);
	for (uint32_t i = 0; i < members->count; i++) {
		members->keys[i] = rows[i].key;
		members->items[i] = rows[i].item;
	}
}

const struct hcl2_value *members_object(struct hcl2_run *run, struct members *members)
{
	members_sort(run, members);
	uint32_t kept = 0;
	for (uint32_t i = 0; i < members->count; i++) {
		if (kept && text_equal(members->keys[kept - 1], members->keys[i]))
			kept--;
		members->keys[kept] = members->keys[i];
		members->items[kept++] = members->items[i];
	}
	members->count = kept;
	return value_object(run, members->items, members->keys, kept);
}

const struct hcl2_value *hcl2_object(struct hcl2_run *run, uint32_t count, const struct text *names,
	const struct hcl2_value *const *values)
{
	struct members members = {0};
	for (uint32_t i = 0; i < count; i++)
		members_put(run, &members, names[i], values[i]);
	return members_object(run, &members);
}
