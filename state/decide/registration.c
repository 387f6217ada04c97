#include "state/decide/registration.h"
#include "state/base/memory.h"
#include "state/log/entry.h"
#include "state/records/node_pairs.h"
#include <stdlib.h>
#include <urcu/list.h>

#define BUCKETS (2 * REGISTER_PENDING_MAX)

// --- Rules ---------------------------------------------------------------------------------------

static int text_compare(struct text a, struct text b)
{
	uint32_t size = a.size < b.size ? a.size : b.size;
	int order = size ? memcmp(a.data, b.data, size) : 0;

	return order ? order : (a.size > b.size) - (a.size < b.size);
}

static int pair_compare(const void *left, const void *right)
{
	const struct command_pair *a = left, *b = right;

	return a->kind != b->kind ? a->kind - b->kind : text_compare(a->name, b->name);
}

static int device_group_compare(const void *left, const void *right)
{
	const struct command_device_group *a = left, *b = right;
	int order = text_compare(a->vendor, b->vendor);

	order = order ? order : text_compare(a->type, b->type);
	return order ? order : text_compare(a->name, b->name);
}

static bool is_text(struct text text, uint32_t least, uint32_t most)
{
	return text.size >= least && text.size <= most && text_is_printable(text);
}

static bool pairs_are_sound(const struct command_node_register *d)
{
	if (d->pair_count > NODE_ATTRIBUTES_MAX)
		return false;
	for (uint32_t i = 0; i < d->pair_count; i++) {
		const struct command_pair *pair = &d->pairs[i];
		if (pair->kind >= PAIR_KINDS || !is_text(pair->name, 1, ATTRIBUTE_NAME_BYTES_MAX) ||
			!is_text(pair->value, 0, ATTRIBUTE_VALUE_BYTES_MAX))
			return false;
		if (i > 0 && pair_compare(pair - 1, pair) >= 0)
			return false;
	}
	return true;
}

