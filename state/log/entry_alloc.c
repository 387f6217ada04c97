#include "state/log/entry_alloc.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/log/entry_parts.h"
#include "state/records/alloc_details.h"
#include "state/records/allocation.h"
#include <stdlib.h>

#define UPDATE_BYTES_LEAST 19u
#define TRANSITION_BYTES_LEAST 17u

enum { HAS_REPORT = 1, IS_FLAKY = 2, IS_UNREADY = 4, ITEM_FLAGS = 8 };

// An optional bool in two bits.
static uint8_t optional_bits(struct optional_bool b)
{
	return b.set ? (uint8_t)(1 + b.value) : 0;
}

static struct optional_bool optional_of(uint8_t bits)
{
	return (struct optional_bool){.set = bits > 0, .value = bits == 2};
}

void entry_alloc_update_encode(const void *body, struct bytes_writer *w)
{
	const struct entry_alloc_update *e = body;

	bytes_put_u32(w, e->slot);
	bytes_put_u32(w, e->generation);
	bytes_put_u64(w, e->sequence);
	bytes_put_u8(w, e->readiness);
	bytes_put_u32(w, e->count);
	for (uint32_t i = 0; i < e->count; i++) {
		const struct reported_alloc *item = &e->items[i];
		bytes_put_uuid(w, &item->id);
		bytes_put_u8(w, item->client_status);
		bytes_put_u8(w, optional_bits(item->healthy));
		bytes_put_u8(w,
			(uint8_t)((item->report ? HAS_REPORT : 0) | (item->flaky ? IS_FLAKY : 0) |
				  (item->unready ? IS_UNREADY : 0)));
		if (item->report)
			alloc_report_encode(item->report, w);
	}
}

static int reported_alloc_decode(struct reported_alloc *item, struct bytes_reader *r)
{
	item->id = bytes_take_uuid(r);
	item->client_status = bytes_take_u8(r);
	uint8_t healthy = bytes_take_u8(r);
	uint8_t flags = bytes_take_u8(r);
	item->healthy = optional_of(healthy);
	item->flaky = flags & IS_FLAKY;
	item->unready = flags & IS_UNREADY;
	if (r->failed || item->client_status > ALLOC_FAILED || healthy > 2 || flags >= ITEM_FLAGS)
		return -ERROR_CORRUPT;
	return flags & HAS_REPORT ? alloc_report_decode(&item->report, r) : 0;
}

static bool item_count_decode(uint32_t *count, uint32_t bytes_least, struct bytes_reader *r)
{
	*count = bytes_take_u32(r);
	return !r->failed && *count <= ENTRY_ALLOCS_MAX && *count <= bytes_left(r) / bytes_least;
}

int entry_alloc_update_decode(void *body, struct bytes_reader *r)
{
	struct entry_alloc_update *e = body;
	uint32_t count;
	int error = 0;

	*e = (struct entry_alloc_update){.slot = bytes_take_u32(r)};
	e->generation = bytes_take_u32(r);
	e->sequence = bytes_take_u64(r);
	e->readiness = flag_decode(r);
	if (!item_count_decode(&count, UPDATE_BYTES_LEAST, r))
		return -ERROR_CORRUPT;
	e->items = memory_take_array(count, sizeof e->items[0]);
	while (!error && e->count < count)
		error = reported_alloc_decode(&e->items[e->count++], r);
	if (error)
		entry_alloc_update_release(e);
	return error;
}

void entry_alloc_update_release(void *body)
{
	struct entry_alloc_update *e = body;

	for (uint32_t i = 0; i < e->count; i++)
		alloc_report_release(e->items[i].report);
	free(e->items);
	e->items = NULL;
	e->count = 0;
}

void entry_alloc_transition_encode(const void *body, struct bytes_writer *w)
{
	const struct entry_alloc_transition *e = body;

	bytes_put_u32(w, e->count);
	for (uint32_t i = 0; i < e->count; i++) {
		const struct desired_transition *t = &e->items[i].transition;
		bytes_put_uuid(w, &e->items[i].id);
		bytes_put_u8(
			w, (uint8_t)(optional_bits(t->migrate) | optional_bits(t->reschedule) << 2 |
				     optional_bits(t->force_reschedule) << 4 |
				     optional_bits(t->no_shutdown_delay) << 6));
	}
}

int entry_alloc_transition_decode(void *body, struct bytes_reader *r)
{
	struct entry_alloc_transition *e = body;
	uint32_t count;

	*e = (struct entry_alloc_transition){0};
	if (!item_count_decode(&count, TRANSITION_BYTES_LEAST, r) || count == 0)
		return -ERROR_CORRUPT;
	e->items = memory_take_array(count, sizeof e->items[0]);
	while (e->count < count) {
		struct alloc_transition *item = &e->items[e->count++];
		item->id = bytes_take_uuid(r);
		uint8_t bits = bytes_take_u8(r);
		item->transition = (struct desired_transition){optional_of(bits & 3),
			optional_of(bits >> 2 & 3), optional_of(bits >> 4 & 3),
			optional_of(bits >> 6)};
	}
	if (!r->failed)
		return 0;
	entry_alloc_transition_release(e);
	return -ERROR_CORRUPT;
}

void entry_alloc_transition_release(void *body)
{
	struct entry_alloc_transition *e = body;

	free(e->items);
	e->items = NULL;
	e->count = 0;
}
