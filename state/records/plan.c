#include "state/records/plan.h"
#include "state/base/memory.h"
#include "state/records/metrics.h"
#include <stdlib.h>

#define OF(type, member) offsetof(struct type, member)

static const struct field desired_updates_fields[] = {
	{"Group", FIELD_STRING, OF(desired_updates, group)},
	{"Ignore", FIELD_I64, OF(desired_updates, ignore)},
	{"Place", FIELD_I64, OF(desired_updates, place)},
	{"Migrate", FIELD_I64, OF(desired_updates, migrate)},
	{"Stop", FIELD_I64, OF(desired_updates, stop)},
	{"InPlaceUpdate", FIELD_I64, OF(desired_updates, in_place_update)},
	{"DestructiveUpdate", FIELD_I64, OF(desired_updates, destructive_update)},
	{"Canary", FIELD_I64, OF(desired_updates, canary)},
	{"Preemptions", FIELD_I64, OF(desired_updates, preemptions)},
};
const struct record_type desired_updates_description = {"desired_updates",
	sizeof(struct desired_updates), desired_updates_fields,
	sizeof desired_updates_fields / sizeof desired_updates_fields[0], NULL};

struct shared_metrics *shared_metrics_create(void)
{
	struct shared_metrics *shared = memory_take(sizeof *shared);

	atomic_init(&shared->references, 1);
	return shared;
}

struct shared_metrics *shared_metrics_share(struct shared_metrics *shared)
{
	if (shared)
		atomic_fetch_add_explicit(&shared->references, 1, memory_order_relaxed);
	return shared;
}

void shared_metrics_release(struct shared_metrics *shared)
{
	if (!shared || atomic_fetch_sub_explicit(&shared->references, 1, memory_order_acq_rel) > 1)
		return;
	record_release(&metrics_description, &shared->metrics);
	free(shared);
}

struct plan *plan_create(void)
{
	return memory_take(sizeof(struct plan));
}

void plan_placement_release(struct plan_placement *p)
{
	alloc_details_release(p->details);
	alloc_report_release(p->report);
}

void plan_free(struct plan *plan)
{
	if (!plan)
		return;
	for (uint32_t i = 0; i < plan->placements.count; i++)
		plan_placement_release(ARRAY_AT(&plan->placements, struct plan_placement, i));
	for (uint32_t i = 0; i < plan->updates.count; i++)
		alloc_details_release(ARRAY_AT(&plan->updates, struct plan_update, i)->details);
	for (uint32_t i = 0; i < plan->metrics.count; i++)
		shared_metrics_release(*ARRAY_AT(&plan->metrics, struct shared_metrics *, i));
	for (uint32_t i = 0; i < plan->annotations.count; i++)
		record_release(&desired_updates_description,
			ARRAY_AT(&plan->annotations, struct desired_updates, i));
	for (uint32_t i = 0; i < plan->deployment_updates.count; i++)
		free(ARRAY_AT(&plan->deployment_updates, struct deployment_update, i)->description);
	deployment_free(plan->deployment);
	free(plan->deployment_updates.items);
	free(plan->stops.items);
	free(plan->preemptions.items);
	free(plan->placements.items);
	free(plan->updates.items);
	free(plan->metrics.items);
	free(plan->annotations.items);
	free(plan->namespace_name);
	free(plan->job_id);
	free(plan);
}

bool plan_is_no_op(const struct plan *plan)
{
	return plan->stops.count == 0 && plan->placements.count == 0 && plan->updates.count == 0 &&
	       !plan->deployment && plan->deployment_updates.count == 0;
}

void plan_result_release(struct plan_result *result)
{
	for (uint32_t i = 0; i < result->placed_by_group.count; i++)
		free(ARRAY_AT(&result->placed_by_group, struct named_count, i)->name);
	free(result->placed_by_group.items);
	free(result->rejections.items);
	*result = (struct plan_result){0};
}
