#include "state/log/entry_alloc.h"
#include "state/log/entry_parts.h"
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

static void reported_alloc_code(struct coder *c, struct reported_alloc *item)
{
	uint8_t healthy = optional_bits(item->healthy);
	uint8_t flags = (uint8_t)((item->report ? HAS_REPORT : 0) | (item->flaky ? IS_FLAKY : 0) |
				  (item->unready ? IS_UNREADY : 0));

	code_uuid(c, &item->id);
	code_u8(c, &item->client_status);
	code_u8(c, &healthy);
	code_u8(c, &flags);
	coder_require(c, item->client_status <= ALLOC_FAILED && healthy <= 2 && flags < ITEM_FLAGS);
	if (c->reader) {
		item->healthy = optional_of(healthy);
		item->flaky = flags & IS_FLAKY;
		item->unready = flags & IS_UNREADY;
	}
	if (flags & HAS_REPORT)
		code_report(c, &item->report);
}

void entry_alloc_update_code(struct coder *c, void *body)
{
	struct entry_alloc_update *e = body;

	code_u32(c, &e->slot);
	code_u32(c, &e->generation);
	code_u64(c, &e->sequence);
	code_flag(c, &e->readiness);
	code_items(c, (void **)&e->items, &e->count, sizeof e->items[0], UPDATE_BYTES_LEAST);
	coder_require(c, e->count <= ENTRY_ALLOCS_MAX);
	for (uint32_t i = 0; i < e->count; i++)
		reported_alloc_code(c, &e->items[i]);
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

static void transition_code(struct coder *c, struct desired_transition *t)
{
	uint8_t bits = (uint8_t)(optional_bits(t->migrate) | optional_bits(t->reschedule) << 2 |
				 optional_bits(t->force_reschedule) << 4 |
				 optional_bits(t->no_shutdown_delay) << 6);

	code_u8(c, &bits);
	if (c->reader)
		*t = (struct desired_transition){optional_of(bits & 3), optional_of(bits >> 2 & 3),
			optional_of(bits >> 4 & 3), optional_of(bits >> 6)};
}

void entry_alloc_transition_code(struct coder *c, void *body)
{
	struct entry_alloc_transition *e = body;

	code_items(c, (void **)&e->items, &e->count, sizeof e->items[0], TRANSITION_BYTES_LEAST);
	coder_require(c, e->count > 0 && e->count <= ENTRY_ALLOCS_MAX);
	for (uint32_t i = 0; i < e->count; i++) {
		code_uuid(c, &e->items[i].id);
		transition_code(c, &e->items[i].transition);
	}
}

void entry_alloc_transition_release(void *body)
{
	struct entry_alloc_transition *e = body;

	free(e->items);
	e->items = NULL;
	e->count = 0;
}