static bool devices_are_sound(const struct command_node_register *d)
{
	if (d->device_group_count > NODE_DEVICE_GROUPS_MAX)
		return false;
	for (uint32_t i = 0; i < d->device_group_count; i++) {
		const struct command_device_group *group = &d->device_groups[i];
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

bool node_description_is_sound(const struct command_node_register *d)
{
	return !uuid_is_zero(&d->node) && is_text(d->name, 0, NAME_BYTES_MAX) &&
	       is_text(d->datacenter, 1, NAME_BYTES_MAX) &&
	       is_text(d->class_name, 0, NAME_BYTES_MAX) && is_text(d->pool, 1, NAME_BYTES_MAX) &&
	       !text_equal(d->pool, TEXT("all")) && is_text(d->address, 0, NAME_BYTES_MAX) &&
	       is_text(d->version, 0, NAME_BYTES_MAX) && pairs_are_sound(d) &&
	       devices_are_sound(d) && node_pairs_are_sound(d);
}

void node_description_sort(struct command_node_register *d)
{
	qsort(d->pairs, d->pair_count, sizeof d->pairs[0], pair_compare);
	qsort(d->device_groups, d->device_group_count, sizeof d->device_groups[0],
		device_group_compare);
}

bool node_description_complete(struct command_node_register *d)
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

// --- Parts ---------------------------------------------------------------------------------------

// A registration that is not complete yet. Its parts are kept as bytes, since the packets are not.
struct pending {
	struct uuid node;
	uint64_t sequence;
	uint8_t parts;
	uint8_t have; // bit by part
	struct bytes_writer bytes[REGISTER_PARTS_MAX];
	struct pending *next;      // of its bucket
	struct cds_list_head aged; // oldest first
};

struct registrations {
	struct pending *buckets[BUCKETS];
	struct cds_list_head oldest;
	uint32_t count;
	struct command_node_register part; // scratch
};

struct registrations *registrations_create(void)
{
	struct registrations *r = memory_take(sizeof *r);

	CDS_INIT_LIST_HEAD(&r->oldest);
	return r;
}

static struct pending **find(struct registrations *r, const struct uuid *node)
{
	struct pending **link = &r->buckets[uuid_hash(node) % BUCKETS];

	while (*link && !uuid_equal(&(*link)->node, node))
		link = &(*link)->next;
	return link;
}

void registrations_forget(struct registrations *r, const struct uuid *node)
{
	struct pending **link = find(r, node), *p = *link;

	if (!p)
		return;
	*link = p->next;
	cds_list_del(&p->aged);
	for (uint32_t i = 0; i < REGISTER_PARTS_MAX; i++)
		bytes_writer_free(&p->bytes[i]);
	free(p);
	r->count--;
}

void registrations_destroy(struct registrations *r)
{
	if (!r)
		return;
	while (!cds_list_empty(&r->oldest)) {
		struct uuid node = cds_list_first_entry(&r->oldest, struct pending, aged)->node;
		registrations_forget(r, &node);
	}
	free(r);
}

static struct pending *begin(struct registrations *r, const struct command_node_register *part)
{
	if (r->count == REGISTER_PENDING_MAX) {
		struct uuid node = cds_list_first_entry(&r->oldest, struct pending, aged)->node;
		registrations_forget(r, &node);
	}

	struct pending *p = memory_take(sizeof *p);
	struct pending **head = &r->buckets[uuid_hash(&part->node) % BUCKETS];
	p->node = part->node;
	p->sequence = part->sequence;
	p->parts = part->parts;
	p->next = *head;
	*head = p;
	cds_list_add_tail(&p->aged, &r->oldest);
	r->count++;
	return p;
}

static bool append_pairs(
	struct command_node_register *whole, const struct command_node_register *part)
{
	if (whole->pair_count + part->pair_count > NODE_ATTRIBUTES_MAX)
		return false;
	memcpy(whole->pairs + whole->pair_count, part->pairs,
		part->pair_count * sizeof part->pairs[0]);
	whole->pair_count += part->pair_count;
	return true;
}

static bool assemble(
	struct registrations *r, const struct pending *p, struct command_node_register *whole)
{
	for (uint8_t i = 0; i < p->parts; i++) {
		struct bytes_reader reader = bytes_reader_over(p->bytes[i].data, p->bytes[i].size);
		if (!node_description_decode(i ? &r->part : whole, &reader))
			return false;
		if (i && !append_pairs(whole, &r->part))
			return false;
	}
	return true;
}

static bool store_part(struct pending *p, const struct command_node_register *part)
{
	struct bytes_writer *w = &p->bytes[part->part];

	if (p->have & (1u << part->part))
		return true;
	*w = bytes_writer_growing(FRAME_BYTES_MAX);
	node_description_encode(part, w);
	p->have |= (uint8_t)(1u << part->part);
	return !w->failed;
}

static enum command_outcome add_part(struct registrations *r, struct pending *p,
	const struct command_node_register *part, struct command_node_register *whole)
{
	if (p->parts != part->parts || !store_part(p, part)) {
		registrations_forget(r, &part->node);
		return OUTCOME_BAD_DESCRIPTION;
	}
	if (p->have != (1u << p->parts) - 1)
		return OUTCOME_PART_STORED;
	if (assemble(r, p, whole))
		return OUTCOME_DONE;
	registrations_forget(r, &part->node);
	return OUTCOME_BAD_DESCRIPTION;
}

enum command_outcome registrations_add(struct registrations *r,
	const struct command_node_register *part, struct command_node_register *whole,
	uint64_t *newest)
{
	if (part->parts == 0 || part->parts > REGISTER_PARTS_MAX || part->part >= part->parts ||
		part->pair_count > NODE_ATTRIBUTES_MAX ||
		part->device_group_count > NODE_DEVICE_GROUPS_MAX)
		return OUTCOME_BAD_DESCRIPTION;

	struct pending *p = *find(r, &part->node);
	if (p && p->sequence > part->sequence) {
		*newest = p->sequence;
		return OUTCOME_STALE_REGISTRATION;
	}
	if (p && p->sequence < part->sequence) {
		registrations_forget(r, &part->node);
		p = NULL;
	}
	if (part->parts > 1)
		return add_part(r, p ? p : begin(r, part), part, whole);

	size_t fixed = offsetof(struct command_node_register, pairs);
	memcpy(whole, part, fixed + part->pair_count * sizeof part->pairs[0]);
	return OUTCOME_DONE;
}
