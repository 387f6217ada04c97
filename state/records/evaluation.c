// One row per field of an evaluation, named as in Nomad's JSON. Rows are only ever appended to a
// table: their order is the binary form (state/base/schema.h).
#include "state/records/evaluation.h"
#include "state/base/schema_table.h"

const char *const eval_status_names[] = {
	"pending", "blocked", "complete", "failed", "canceled", NULL};
const char *const eval_trigger_names[] = {
	"job-register",
	"job-deregister",
	"periodic-job",
	"node-drain",
	"node-update",
	"alloc-stop",
	"scheduled",
	"rolling-update",
	"deployment-watcher",
	"failed-follow-up",
	"max-plan-attempts",
	"alloc-failure",
	"queued-allocs",
	"preemption",
	"job-scaling",
	"max-disconnect-timeout",
	"reconnect",
	NULL,
};

#define OMITTED NULL, NULL, FIELD_OMIT_EMPTY
// These fields also describe the stubs of related evaluations.
#define SHORT NULL, NULL, FIELD_IN_LIST

static const struct field failed_group_fields[] = {
	{"Group", FIELD_STRING, OF(failed_group, group), NULL, NULL, FIELD_HIDDEN},
	{"Metrics", FIELD_STRUCT, OF(failed_group, metrics), &metrics_description, NULL,
		FIELD_EMBEDDED},
};
static DESCRIBE(failed_group_description, failed_group);

static const struct field evaluation_fields[] = {
	{"ID", FIELD_UUID, OF(evaluation, id), SHORT},
	{"Namespace", FIELD_STRING, OF(evaluation, namespace_name), SHORT},
	{"Priority", FIELD_I64, OF(evaluation, priority), SHORT},
	{"Type", FIELD_ENUM, OF(evaluation, type), NULL, eval_type_names, FIELD_IN_LIST},
	{"TriggeredBy", FIELD_ENUM, OF(evaluation, triggered_by), NULL, eval_trigger_names,
		FIELD_IN_LIST},
	{"JobID", FIELD_STRING, OF(evaluation, job_id), SHORT},
	{"JobModifyIndex", FIELD_U64, OF(evaluation, job_modify_index), OMITTED},
	{"NodeID", FIELD_UUID, OF(evaluation, node_id), SHORT | FIELD_OMIT_EMPTY},
	{"NodeModifyIndex", FIELD_U64, OF(evaluation, node_modify_index), OMITTED},
	{"DeploymentID", FIELD_UUID, OF(evaluation, deployment_id), SHORT | FIELD_OMIT_EMPTY},
	{"Status", FIELD_ENUM, OF(evaluation, status), NULL, eval_status_names, FIELD_IN_LIST},
	{"StatusDescription", FIELD_STRING, OF(evaluation, status_description),
		SHORT | FIELD_OMIT_EMPTY},
	{"Wait", FIELD_I64, OF(evaluation, wait_ns), NULL, NULL, FIELD_OMIT_EMPTY | FIELD_DURATION},
	{"WaitUntil", FIELD_I64, OF(evaluation, wait_until_ns), NULL, NULL,
		FIELD_IN_LIST | FIELD_OMIT_EMPTY | FIELD_TIME},
	{"NextEval", FIELD_UUID, OF(evaluation, next_eval), SHORT | FIELD_OMIT_EMPTY},
	{"PreviousEval", FIELD_UUID, OF(evaluation, previous_eval), SHORT | FIELD_OMIT_EMPTY},
	{"BlockedEval", FIELD_UUID, OF(evaluation, blocked_eval), SHORT | FIELD_OMIT_EMPTY},
	{"FailedTGAllocs", FIELD_STRUCT_MAP, OF(evaluation, failed_groups),
		&failed_group_description, NULL, FIELD_OMIT_EMPTY},
	{"ClassEligibility", FIELD_FLAG_MAP, OF(evaluation, class_eligibility), OMITTED},
	{"QuotaLimitReached", FIELD_STRING, OF(evaluation, quota_limit_reached), OMITTED},
	{"EscapedComputedClass", FIELD_BOOL, OF(evaluation, escaped_computed_class), OMITTED},
	{"AnnotatePlan", FIELD_BOOL, OF(evaluation, annotate_plan), OMITTED},
	{"QueuedAllocations", FIELD_COUNT_MAP, OF(evaluation, queued), OMITTED},
	{"SnapshotIndex", FIELD_U64, OF(evaluation, snapshot_index), OMITTED},
	{"CreateIndex", FIELD_U64, OF(evaluation, record.create_index), SHORT},
	{"ModifyIndex", FIELD_U64, OF(evaluation, record.modify_index), SHORT},
	{"CreateTime", FIELD_I64, OF(evaluation, create_time_ns), SHORT},
	{"ModifyTime", FIELD_I64, OF(evaluation, modify_time_ns), SHORT},
};
DESCRIBE(evaluation_description, evaluation);

struct evaluation *evaluation_create(void)
{
	return record_create(&evaluation_description);
}

void evaluation_free(struct evaluation *e)
{
	record_free(&evaluation_description, e);
}

struct evaluation *evaluation_copy(const struct evaluation *from)
{
	return record_duplicate(&evaluation_description, from);
}
