// The body of a plan's entry. A placement leaves out what it has in common with the one before: a plan that fills a
// hundred thousand nodes says what it places once.
#include "state/log/entry_plan.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/log/entry_parts.h"
#include "state/records/deployment.h"
#include "state/records/metrics.h"
#include <stdlib.h>

// Which parts of a stop follow.
#define STOP_FOLLOWUP 1u
#define STOP_BY 2u
#define STOP_IS_LOST 4u
#define STOP_PARTS 7u

// Which parts of a placement or update follow; the others are as in the one before.
#define CHANGE_VERSION 1u
#define CHANGE_GROUP 2u
#define CHANGE_NAME 4u
#define CHANGE_RESOURCES 8u
#define CHANGE_DEVICES 16u
#define CHANGE_METRICS 32u
#define CHANGE_DETAILS 64u // absent: no details
#define CHANGE_REPORT 128u // of a placement; absent: no report

// The least bytes of one item. They bound a count before memory is taken for it.
#define STOP_BYTES_LEAST 18u
#define UPDATE_BYTES_LEAST 18u
#define PLACEMENT_BYTES_LEAST 29u
#define METRICS_BYTES_LEAST 2u
#define DEPLOYMENT_UPDATE_BYTES_LEAST 19u

struct common {
	uint64_t job_version;
	uint16_t group;
	uint32_t name_index, metrics;
	struct resources resources;
	struct device_set devices;
};

static const struct common nothing_before = {.metrics = PLAN_NO_METRICS};

static uint8_t common_parts(
	const struct common *c, const struct common *before, const struct alloc_details *details)
{
	uint8_t parts = details ? CHANGE_DETAILS : 0;

	if (c->job_version != before->job_version)
		parts |= CHANGE_VERSION;
	if (c->group != before->group)
		parts |= CHANGE_GROUP;
	if (c->name_index != before->name_index)
		parts |= CHANGE_NAME;
	if (memcmp(&c->resources, &before->resources, sizeof c->resources) != 0)
		parts |= CHANGE_RESOURCES;
	if (memcmp(&c->devices, &before->devices, sizeof c->devices) != 0)
		parts |= CHANGE_DEVICES;
	if (c->metrics != before->metrics)
		parts |= CHANGE_METRICS;
	return parts;
}

static void common_encode(const struct common *c, uint8_t parts,
	const struct alloc_details *details, struct bytes_writer *w)
{
	if (parts & CHANGE_VERSION)
		bytes_put_u64(w, c->job_version);
	if (parts & CHANGE_GROUP)
		bytes_put_u16(w, c->group);
	if (parts & CHANGE_NAME)
		bytes_put_u32(w, c->name_index);
	if (parts & CHANGE_RESOURCES)
		resources_encode(c->resources, w);
	if (parts & CHANGE_DEVICES)
		device_set_encode(&c->devices, w);
	if (parts & CHANGE_METRICS)
		bytes_put_u32(w, c->metrics);
	if (parts & CHANGE_DETAILS)
		record_encode(&alloc_details_description, details, w);
}

// Reads the parts that follow; the others stay as in the item before.
static int common_decode(
	struct common *c, uint8_t parts, struct alloc_details **details, struct bytes_reader *r)
{
	if (parts & CHANGE_VERSION)
		c->job_version = bytes_take_u64(r);
	if (parts & CHANGE_GROUP)
		c->group = bytes_take_u16(r);
	if (parts & CHANGE_NAME)
		c->name_index = bytes_take_u32(r);
	if (parts & CHANGE_RESOURCES)
		c->resources = resources_decode(r);
	if (parts & CHANGE_DEVICES)
		c->devices = device_set_decode(r);
	if (parts & CHANGE_METRICS)
		c->metrics = bytes_take_u32(r);
	if (r->failed)
		return -ERROR_CORRUPT;
	return parts & CHANGE_DETAILS ? alloc_details_decode(details, r) : 0;
}

static void stops_encode(const struct array *stops, struct bytes_writer *w)
{
	bytes_put_u32(w, stops->count);
	for (uint32_t i = 0; i < stops->count; i++) {
		const struct plan_stop *s = ARRAY_AT(stops, struct plan_stop, i);
		bool has_followup = !uuid_is_zero(&s->followup_eval);
		bool has_by = !uuid_is_zero(&s->preempted_by);
		bytes_put_uuid(w, &s->id);
		bytes_put_u8(w, s->cause);
		bytes_put_u8(w, (uint8_t)((has_followup ? STOP_FOLLOWUP : 0) |
					  (has_by ? STOP_BY : 0) | (s->lost ? STOP_IS_LOST : 0)));
		if (has_followup)
			bytes_put_uuid(w, &s->followup_eval);
		if (has_by)
			bytes_put_uuid(w, &s->preempted_by);
	}
}

