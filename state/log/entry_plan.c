// The body of a plan's entry. A placement leaves out what it has in common with the one before: a plan that fills a
// hundred thousand nodes says what it places once.
#include "state/log/entry_plan.h"
#include "state/base/error.h"
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

static void details_code(struct coder *c, struct alloc_details **details)
{
	if (c->writer)
		record_encode(&alloc_details_description, *details, c->writer);
	else
		coder_fail(c, alloc_details_decode(details, c->reader));
}

// Codes the parts that follow; when they are read, the others stay as in the item before.
static void common_code(
	struct coder *c, struct common *now, uint8_t parts, struct alloc_details **details)
{
	if (parts & CHANGE_VERSION)
		code_u64(c, &now->job_version);
	if (parts & CHANGE_GROUP)
		code_u16(c, &now->group);
	if (parts & CHANGE_NAME)
		code_u32(c, &now->name_index);
	if (parts & CHANGE_RESOURCES)
		resources_code(c, &now->resources);
	if (parts & CHANGE_DEVICES)
		device_set_code(c, &now->devices);
	if (parts & CHANGE_METRICS)
		code_u32(c, &now->metrics);
	if (parts & CHANGE_DETAILS)
		details_code(c, details);
}

static void stop_code(struct coder *c, struct plan_stop *s)
{
	uint8_t parts = (uint8_t)((uuid_is_zero(&s->followup_eval) ? 0 : STOP_FOLLOWUP) |
				  (uuid_is_zero(&s->preempted_by) ? 0 : STOP_BY) |
				  (s->lost ? STOP_IS_LOST : 0));

	code_uuid(c, &s->id);
	code_u8(c, &s->cause);
	code_u8(c, &parts);
	coder_require(c, s->cause < STOP_CAUSES && !(parts & ~STOP_PARTS));
	if (parts & STOP_FOLLOWUP)
		code_uuid(c, &s->followup_eval);
	if (parts & STOP_BY)
		code_uuid(c, &s->preempted_by);
	if (c->writer)
		return;
	s->slot = NODE_SLOT_NONE;
	s->lost = parts & STOP_IS_LOST;
}

static void stops_code(struct coder *c, struct array *stops)
{
	code_items(c, &stops->items, &stops->count, sizeof(struct plan_stop), STOP_BYTES_LEAST);
	for (uint32_t i = 0; i < stops->count; i++)
		stop_code(c, ARRAY_AT(stops, struct plan_stop, i));
}

static void update_code(struct coder *c, struct plan_update *u, struct common *last)
{
	uint8_t parts = 0;

	if (c->writer) {
		struct common now = {.job_version = u->job_version,
			.resources = u->resources,
			.devices = u->devices,
			.metrics = u->metrics};
		parts = common_parts(&now, last, u->details);
		*last = now;
	}
	code_uuid(c, &u->id);
	code_u8(c, &u->client_status);
	code_u8(c, &parts);
	coder_require(c, !(parts & CHANGE_REPORT) && (u->client_status == PLAN_KEEP ||
							     u->client_status == ALLOC_UNKNOWN));
	common_code(c, last, parts, &u->details);
	if (c->writer)
		return;
	u->slot = NODE_SLOT_NONE;
	u->job_version = last->job_version;
	u->resources = last->resources;
	u->devices = last->devices;
	u->metrics = last->metrics;
}

static void updates_code(struct coder *c, struct array *updates)
{
	struct common last = nothing_before;

	code_items(c, &updates->items, &updates->count, sizeof(struct plan_update),
		UPDATE_BYTES_LEAST);
	for (uint32_t i = 0; i < updates->count; i++)
		update_code(c, ARRAY_AT(updates, struct plan_update, i), &last);
}

static void placement_code(struct coder *c, struct plan_placement *p, struct common *last)
{
	uint8_t parts = 0;

	if (c->writer) {
		struct common now = {p->job_version, p->group, p->name_index, p->metrics,
			p->resources, p->devices};
		parts = (uint8_t)(common_parts(&now, last, p->details) |
				  (p->report ? CHANGE_REPORT : 0));
		*last = now;
	}
	code_uuid(c, &p->id);
	code_u32(c, &p->slot);
	code_f64(c, &p->score);
	code_u8(c, &parts);
	common_code(c, last, parts, &p->details);
	if (parts & CHANGE_REPORT)
		code_report(c, &p->report);
	if (c->writer)
		return;
	p->job_version = last->job_version;
	p->group = last->group;
	p->name_index = last->name_index;
	p->resources = last->resources;
	p->devices = last->devices;
	p->metrics = last->metrics;
}

static void placements_code(struct coder *c, struct array *placements)
{
	struct common last = nothing_before;

	code_items(c, &placements->items, &placements->count, sizeof(struct plan_placement),
		PLACEMENT_BYTES_LEAST);
	for (uint32_t i = 0; i < placements->count; i++)
		placement_code(c, ARRAY_AT(placements, struct plan_placement, i), &last);
}

// Reads metrics that may rest on some of those that stand before them.
static int metrics_take(struct shared_metrics **at, uint32_t before, struct bytes_reader *r)
{
	int error = shared_metrics_decode_after(at, before > 0 ? at[-1] : NULL, r);
	uint32_t back = error ? 0 : shared_metrics_back(*at);

	if (back > before)
		return -ERROR_CORRUPT;
	return back > 0 ? shared_metrics_rest_on(*at, at[-(ptrdiff_t)back]) : error;
}

static void metrics_code(struct coder *c, struct array *metrics)
{
	code_items(c, &metrics->items, &metrics->count, sizeof(struct shared_metrics *),
		METRICS_BYTES_LEAST);
	for (uint32_t i = 0; i < metrics->count; i++) {
		struct shared_metrics **at = ARRAY_AT(metrics, struct shared_metrics *, i);
		if (c->writer)
			shared_metrics_encode(*at, c->writer);
		else
			coder_fail(c, metrics_take(at, i, c->reader));
	}
}

static void deployment_update_code(struct coder *c, struct deployment_update *u)
{
	uint8_t status = (uint8_t)u->status;
	struct text description = text_of(u->description);

	code_uuid(c, &u->id);
	code_u8(c, &status);
	code_text16(c, &description);
	if (c->writer)
		return;
	u->status = status;
	u->description = text_copy(description);
}

static void deployments_code(struct coder *c, struct entry_plan *e)
{
	struct array *updates = &e->deployment_updates;
	bool begins = e->deployment != NULL;

	code_flag(c, &begins);
	if (begins)
		code_record(c, &deployment_description, (void **)&e->deployment);
	code_items(c, &updates->items, &updates->count, sizeof(struct deployment_update),
		DEPLOYMENT_UPDATE_BYTES_LEAST);
	for (uint32_t i = 0; i < updates->count; i++)
		deployment_update_code(c, ARRAY_AT(updates, struct deployment_update, i));
}

static void deployments_release(struct entry_plan *e)
{
	for (uint32_t i = 0; i < e->deployment_updates.count; i++)
		free(ARRAY_AT(&e->deployment_updates, struct deployment_update, i)->description);
	free(e->deployment_updates.items);
	deployment_free(e->deployment);
}

void entry_plan_code(struct coder *c, void *body)
{
	struct entry_plan *e = body;

	code_uuid(c, &e->eval_id);
	metrics_code(c, &e->metrics);
	stops_code(c, &e->stops);
	stops_code(c, &e->preemptions);
	updates_code(c, &e->updates);
	placements_code(c, &e->placements);
	deployments_code(c, e);
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
