#include "state/log/entry_node.h"
#include "state/base/error.h"
#include "state/base/schema_table.h"
#include "state/log/entry_parts.h"
#include "state/records/nodes/node_description.h"

static const struct field entry_node_status_fields[] = {
	{"Slot", FIELD_U32, OF(entry_node_status, slot)},
	{"Generation", FIELD_U32, OF(entry_node_status, generation)},
	{"Status", FIELD_U8, OF(entry_node_status, status)},
	{"Cause", FIELD_U8, OF(entry_node_status, cause)},
	{"Readiness", FIELD_BOOL, OF(entry_node_status, readiness)},
};
DESCRIBE(entry_node_status_description, entry_node_status);

static const struct field entry_node_eligibility_fields[] = {
	{"Slot", FIELD_U32, OF(entry_node_eligibility, slot)},
	{"Generation", FIELD_U32, OF(entry_node_eligibility, generation)},
	{"Eligibility", FIELD_U8, OF(entry_node_eligibility, eligibility)},
};
DESCRIBE(entry_node_eligibility_description, entry_node_eligibility);

static const struct field entry_node_purge_fields[] = {
	{"Slot", FIELD_U32, OF(entry_node_purge, slot)},
	{"Generation", FIELD_U32, OF(entry_node_purge, generation)},
};
DESCRIBE(entry_node_purge_description, entry_node_purge);

void node_description_encode(const struct node_registration *d, struct bytes_writer *w)
{
	bytes_put_uuid(w, &d->node);
	bytes_put_u64(w, d->sequence);
	resources_encode(d->total, w);
	resources_encode(d->reserved, w);
	bytes_put_text8(w, d->name);
	bytes_put_text8(w, d->datacenter);
	bytes_put_text8(w, d->class_name);
	bytes_put_text8(w, d->pool);
	bytes_put_text8(w, d->address);
	bytes_put_text8(w, d->version);
	bytes_put_u8(w, (uint8_t)d->device_group_count);
	for (uint32_t i = 0; i < d->device_group_count; i++) {
		bytes_put_text8(w, d->device_groups[i].vendor);
		bytes_put_text8(w, d->device_groups[i].type);
		bytes_put_text8(w, d->device_groups[i].name);
		bytes_put_u8(w, d->device_groups[i].instances);
	}
	bytes_put_u16(w, (uint16_t)d->pair_count);
	for (uint32_t i = 0; i < d->pair_count; i++) {
		bytes_put_u8(w, d->pairs[i].kind);
		bytes_put_text8(w, d->pairs[i].name);
		bytes_put_text16(w, d->pairs[i].value);
	}
}

static void take_device_groups(struct node_registration *d, struct bytes_reader *r)
{
	d->device_group_count = bytes_take_u8(r);
	if (d->device_group_count > NODE_DEVICE_GROUPS_MAX)
		r->failed = true;
	for (uint32_t i = 0; i < d->device_group_count && !r->failed; i++) {
		d->device_groups[i].vendor = bytes_take_text8(r);
		d->device_groups[i].type = bytes_take_text8(r);
		d->device_groups[i].name = bytes_take_text8(r);
		d->device_groups[i].instances = bytes_take_u8(r);
	}
}

static void take_pairs(struct node_registration *d, struct bytes_reader *r)
{
	d->pair_count = bytes_take_u16(r);
	if (d->pair_count > NODE_PAIRS_MAX)
		r->failed = true;
	for (uint32_t i = 0; i < d->pair_count && !r->failed; i++) {
		d->pairs[i].kind = bytes_take_u8(r);
		d->pairs[i].name = bytes_take_text8(r);
		d->pairs[i].value = bytes_take_text16(r);
	}
}

bool node_description_decode(struct node_registration *d, struct bytes_reader *r)
{
	d->node = bytes_take_uuid(r);
	d->sequence = bytes_take_u64(r);
	d->total = resources_decode(r);
	d->reserved = resources_decode(r);
	d->name = bytes_take_text8(r);
	d->datacenter = bytes_take_text8(r);
	d->class_name = bytes_take_text8(r);
	d->pool = bytes_take_text8(r);
	d->address = bytes_take_text8(r);
	d->version = bytes_take_text8(r);
	take_device_groups(d, r);
	take_pairs(d, r);
	return !r->failed;
}

void entry_node_register_encode(const void *body, struct bytes_writer *w)
{
	const struct entry_node_register *e = body;

	bytes_put_u32(w, e->slot);
	bytes_put_u32(w, e->generation);
	bytes_put_u16(w, e->owner);
	bytes_put_u8(w, e->readiness);
	node_description_encode(e->description, w);
}

int entry_node_register_decode(void *body, struct bytes_reader *r)
{
	struct entry_node_register *e = body;

	e->slot = bytes_take_u32(r);
	e->generation = bytes_take_u32(r);
	e->owner = bytes_take_u16(r);
	e->readiness = flag_decode(r);
	return node_description_decode(e->description, r) &&
			       node_description_is_sound(e->description)
		       ? 0
		       : -ERROR_CORRUPT;
}

void entry_node_register_peek(struct bytes_reader r, uint32_t *slot, struct uuid *node)
{
	*slot = bytes_take_u32(&r);
	(void)bytes_take_u32(&r); // generation
	(void)bytes_take_u16(&r); // owner
	(void)bytes_take_u8(&r);  // readiness
	*node = bytes_take_uuid(&r);
}

int entry_node_awaited_decode(void *body, struct bytes_reader *r)
{
	((struct entry_node_register *)body)->is_awaited = true;
	return entry_node_register_decode(body, r);
}

void entry_node_drain_encode(const void *body, struct bytes_writer *w)
{
	const struct entry_node_drain *e = body;

	bytes_put_u32(w, e->slot);
	bytes_put_u32(w, e->generation);
	bytes_put_u8(w, e->end);
	bytes_put_u8(w, e->ignore_system_jobs);
	bytes_put_u8(w, e->mark_eligible);
	bytes_put_u64(w, (uint64_t)e->deadline_ns);
	drain_meta_encode(e->meta.items, e->meta.count, w);
}

int entry_node_drain_decode(void *body, struct bytes_reader *r)
{
	struct entry_node_drain *e = body;

	e->slot = bytes_take_u32(r);
	e->generation = bytes_take_u32(r);
	e->end = bytes_take_u8(r);
	e->ignore_system_jobs = flag_decode(r);
	e->mark_eligible = flag_decode(r);
	e->deadline_ns = (int64_t)bytes_take_u64(r);
	return !r->failed && drain_meta_decode(&e->meta, r) ? 0 : -ERROR_CORRUPT;
}

void entry_node_drain_release(void *body)
{
	struct entry_node_drain *e = body;

	drain_meta_release(&e->meta);
}
