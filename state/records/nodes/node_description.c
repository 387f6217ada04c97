#include "state/records/nodes/node_description.h"
#include "state/records/nodes/node_pairs.h"
#include "state/records/nodes/node_worker.h"
#include <stdlib.h>

static int text_compare(struct text a, struct text b)
{
	uint32_t size = a.size < b.size ? a.size : b.size;
	int order = size ? memcmp(a.data, b.data, size) : 0;

	return order ? order : (a.size > b.size) - (a.size < b.size);
}

static int pair_compare(const void *left, const void *right)
{
	const struct node_pair *a = left, *b = right;

	return a->kind != b->kind ? a->kind - b->kind : text_compare(a->name, b->name);
}

static int device_group_compare(const void *left, const void *right)
{
	const struct node_device_group *a = left, *b = right;
	int order = text_compare(a->vendor, b->vendor);

	order = order ? order : text_compare(a->type, b->type);
	return order ? order : text_compare(a->name, b->name);
}

static bool is_text(struct text text, uint32_t least, uint32_t most)
{
	return text.size >= least && text.size <= most && text_is_printable(text);
}

static bool pairs_are_sound(const struct node_registration *d)
{
	if (d->pair_count > NODE_PAIRS_MAX)
		return false;
	for (uint32_t i = 0; i < d->pair_count; i++) {
		const struct node_pair *pair = &d->pairs[i];
		if (pair->kind >= PAIR_KINDS || !is_text(pair->name, 1, ATTRIBUTE_NAME_BYTES_MAX) ||
			!is_text(pair->value, 0, ATTRIBUTE_VALUE_BYTES_MAX))
			return false;
		if (i > 0 && pair_compare(pair - 1, pair) >= 0)
			return false;
	}
	return true;
}

static bool devices_are_sound(const struct node_registration *d)
{
	if (d->device_group_count > NODE_DEVICE_GROUPS_MAX)
		return false;
	for (uint32_t i = 0; i < d->device_group_count; i++) {
		const struct node_device_group *group = &d->device_groups[i];
		if (!is_text(group->vendor, 0, ATTRIBUTE_NAME_BYTES_MAX) ||
			!is_text(group->type, 1, ATTRIBUTE_NAME_BYTES_MAX) ||
			!is_text(group->name, 0, ATTRIBUTE_NAME_BYTES_MAX) ||
			group->instances > NODE_DEVICES_MAX)
			return false;
		if (i > 0 && device_group_compare(group - 1, group) >= 0)
			return false;
	}
	return true;
}

bool node_description_is_sound(const struct node_registration *d)
{
	return !uuid_is_zero(&d->node) && is_text(d->name, 0, NAME_BYTES_MAX) &&
	       is_text(d->datacenter, 1, NAME_BYTES_MAX) &&
	       is_text(d->class_name, 0, NAME_BYTES_MAX) && is_text(d->pool, 1, NAME_BYTES_MAX) &&
	       !text_equal(d->pool, TEXT("all")) && is_text(d->address, 0, NAME_BYTES_MAX) &&
	       is_text(d->version, 0, NAME_BYTES_MAX) && pairs_are_sound(d) &&
	       devices_are_sound(d) && node_pairs_are_sound(d) && node_worker_is_sound(d);
}

void node_description_sort(struct node_registration *d)
{
	qsort(d->pairs, d->pair_count, sizeof d->pairs[0], pair_compare);
	qsort(d->device_groups, d->device_group_count, sizeof d->device_groups[0],
		device_group_compare);
}

bool node_description_complete(struct node_registration *d)
{
	if (d->pair_count > NODE_ATTRIBUTES_MAX || d->device_group_count > NODE_DEVICE_GROUPS_MAX)
		return false;
	if (d->pool.size == 0)
		d->pool = TEXT("default");
	if (d->datacenter.size == 0)
		d->datacenter = TEXT("dc1");
	node_description_sort(d);
	return node_description_is_sound(d);
}
