// Removes from a plan what may not be made.
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/plan/plan_check_private.h"
#include "state/plan/plan_deployment.h"
#include "state/records/alloc_details.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/tables.h"

static void keep_stops(struct array *stops, struct alloc_cell **cells)
{
	const struct plan_stop *from = stops->items;
	struct plan_stop *kept = memory_take_array(stops->count + 1, sizeof *kept);
	uint32_t count = 0;

	for (uint32_t i = 0; i < stops->count; i++)
		if (cells[i]) {
			cells[count] = cells[i];
			kept[count++] = from[i];
		}
	*stops = (struct array){kept, count};
}

static void keep_updates(struct array *updates, struct plan_check *check)
{
	const struct plan_update *from = updates->items;
	struct plan_update *kept = memory_take_array(updates->count + 1, sizeof *kept);
	uint32_t count = 0;

	for (uint32_t i = 0; i < updates->count; i++) {
		if (!check->updates[i])
			continue;
		check->updates[count] = check->updates[i];
		check->update_jobs[count] = check->update_jobs[i];
		check->update_groups[count] = check->update_groups[i];
		kept[count] = from[i];
		alloc_details_share(kept[count++].details);
	}
	*updates = (struct array){kept, count};
}

static void keep_placements(struct array *placements, struct plan_check *check)
{
	const struct plan_placement *from = placements->items;
	struct plan_placement *kept = memory_take_array(placements->count + 1, sizeof *kept);
	uint32_t count = 0;

	for (uint32_t i = 0; i < placements->count; i++) {
		if (!check->placement_jobs[i])
			continue;
		check->placement_jobs[count] = check->placement_jobs[i];
		kept[count] = from[i];
		alloc_details_share(kept[count++].details);
	}
	*placements = (struct array){kept, count};
}

static void keep_metrics(struct array *metrics)
{
	struct shared_metrics **kept = memory_take_array(metrics->count + 1, sizeof *kept);

	for (uint32_t i = 0; i < metrics->count; i++)
		kept[i] = shared_metrics_share(*ARRAY_AT(metrics, struct shared_metrics *, i));
	metrics->items = kept;
}

static void keep_deployments(const struct state *state, struct entry_plan *e)
{
	const struct deployment_update *from = e->deployment_updates.items;
	uint32_t planned = e->deployment_updates.count, count = 0;
	struct deployment_update *kept = memory_take_array(planned + 1, sizeof *kept);

	for (uint32_t i = 0; i < planned; i++) {
		if (!plan_deployment_update_holds(state, e, i))
			continue;
		kept[count] = from[i];
		kept[count++].description = text_copy(text_of(from[i].description));
	}
	e->deployment_updates = (struct array){kept, count};
	if (e->deployment)
		e->deployment = deployment_copy(e->deployment);
}

void plan_check_filter(struct plan_checker *c, const struct state *state, struct entry_plan *e)
{
	CHECK(e->is_view);
	keep_deployments(state, e);
	keep_stops(&e->stops, c->check.stops);
	keep_stops(&e->preemptions, c->check.preemptions);
	keep_updates(&e->updates, &c->check);
	keep_placements(&e->placements, &c->check);
	keep_metrics(&e->metrics);
	e->is_view = false;
}
