#include "state/log/entry_deployment.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/log/entry_parts.h"
#include <stdlib.h>

// The least bytes of one item. They bound a count before memory is taken for it.
#define GROUP_BYTES_LEAST 2u
#define HEALTH_BYTES 17u

static void status_encode(int status, struct text description, struct bytes_writer *w)
{
	bytes_put_u8(w, (uint8_t)status);
	bytes_put_text16(w, description);
}

void entry_deployment_encode(const void *body, struct bytes_writer *w)
{
	const struct entry_deployment *e = body;

	bytes_put_u8(w, e->change);
	bytes_put_uuid(w, &e->id);
	if (e->change == DEPLOYMENT_CHANGES_STATUS) {
		status_encode(e->status, e->description, w);
		return;
	}
	bytes_put_u32(w, e->count);
	for (uint32_t i = 0; i < e->count; i++) {
		if (e->change == DEPLOYMENT_IS_PROMOTED) {
			bytes_put_text16(w, e->groups[i]);
			continue;
		}
		bytes_put_uuid(w, &e->items[i].id);
		bytes_put_u8(w, e->items[i].healthy);
	}
}

static void groups_decode(struct entry_deployment *e, struct bytes_reader *r)
{
	e->count = count_decode(r, GROUP_BYTES_LEAST);
	e->groups = memory_take_array(e->count + 1, sizeof e->groups[0]);
	for (uint32_t i = 0; i < e->count; i++)
		e->groups[i] = bytes_take_text16(r);
}

static void health_decode(struct entry_deployment *e, struct bytes_reader *r)
{
	e->count = count_decode(r, HEALTH_BYTES);
	e->items = memory_take_array(e->count + 1, sizeof e->items[0]);
	for (uint32_t i = 0; i < e->count; i++) {
		e->items[i].id = bytes_take_uuid(r);
		e->items[i].healthy = flag_decode(r);
	}
}

int entry_deployment_decode(void *body, struct bytes_reader *r)
{
	struct entry_deployment *e = body;

	*e = (struct entry_deployment){.change = bytes_take_u8(r)};
	if (r->failed || e->change >= DEPLOYMENT_CHANGES)
		return -ERROR_CORRUPT;
	e->id = bytes_take_uuid(r);
	if (e->change == DEPLOYMENT_CHANGES_STATUS) {
		e->status = bytes_take_u8(r);
		e->description = bytes_take_text16(r);
	} else if (e->change == DEPLOYMENT_IS_PROMOTED) {
		groups_decode(e, r);
	} else {
		health_decode(e, r);
	}
	if (!r->failed)
		return 0;
	entry_deployment_release(e);
	return -ERROR_CORRUPT;
}

void entry_deployment_release(void *body)
{
	struct entry_deployment *e = body;

	free(e->groups);
	free(e->items);
	e->groups = NULL;
	e->items = NULL;
	e->count = 0;
}
