// One row per field of what placement saw, named as in Nomad's JSON. Rows are only ever appended to
// a table: their order is the binary form (state/base/schema.h).
#include "state/records/metrics.h"
#include "state/base/schema_table.h"

#define NULLABLE NULL, NULL, FIELD_NULL_EMPTY
#define HIDDEN NULL, NULL, FIELD_HIDDEN

// Members that clients expect and that placement never fills.
static const char *const zero[] = {"0"}, *const null[] = {"null"};

static const struct field exhausted_resources_fields[] = {
	{"Task", FIELD_STRING, OF(exhausted_resources, task), HIDDEN},
	{"CPU", FIELD_I64, OF(exhausted_resources, cpu)},
	ALWAYS("Cores", zero),
	{"MemoryMB", FIELD_I64, OF(exhausted_resources, memory_mb)},
	ALWAYS("MemoryMaxMB", zero),
	ALWAYS("DiskMB", zero),
	ALWAYS("IOPS", zero),
	ALWAYS("Networks", null),
	ALWAYS("Devices", null),
};
static DESCRIBE(exhausted_resources_description, exhausted_resources);

const char *const score_names[SCORE_KINDS + 1] = {"allocation-spread", "binpack", "devices",
	"job-anti-affinity", "node-affinity", "node-reschedule-penalty", "preemption",
	"snapshot-affinity"};
const uint8_t score_places[SCORE_KINDS] = {[SCORE_SPREAD] = 0,
	[SCORE_BINPACK] = 1,
	[SCORE_DEVICES] = 2,
	[SCORE_ANTI_AFFINITY] = 3,
	[SCORE_AFFINITY] = 4,
	[SCORE_RESCHEDULE_PENALTY] = 5,
	[SCORE_PREEMPTION] = 6,
	[SCORE_SNAPSHOT] = 7};
_Static_assert(SCORE_KINDS <= NUMBERS_MAX, "all scores of a node are numbers of one field");

static const struct field node_score_fields[] = {
	{"NodeID", FIELD_UUID, OF(node_score, node_id)},
	{"Scores", FIELD_NUMBERS, OF(node_score, scores), NULL, score_names},
	{"NormScore", FIELD_F64, OF(node_score, norm_score)},
};
DESCRIBE(node_score_description, node_score);

static const struct field alloc_metrics_fields[] = {
	{"NodesEvaluated", FIELD_I64, OF(alloc_metrics, nodes_evaluated)},
	{"NodesFiltered", FIELD_I64, OF(alloc_metrics, nodes_filtered)},
	{"NodesInPool", FIELD_I64, OF(alloc_metrics, nodes_in_pool)},
	{"NodesAvailable", FIELD_COUNT_MAP, OF(alloc_metrics, nodes_available), NULLABLE},
	{"ClassFiltered", FIELD_COUNT_MAP, OF(alloc_metrics, class_filtered), NULLABLE},
	{"ConstraintFiltered", FIELD_COUNT_MAP, OF(alloc_metrics, constraint_filtered), NULLABLE},
	{"NodesExhausted", FIELD_I64, OF(alloc_metrics, nodes_exhausted)},
	{"ClassExhausted", FIELD_COUNT_MAP, OF(alloc_metrics, class_exhausted), NULLABLE},
	{"DimensionExhausted", FIELD_COUNT_MAP, OF(alloc_metrics, dimension_exhausted), NULLABLE},
	{"QuotaExhausted", FIELD_STRINGS, OF(alloc_metrics, quota_exhausted), NULLABLE},
	{"ResourcesExhausted", FIELD_STRUCT_MAP, OF(alloc_metrics, resources_exhausted),
		OR_NULL(exhausted_resources_description)},
	ALWAYS("Scores", null),
	{"ScoreMetaData", FIELD_ARRAY, OF(alloc_metrics, score_metadata),
		OR_NULL(node_score_description)},
	{"AllocationTime", FIELD_I64, OF(alloc_metrics, allocation_time_ns)},
	{"CoalescedFailures", FIELD_I64, OF(alloc_metrics, coalesced_failures)},
	{"Back", FIELD_I64, OF(alloc_metrics, back), NULL, NULL, FIELD_HIDDEN | FIELD_DERIVED},
};
DESCRIBE(metrics_description, alloc_metrics);

void metrics_copy(struct alloc_metrics *to, const struct alloc_metrics *from)
{
	record_copy(&metrics_description, to, from);
}

void metrics_release(struct alloc_metrics *metrics)
{
	record_release(&metrics_description, metrics);
}

void count_add(struct array *counts, const char *name, int64_t by)
{
	struct named_count *item = map_item(counts, sizeof *item, name);
	item->count += by;
}

int64_t count_get(const struct array *counts, const char *name)
{
	uint32_t at;
	return map_find(counts, sizeof(struct named_count), name, &at)
		       ? ARRAY_AT(counts, struct named_count, at)->count
		       : 0;
}
