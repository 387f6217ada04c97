#include "state/log/entry_placement.h"
#include "state/base/schema_table.h"
#include "state/log/entry_parts.h"

static const struct field entry_client_fields[] = {
	{"Number", FIELD_U32, OF(entry_client, number)},
	{"Name", FIELD_TEXT, OF(entry_client, name)},
};
DESCRIBE(entry_client_description, entry_client);

static const struct field entry_collect_fields[] = {
	{"EndedBefore", FIELD_I64, OF(entry_collect, ended_before_ns)},
	{"IssuedBefore", FIELD_I64, OF(entry_collect, issued_before_ms)},
	{"Limit", FIELD_U32, OF(entry_collect, limit)},
};
DESCRIBE(entry_collect_description, entry_collect);

void entry_alloc_place_code(struct coder *c, void *body)
{
	struct entry_alloc_place *p = body;

	code_uuid(c, &p->id);
	code_u32(c, &p->slot);
	code_u32(c, &p->generation);
	code_u32(c, &p->client);
	code_u64(c, &p->job_version);
	code_u16(c, &p->group);
	code_u32(c, &p->number);
	resources_code(c, &p->resources);
	code_f64(c, &p->score);
	code_u32(c, &p->nodes_evaluated);
	code_u32(c, &p->nodes_feasible);
	device_set_code(c, &p->devices);
}

// The number of allocations of one request; 0 when it is out of range, and reading fails.
static void place_count_code(struct coder *c, uint8_t *count)
{
	code_u8(c, count);
	coder_require(c, *count > 0 && *count <= PLACE_COUNT_MAX);
	if (c->reader && !coder_has_read(c))
		*count = 0;
}

void entry_place_request_code(struct coder *c, void *body)
{
	struct entry_place_request *p = body;

	code_u32(c, &p->client);
	code_i64(c, &p->issued_ms);
	code_u64(c, &p->request);
	code_u32(c, &p->nodes_feasible);
	place_count_code(c, &p->count);
	for (uint8_t i = 0; i < p->count; i++) {
		code_uuid(c, &p->items[i].allocation);
		code_uuid(c, &p->items[i].node);
		code_u32(c, &p->items[i].node_slot);
		code_f64(c, &p->items[i].score);
	}
	if (c->reader)
		p->requested = p->count;
}

void entry_place_in_part_code(struct coder *c, void *body)
{
	struct entry_place_request *p = body;
	uint8_t requested = p->requested;

	place_count_code(c, &requested);
	entry_place_request_code(c, p);
	coder_require(c, requested > p->count);
	if (c->reader)
		p->requested = requested;
}

void entry_alloc_release_code(struct coder *c, void *body)
{
	struct entry_alloc_release *e = body;

	place_count_code(c, &e->count);
	for (uint8_t i = 0; i < e->count; i++)
		code_uuid(c, &e->ids[i]);
}