// Reads the number of items that follow and takes memory for them.
static uint32_t items_begin(
	struct array *items, size_t bytes_each, uint32_t bytes_least, struct bytes_reader *r)
{
	uint32_t count = count_decode(r, bytes_least);

	items->items = count ? memory_take_array(count, bytes_each) : NULL;
	return count;
}

static int stops_decode(struct array *stops, struct bytes_reader *r)
{
	uint32_t count = items_begin(stops, sizeof(struct plan_stop), STOP_BYTES_LEAST, r);

	while (stops->count < count) {
		struct plan_stop *s = ARRAY_AT(stops, struct plan_stop, stops->count++);
		s->id = bytes_take_uuid(r);
		s->slot = NODE_SLOT_NONE;
		s->cause = bytes_take_u8(r);
		uint8_t parts = bytes_take_u8(r);
		s->lost = parts & STOP_IS_LOST;
		if (parts & STOP_FOLLOWUP)
			s->followup_eval = bytes_take_uuid(r);
		if (parts & STOP_BY)
			s->preempted_by = bytes_take_uuid(r);
		if (r->failed || s->cause >= STOP_CAUSES || (parts & ~STOP_PARTS))
			return -ERROR_CORRUPT;
	}
	return 0;
}

static void updates_encode(const struct array *updates, struct bytes_writer *w)
{
	struct common before = nothing_before;

	bytes_put_u32(w, updates->count);
	for (uint32_t i = 0; i < updates->count; i++) {
		const struct plan_update *u = ARRAY_AT(updates, struct plan_update, i);
		struct common now = {.job_version = u->job_version,
			.resources = u->resources,
			.devices = u->devices,
			.metrics = u->metrics};
		uint8_t parts = common_parts(&now, &before, u->details);
		bytes_put_uuid(w, &u->id);
		bytes_put_u8(w, u->client_status);
		bytes_put_u8(w, parts);
		common_encode(&now, parts, u->details, w);
		before = now;
	}
}

static int updates_decode(struct array *updates, struct bytes_reader *r)
{
	struct common now = nothing_before;
	uint32_t count = items_begin(updates, sizeof(struct plan_update), UPDATE_BYTES_LEAST, r);
	int error = 0;

	while (!error && updates->count < count) {
		struct plan_update *u = ARRAY_AT(updates, struct plan_update, updates->count++);
		u->id = bytes_take_uuid(r);
		u->slot = NODE_SLOT_NONE;
		u->client_status = bytes_take_u8(r);
		uint8_t parts = bytes_take_u8(r);
		error = parts & CHANGE_REPORT ? -ERROR_CORRUPT
					      : common_decode(&now, parts, &u->details, r);
		u->job_version = now.job_version;
		u->resources = now.resources;
		u->devices = now.devices;
		u->metrics = now.metrics;
		if (u->client_status != PLAN_KEEP && u->client_status != ALLOC_UNKNOWN)
			error = error ? error : -ERROR_CORRUPT;
	}
	return error;
}

static void placements_encode(const struct array *placements, struct bytes_writer *w)
{
	struct common before = nothing_before;

	bytes_put_u32(w, placements->count);
	for (uint32_t i = 0; i < placements->count; i++) {
		const struct plan_placement *p = ARRAY_AT(placements, struct plan_placement, i);
		struct common now = {p->job_version, p->group, p->name_index, p->metrics,
			p->resources, p->devices};
		uint8_t parts = common_parts(&now, &before, p->details);
		if (p->report)
			parts |= CHANGE_REPORT;
		bytes_put_uuid(w, &p->id);
		bytes_put_u32(w, p->slot);
		bytes_put_f64(w, p->score);
		bytes_put_u8(w, parts);
		common_encode(&now, parts, p->details, w);
		if (p->report)
			alloc_report_encode(p->report, w);
		before = now;
	}
}

static int placements_decode(struct array *placements, struct bytes_reader *r)
{
	struct common now = nothing_before;
	uint32_t count =
		items_begin(placements, sizeof(struct plan_placement), PLACEMENT_BYTES_LEAST, r);
	int error = 0;

	while (!error && placements->count < count) {
		struct plan_placement *p =
			ARRAY_AT(placements, struct plan_placement, placements->count++);
		p->id = bytes_take_uuid(r);
		p->slot = bytes_take_u32(r);
		p->score = bytes_take_f64(r);
		uint8_t parts = bytes_take_u8(r);
		error = common_decode(&now, parts, &p->details, r);
		if (!error && parts & CHANGE_REPORT)
			error = alloc_report_decode(&p->report, r);
		p->job_version = now.job_version;
		p->group = now.group;
		p->name_index = now.name_index;
		p->resources = now.resources;
		p->devices = now.devices;
		p->metrics = now.metrics;
	}
	return error;
}

