#include "state/log/entry_deployment.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/log/entry_plan.h"
#include <stdlib.h>

// The least that one takes, which bounds a count before memory is taken for it.
#define GROUP_BYTES_LEAST 2u
#define HEALTH_BYTES 17u
#define UPDATE_BYTES_LEAST 19u

static uint32_t take_count(struct bytes_reader *r, uint32_t bytes_least)
{
	uint32_t count = bytes_take_u32(r);

	if (count > bytes_left(r) / bytes_least)
		r->failed = true;
	return r->failed ? 0 : count;
}

static void put_status(int status, struct text description, struct bytes_writer *w)
{
	bytes_put_u8(w, (uint8_t)status);
	bytes_put_text16(w, description);
}

static int take_deployment(struct deployment **deployment, struct bytes_reader *r)
{
	struct deployment *d = deployment_create();
	int error = record_decode(&deployment_description, d, r);

	if (error)
		deployment_free(d);
	else
		*deployment = d;
	return error;
}

// --- Entries -------------------------------------------------------------------------------------

void entry_deployment_encode(const struct entry_deployment *e, struct bytes_writer *w)
{
	bytes_put_u8(w, e->change);
	if (e->change == DEPLOYMENT_BEGINS) {
		record_encode(&deployment_description, e->deployment, w);
		return;
	}
	bytes_put_uuid(w, &e->id);
	if (e->change == DEPLOYMENT_CHANGES_STATUS) {
		put_status(e->status, e->description, w);
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

static void take_groups(struct entry_deployment *e, struct bytes_reader *r)
{
	e->count = take_count(r, GROUP_BYTES_LEAST);
	e->groups = memory_take_array(e->count + 1, sizeof e->groups[0]);
	for (uint32_t i = 0; i < e->count; i++)
		e->groups[i] = bytes_take_text16(r);
}

static void take_health(struct entry_deployment *e, struct bytes_reader *r)
{
	e->count = take_count(r, HEALTH_BYTES);
	e->items = memory_take_array(e->count + 1, sizeof e->items[0]);
	for (uint32_t i = 0; i < e->count; i++) {
		e->items[i].id = bytes_take_uuid(r);
		uint8_t healthy = bytes_take_u8(r);
		e->items[i].healthy = healthy == 1;
		r->failed |= healthy > 1;
	}
}

int entry_deployment_decode(struct entry_deployment *e, struct bytes_reader *r)
{
	*e = (struct entry_deployment){.change = bytes_take_u8(r)};
	if (r->failed || e->change >= DEPLOYMENT_CHANGES)
		return -ERROR_CORRUPT;
	if (e->change == DEPLOYMENT_BEGINS)
		return take_deployment(&e->deployment, r);
	e->id = bytes_take_uuid(r);
	if (e->change == DEPLOYMENT_CHANGES_STATUS) {
		e->status = bytes_take_u8(r);
		e->description = bytes_take_text16(r);
	} else if (e->change == DEPLOYMENT_IS_PROMOTED) {
		take_groups(e, r);
	} else {
		take_health(e, r);
	}
	if (!r->failed)
		return 0;
	entry_deployment_release(e);
	return -ERROR_CORRUPT;
}

void entry_deployment_release(struct entry_deployment *e)
{
	deployment_free(e->deployment);
	free(e->groups);
	free(e->items);
	e->deployment = NULL;
	e->groups = NULL;
	e->items = NULL;
	e->count = 0;
}

// --- In plans ------------------------------------------------------------------------------------

void plan_deployments_encode(const struct entry_plan *e, struct bytes_writer *w)
{
	bytes_put_u8(w, e->deployment != NULL);
	if (e->deployment)
		record_encode(&deployment_description, e->deployment, w);
	bytes_put_u32(w, e->deployment_updates.count);
	for (uint32_t i = 0; i < e->deployment_updates.count; i++) {
		const struct deployment_update *u =
			ARRAY_AT(&e->deployment_updates, struct deployment_update, i);
		bytes_put_uuid(w, &u->id);
		put_status(u->status, text_of(u->description), w);
	}
}

static int take_updates(struct array *updates, struct bytes_reader *r)
{
	uint32_t count = take_count(r, UPDATE_BYTES_LEAST);

	if (count > 0)
		updates->items = memory_take_array(count, sizeof(struct deployment_update));
	while (updates->count < count && !r->failed) {
		struct deployment_update *u =
			ARRAY_AT(updates, struct deployment_update, updates->count++);
		u->id = bytes_take_uuid(r);
		u->status = bytes_take_u8(r);
		u->description = text_copy(bytes_take_text16(r));
	}
	return r->failed ? -ERROR_CORRUPT : 0;
}

int plan_deployments_decode(struct entry_plan *e, struct bytes_reader *r)
{
	uint8_t begins = bytes_take_u8(r);
	int error = r->failed || begins > 1 ? -ERROR_CORRUPT : 0;

	if (!error && begins)
		error = take_deployment(&e->deployment, r);
	return error ? error : take_updates(&e->deployment_updates, r);
}

void plan_deployments_release(struct entry_plan *e)
{
	for (uint32_t i = 0; i < e->deployment_updates.count; i++)
		free(ARRAY_AT(&e->deployment_updates, struct deployment_update, i)->description);
	free(e->deployment_updates.items);
	deployment_free(e->deployment);
}
