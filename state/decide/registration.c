#include "state/decide/registration.h"
#include "state/base/memory.h"
#include "state/log/entry.h"
#include <stdlib.h>
#include <urcu/list.h>

#define BUCKETS (2 * REGISTER_PENDING_MAX)

// An incomplete registration. It copies the parts as bytes, since packets do not last.
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
	struct node_registration part; // scratch
};

struct registrations *registrations_create(void)
{
	struct registrations *r = memory_take(sizeof *r);

	CDS_INIT_LIST_HEAD(&r->oldest);
	return r;
}

static struct pending **pending_find(struct registrations *r, const struct uuid *node)
{
	struct pending **link = &r->buckets[uuid_hash(node) % BUCKETS];

	while (*link && !uuid_equal(&(*link)->node, node))
		link = &(*link)->next;
	return link;
}

void registrations_forget(struct registrations *r, const struct uuid *node)
{
	struct pending **link = pending_find(r, node), *p = *link;

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

static struct pending *pending_begin(struct registrations *r, const struct node_registration *part)
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

static bool append_pairs(struct node_registration *whole, const struct node_registration *part)
{
	if (whole->pair_count + part->pair_count > NODE_ATTRIBUTES_MAX)
		return false;
	memcpy(whole->pairs + whole->pair_count, part->pairs,
		part->pair_count * sizeof part->pairs[0]);
	whole->pair_count += part->pair_count;
	return true;
}

static bool assemble(
	struct registrations *r, const struct pending *p, struct node_registration *whole)
{
	for (uint8_t i = 0; i < p->parts; i++) {
		struct bytes_reader reader = bytes_reader_over(p->bytes[i].data, p->bytes[i].size);
		if (coder_read(node_description_code, i ? &r->part : whole, &reader) != 0)
			return false;
		if (i && !append_pairs(whole, &r->part))
			return false;
	}
	return true;
}

static bool store_part(struct pending *p, const struct node_registration *part)
{
	struct bytes_writer *w = &p->bytes[part->part];

	if (p->have & (1u << part->part))
		return true;
	*w = bytes_writer_growing(FRAME_BYTES_MAX);
	coder_write(node_description_code, part, w);
	p->have |= (uint8_t)(1u << part->part);
	return !w->failed;
}

static enum command_outcome add_part(struct registrations *r, struct pending *p,
	const struct node_registration *part, struct node_registration *whole)
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
	const struct node_registration *part, struct node_registration *whole, uint64_t *newest)
{
	if (part->parts == 0 || part->parts > REGISTER_PARTS_MAX || part->part >= part->parts ||
		part->pair_count > NODE_ATTRIBUTES_MAX ||
		part->device_group_count > NODE_DEVICE_GROUPS_MAX)
		return OUTCOME_BAD_DESCRIPTION;

	struct pending *p = *pending_find(r, &part->node);
	if (p && p->sequence > part->sequence) {
		*newest = p->sequence;
		return OUTCOME_STALE_REGISTRATION;
	}
	if (p && p->sequence < part->sequence) {
		registrations_forget(r, &part->node);
		p = NULL;
	}
	if (part->parts > 1)
		return add_part(r, p ? p : pending_begin(r, part), part, whole);

	size_t fixed = offsetof(struct node_registration, pairs);
	memcpy(whole, part, fixed + part->pair_count * sizeof part->pairs[0]);
	return OUTCOME_DONE;
}
