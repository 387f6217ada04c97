#include "state/log/entry_node.h"
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

static void device_groups_code(struct coder *c, struct node_registration *d)
{
	uint8_t count = (uint8_t)d->device_group_count;

	code_u8(c, &count);
	coder_require(c, count <= NODE_DEVICE_GROUPS_MAX);
	if (c->reader)
		d->device_group_count = coder_has_read(c) ? count : 0;
	for (uint32_t i = 0; i < d->device_group_count; i++) {
		code_text8(c, &d->device_groups[i].vendor);
		code_text8(c, &d->device_groups[i].type);
		code_text8(c, &d->device_groups[i].name);
		code_u8(c, &d->device_groups[i].instances);
	}
}

static void pairs_code(struct coder *c, struct node_registration *d)
{
	uint16_t count = (uint16_t)d->pair_count;

	code_u16(c, &count);
	coder_require(c, count <= NODE_PAIRS_MAX);
	if (c->reader)
		d->pair_count = coder_has_read(c) ? count : 0;
	for (uint32_t i = 0; i < d->pair_count; i++) {
		code_u8(c, &d->pairs[i].kind);
		code_text8(c, &d->pairs[i].name);
		code_text16(c, &d->pairs[i].value);
	}
}

void node_description_code(struct coder *c, void *value)
{
	struct node_registration *d = value;

	code_uuid(c, &d->node);
	code_u64(c, &d->sequence);
	resources_code(c, &d->total);
	resources_code(c, &d->reserved);
	code_text8(c, &d->name);
	code_text8(c, &d->datacenter);
	code_text8(c, &d->class_name);
	code_text8(c, &d->pool);
	code_text8(c, &d->address);
	code_text8(c, &d->version);
	device_groups_code(c, d);
	pairs_code(c, d);
}

void entry_node_register_code(struct coder *c, void *body)
{
	struct entry_node_register *e = body;

	code_u32(c, &e->slot);
	code_u32(c, &e->generation);
	code_u16(c, &e->owner);
	code_flag(c, &e->readiness);
	if (c->reader)
		e->stored = *c->reader;
	node_description_code(c, e->description);
	if (coder_has_read(c))
		coder_require(c, node_description_is_sound(e->description));
}

void entry_node_awaited_code(struct coder *c, void *body)
{
	struct entry_node_register *e = body;

	if (c->reader)
		e->is_awaited = true;
	entry_node_register_code(c, e);
}

void entry_node_drain_code(struct coder *c, void *body)
{
	struct entry_node_drain *e = body;

	code_u32(c, &e->slot);
	code_u32(c, &e->generation);
	code_u8(c, &e->end);
	code_flag(c, &e->ignore_system_jobs);
	code_flag(c, &e->mark_eligible);
	code_i64(c, &e->deadline_ns);
	drain_meta_code(c, &e->meta);
}

void entry_node_drain_release(void *body)
{
	struct entry_node_drain *e = body;
	drain_meta_release(&e->meta);
}