static void metrics_encode(const struct array *metrics, struct bytes_writer *w)
{
	bytes_put_u32(w, metrics->count);
	for (uint32_t i = 0; i < metrics->count; i++)
		shared_metrics_encode(*ARRAY_AT(metrics, struct shared_metrics *, i), w);
}

static int metrics_decode(struct array *metrics, struct bytes_reader *r)
{
	uint32_t count =
		items_begin(metrics, sizeof(struct shared_metrics *), METRICS_BYTES_LEAST, r);
	int error = 0;

	while (!error && metrics->count < count) {
		struct shared_metrics **at =
			ARRAY_AT(metrics, struct shared_metrics *, metrics->count);
		error = shared_metrics_decode_after(at, metrics->count ? at[-1] : NULL, r);
		uint32_t back = error ? 0 : shared_metrics_back(*at);
		if (back > metrics->count)
			error = -ERROR_CORRUPT;
		if (!error && back > 0)
			error = shared_metrics_rest_on(*at, at[-(ptrdiff_t)back]);
		metrics->count++;
	}
	return error;
}

static void deployments_encode(const struct entry_plan *e, struct bytes_writer *w)
{
	bytes_put_u8(w, e->deployment != NULL);
	if (e->deployment)
		record_encode(&deployment_description, e->deployment, w);
	bytes_put_u32(w, e->deployment_updates.count);
	for (uint32_t i = 0; i < e->deployment_updates.count; i++) {
		const struct deployment_update *u =
			ARRAY_AT(&e->deployment_updates, struct deployment_update, i);
		bytes_put_uuid(w, &u->id);
		bytes_put_u8(w, (uint8_t)u->status);
		bytes_put_text16(w, text_of(u->description));
	}
}

static int deployment_updates_decode(struct array *updates, struct bytes_reader *r)
{
	uint32_t count = items_begin(
		updates, sizeof(struct deployment_update), DEPLOYMENT_UPDATE_BYTES_LEAST, r);

	while (updates->count < count && !r->failed) {
		struct deployment_update *u =
			ARRAY_AT(updates, struct deployment_update, updates->count++);
		u->id = bytes_take_uuid(r);
		u->status = bytes_take_u8(r);
		u->description = text_copy(bytes_take_text16(r));
	}
	return r->failed ? -ERROR_CORRUPT : 0;
}

static int deployments_decode(struct entry_plan *e, struct bytes_reader *r)
{
	uint8_t begins = bytes_take_u8(r);
	int error = r->failed || begins > 1 ? -ERROR_CORRUPT : 0;

	if (!error && begins)
		error = record_decode_new(&deployment_description, (void **)&e->deployment, r);
	return error ? error : deployment_updates_decode(&e->deployment_updates, r);
}

static void deployments_release(struct entry_plan *e)
{
	for (uint32_t i = 0; i < e->deployment_updates.count; i++)
		free(ARRAY_AT(&e->deployment_updates, struct deployment_update, i)->description);
	free(e->deployment_updates.items);
	deployment_free(e->deployment);
}

void entry_plan_encode(const void *body, struct bytes_writer *w)
{
	const struct entry_plan *e = body;

	bytes_put_uuid(w, &e->eval_id);
	metrics_encode(&e->metrics, w);
	stops_encode(&e->stops, w);
	stops_encode(&e->preemptions, w);
	updates_encode(&e->updates, w);
	placements_encode(&e->placements, w);
	deployments_encode(e, w);
}

int entry_plan_decode(void *body, struct bytes_reader *r)
{
	struct entry_plan *e = body;

	*e = (struct entry_plan){.eval_id = bytes_take_uuid(r)};
	int error = metrics_decode(&e->metrics, r);

	if (!error)
		error = stops_decode(&e->stops, r);
	if (!error)
		error = stops_decode(&e->preemptions, r);
	if (!error)
		error = updates_decode(&e->updates, r);
	if (!error)
		error = placements_decode(&e->placements, r);
	if (!error)
		error = deployments_decode(e, r);
	if (!error && r->failed)
		error = -ERROR_CORRUPT;
	if (error)
		entry_plan_release(e);
	return error;
}

void entry_plan_release(void *body)
{
	struct entry_plan *e = body;

	if (e->is_view)
		return;
	for (uint32_t i = 0; i < e->placements.count; i++)
		plan_placement_release(ARRAY_AT(&e->placements, struct plan_placement, i));
	for (uint32_t i = 0; i < e->updates.count; i++)
		alloc_details_release(ARRAY_AT(&e->updates, struct plan_update, i)->details);
	for (uint32_t i = 0; i < e->metrics.count; i++)
		shared_metrics_release(*ARRAY_AT(&e->metrics, struct shared_metrics *, i));
	free(e->stops.items);
	free(e->preemptions.items);
	free(e->updates.items);
	free(e->placements.items);
	free(e->metrics.items);
	deployments_release(e);
	*e = (struct entry_plan){0};
}
