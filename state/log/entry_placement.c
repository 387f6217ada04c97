#include "state/log/entry_placement.h"
#include "state/base/error.h"
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

void entry_alloc_place_encode(const void *body, struct bytes_writer *w)
{
	const struct entry_alloc_place *p = body;

	bytes_put_uuid(w, &p->id);
	bytes_put_u32(w, p->slot);
	bytes_put_u32(w, p->generation);
	bytes_put_u32(w, p->client);
	bytes_put_u64(w, p->job_version);
	bytes_put_u16(w, p->group);
	bytes_put_u32(w, p->number);
	resources_encode(p->resources, w);
	bytes_put_f64(w, p->score);
	bytes_put_u32(w, p->nodes_evaluated);
	bytes_put_u32(w, p->nodes_feasible);
	device_set_encode(&p->devices, w);
}

int entry_alloc_place_decode(void *body, struct bytes_reader *r)
{
	struct entry_alloc_place *p = body;

	p->id = bytes_take_uuid(r);
	p->slot = bytes_take_u32(r);
	p->generation = bytes_take_u32(r);
	p->client = bytes_take_u32(r);
	p->job_version = bytes_take_u64(r);
	p->group = bytes_take_u16(r);
	p->number = bytes_take_u32(r);
	p->resources = resources_decode(r);
	p->score = bytes_take_f64(r);
	p->nodes_evaluated = bytes_take_u32(r);
	p->nodes_feasible = bytes_take_u32(r);
	p->devices = device_set_decode(r);
	return r->failed ? -ERROR_CORRUPT : 0;
}

void entry_place_request_encode(const void *body, struct bytes_writer *w)
{
	const struct entry_place_request *p = body;

	bytes_put_u32(w, p->client);
	bytes_put_u64(w, (uint64_t)p->issued_ms);
	bytes_put_u64(w, p->request);
	bytes_put_u32(w, p->nodes_feasible);
	bytes_put_u8(w, p->count);
	for (uint8_t i = 0; i < p->count; i++) {
		bytes_put_uuid(w, &p->items[i].allocation);
		bytes_put_uuid(w, &p->items[i].node);
		bytes_put_u32(w, p->items[i].node_slot);
		bytes_put_f64(w, p->items[i].score);
	}
}

// Reads the number of allocations of one request; fails when it is out of range.
static uint8_t place_count_decode(struct bytes_reader *r)
{
	uint8_t count = bytes_take_u8(r);

	if (count == 0 || count > PLACE_COUNT_MAX)
		r->failed = true;
	return count;
}

int entry_place_request_decode(void *body, struct bytes_reader *r)
{
	struct entry_place_request *p = body;

	p->client = bytes_take_u32(r);
	p->issued_ms = (int64_t)bytes_take_u64(r);
	p->request = bytes_take_u64(r);
	p->nodes_feasible = bytes_take_u32(r);
	p->requested = p->count = place_count_decode(r);
	for (uint8_t i = 0; i < p->count && !r->failed; i++) {
		p->items[i].allocation = bytes_take_uuid(r);
		p->items[i].node = bytes_take_uuid(r);
		p->items[i].node_slot = bytes_take_u32(r);
		p->items[i].score = bytes_take_f64(r);
	}
	return r->failed ? -ERROR_CORRUPT : 0;
}

void entry_place_in_part_encode(const void *body, struct bytes_writer *w)
{
	const struct entry_place_request *p = body;

	bytes_put_u8(w, p->requested);
	entry_place_request_encode(p, w);
}

int entry_place_in_part_decode(void *body, struct bytes_reader *r)
{
	struct entry_place_request *p = body;
	uint8_t requested = place_count_decode(r);
	int error = entry_place_request_decode(p, r);

	p->requested = requested;
	return error ? error : requested > p->count ? 0 : -ERROR_CORRUPT;
}

void entry_alloc_release_encode(const void *body, struct bytes_writer *w)
{
	const struct entry_alloc_release *e = body;

	bytes_put_u8(w, e->count);
	for (uint8_t i = 0; i < e->count; i++)
		bytes_put_uuid(w, &e->ids[i]);
}

int entry_alloc_release_decode(void *body, struct bytes_reader *r)
{
	struct entry_alloc_release *e = body;

	e->count = place_count_decode(r);
	for (uint8_t i = 0; i < e->count && !r->failed; i++)
		e->ids[i] = bytes_take_uuid(r);
	return r->failed ? -ERROR_CORRUPT : 0;
}
