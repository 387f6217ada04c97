// One row per field of a deployment, named as in Nomad's JSON. Rows are only ever appended to a table: their order
// is the binary form (state/base/schema.h).
#include "state/records/deployment.h"
#include "state/base/memory.h"
#include "state/base/schema_table.h"

const char *const deployment_status_names[] = {"running", "paused", "failed", "successful",
	"cancelled", "initializing", "pending", "blocked", "unblocking", NULL};

static const struct field deployment_group_fields[] = {
	{"Group", FIELD_STRING, OF(deployment_group, group), FLAGS(FIELD_HIDDEN)},
	{"AutoRevert", FIELD_BOOL, OF(deployment_group, auto_revert)},
	{"AutoPromote", FIELD_BOOL, OF(deployment_group, auto_promote)},
	{"ProgressDeadline", FIELD_I64, OF(deployment_group, progress_deadline_ns),
		FLAGS(FIELD_DURATION)},
	{"RequireProgressBy", FIELD_I64, OF(deployment_group, require_progress_by_ns),
		FLAGS(FIELD_TIME)},
	{"Promoted", FIELD_BOOL, OF(deployment_group, promoted)},
	{"PlacedCanaries", FIELD_UUIDS, OF(deployment_group, placed_canaries),
		FLAGS(FIELD_NULL_EMPTY)},
	{"DesiredCanaries", FIELD_I64, OF(deployment_group, desired_canaries)},
	{"DesiredTotal", FIELD_I64, OF(deployment_group, desired_total)},
	{"PlacedAllocs", FIELD_I64, OF(deployment_group, placed_allocs)},
	{"HealthyAllocs", FIELD_I64, OF(deployment_group, healthy_allocs)},
	{"UnhealthyAllocs", FIELD_I64, OF(deployment_group, unhealthy_allocs)},
};
DESCRIBE(deployment_group_description, deployment_group);

static const struct field deployment_fields[] = {
	{"ID", FIELD_UUID, OF(deployment, id)},
	{"Namespace", FIELD_STRING, OF(deployment, namespace_name)},
	{"JobID", FIELD_STRING, OF(deployment, job_id)},
	{"JobVersion", FIELD_U64, OF(deployment, job_version)},
	{"JobModifyIndex", FIELD_U64, OF(deployment, job_modify_index)},
	{"JobSpecModifyIndex", FIELD_U64, OF(deployment, job_spec_modify_index)},
	{"JobCreateIndex", FIELD_U64, OF(deployment, job_create_index)},
	{"IsMultiregion", FIELD_BOOL, OF(deployment, is_multiregion)},
	{"TaskGroups", FIELD_STRUCT_MAP, OF(deployment, groups), &deployment_group_description},
	{"Status", FIELD_ENUM, OF(deployment, status), NULL, deployment_status_names},
	{"StatusDescription", FIELD_STRING, OF(deployment, status_description)},
	{"EvalPriority", FIELD_I64, OF(deployment, eval_priority)},
	{"CreateIndex", FIELD_U64, OF(deployment, record.create_index)},
	{"ModifyIndex", FIELD_U64, OF(deployment, record.modify_index)},
	{"CreateTime", FIELD_I64, OF(deployment, create_time_ns)},
	{"ModifyTime", FIELD_I64, OF(deployment, modify_time_ns)},
};
DESCRIBE(deployment_description, deployment);

struct deployment *deployment_create(void)
{
	return record_create(&deployment_description);
}

void deployment_free(struct deployment *d)
{
	record_free(&deployment_description, d);
}

struct deployment *deployment_copy(const struct deployment *d)
{
	return record_duplicate(&deployment_description, d);
}

struct deployment_group *deployment_group_of(const struct deployment *d, struct text group)
{
	for (uint32_t i = 0; i < d->groups.count; i++) {
		struct deployment_group *g = ARRAY_AT(&d->groups, struct deployment_group, i);
		if (text_equal(text_of(g->group), group))
			return g;
	}
	return NULL;
}

bool deployment_group_has_canary(const struct deployment_group *g, const struct uuid *id)
{
	for (uint32_t i = 0; i < g->placed_canaries.count; i++)
		if (uuid_equal(ARRAY_AT(&g->placed_canaries, struct uuid, i), id))
			return true;
	return false;
}

int64_t deployment_deadline_ns(const struct deployment_group *g, int64_t from_ns)
{
	int64_t by_ns;

	if (__builtin_add_overflow(from_ns, g->progress_deadline_ns, &by_ns))
		by_ns = INT64_MAX;
	return by_ns ? by_ns : 1;
}

static bool waits_for_promotion(const struct deployment_group *g)
{
	return g->desired_canaries > 0 && !g->promoted;
}

bool deployment_requires_promotion(const struct deployment *d)
{
	if (d->status != DEPLOYMENT_RUNNING)
		return false;
	for (uint32_t i = 0; i < d->groups.count; i++)
		if (waits_for_promotion(ARRAY_AT(&d->groups, struct deployment_group, i)))
			return true;
	return false;
}

bool deployment_has_auto_promote(const struct deployment *d)
{
	if (!deployment_requires_promotion(d))
		return false;
	for (uint32_t i = 0; i < d->groups.count; i++) {
		const struct deployment_group *g = ARRAY_AT(&d->groups, struct deployment_group, i);
		if (waits_for_promotion(g) && !g->auto_promote)
			return false;
	}
	return true;
}

// From one status of an active deployment to another (docs/spec/states.md). A deployment that waits for other regions,
// or just stopped waiting, is not set back by a writer that has not seen so yet.
bool deployment_may_become(int from, int to)
{
	if (to == DEPLOYMENT_PENDING)
		return from == DEPLOYMENT_INITIALIZING;
	if (to == DEPLOYMENT_BLOCKED)
		return from != DEPLOYMENT_UNBLOCKING;
	return to >= 0 && to < DEPLOYMENT_STATUSES && to != DEPLOYMENT_INITIALIZING;
}

bool deployment_description_is_sound(struct text text)
{
	return text.size <= UINT16_MAX && text_is_printable(text);
}
