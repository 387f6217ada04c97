// Evaluations, metrics and the scheduler configuration as JSON: the members that are always there,
// those that are left out, and null against empty.
#include "state/base/memory.h"
#include "state/base/text.h"
#include "state/records/evaluation.h"
#include "state/records/scheduler_config.h"
#include "tools/json/json_reader.h"
#include "tools/json/json_record.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void expect_json(const struct record_type *type, const void *record, const char *json)
{
	struct json_writer w = {0};
	json_record(&w, type, record);
	char *text = json_writer_take(&w);
	assert_string_equal(text, json);
	free(text);
}

// The text is read into a record that is written as the same text again, and encoded and decoded.
static void round_trip(const struct record_type *type, const char *json)
{
	char message[256];
	json_t *root = json_parse(json, strlen(json), message, sizeof message);
	assert_non_null(root);
	void *record = memory_take(type->size), *again = memory_take(type->size);
	struct json_report report = {0};
	record_init(type, record);
	json_read_record(type, record, root, "Record", &report);
	json_decref(root);
	assert_int_equal(report.errors.count + report.warnings.count, 0);
	expect_json(type, record, json);
	struct bytes_writer writer = bytes_writer_growing(64);
	record_encode(type, record, &writer);
	struct bytes_reader reader = bytes_reader_over(writer.data, writer.size);
	assert_int_equal(record_decode(type, again, &reader), 0);
	assert_true(record_equal(type, record, again));
	expect_json(type, again, json);
	bytes_writer_free(&writer);
	record_release(type, record);
	record_release(type, again);
	free(record);
	free(again);
}

#define ID "00112233-4455-6677-8899-aabbccddeeff"
#define METRICS                                                                             \
	"{\"NodesEvaluated\":9,\"NodesFiltered\":3,\"NodesInPool\":12,\"NodesAvailable\":"  \
	"{\"dc1\":8,\"dc2\":4},\"ClassFiltered\":{\"small\":3},\"ConstraintFiltered\":"     \
	"{\"${attr.kernel.name} = linux\":3},\"NodesExhausted\":9,\"ClassExhausted\":null," \
	"\"DimensionExhausted\":{\"memory\":9},\"QuotaExhausted\":null,"                    \
	"\"ResourcesExhausted\":{\"web\":{\"CPU\":100,\"Cores\":0,\"MemoryMB\":256000,"     \
	"\"MemoryMaxMB\":0,\"DiskMB\":0,\"IOPS\":0,\"Networks\":null,\"Devices\":null}},"   \
	"\"Scores\":null,\"ScoreMetaData\":[{\"NodeID\":\"" ID "\",\"Scores\":"             \
	"{\"allocation-spread\":1,\"binpack\":0.041275423430639314},"                       \
	"\"NormScore\":0.5206377117153197}],\"AllocationTime\":360269,"                     \
	"\"CoalescedFailures\":3}"

static void empty_metrics_are_null_where_placement_has_nothing(void **unused)
{
	struct alloc_metrics metrics = {0};
	expect_json(&metrics_description, &metrics,
		"{\"NodesEvaluated\":0,\"NodesFiltered\":0,\"NodesInPool\":0,\"NodesAvailable\":"
		"null,\"ClassFiltered\":null,\"ConstraintFiltered\":null,\"NodesExhausted\":0,"
		"\"ClassExhausted\":null,\"DimensionExhausted\":null,\"QuotaExhausted\":null,"
		"\"ResourcesExhausted\":null,\"Scores\":null,\"ScoreMetaData\":null,"
		"\"AllocationTime\":0,\"CoalescedFailures\":0}");
}

static void metrics_come_back(void **unused)
{
	round_trip(&metrics_description, METRICS);
}

static void an_evaluation_shows_only_what_it_has(void **unused)
{
	struct evaluation *e = evaluation_create();
	assert_true(uuid_parse(ID, &e->id));
	e->namespace_name = text_copy(TEXT("default"));
	e->job_id = text_copy(TEXT("big"));
	e->priority = 50;
	e->type = EVAL_BATCH;
	e->record.create_index = 320;
	e->record.modify_index = 322;
	e->create_time_ns = 5;
	e->modify_time_ns = 6;
	struct evaluation *copy = evaluation_copy(e);
	assert_true(record_equal(&evaluation_description, e, copy));
	assert_int_equal(copy->record.modify_index, 322);
	expect_json(&evaluation_description, copy,
		"{\"ID\":\"" ID "\",\"Namespace\":\"default\",\"Priority\":50,\"Type\":\"batch\","
		"\"TriggeredBy\":\"job-register\",\"JobID\":\"big\",\"Status\":\"pending\","
		"\"CreateIndex\":320,\"ModifyIndex\":322,\"CreateTime\":5,\"ModifyTime\":6}");
	evaluation_free(e);
	evaluation_free(copy);
	evaluation_free(NULL);
}

static void a_full_evaluation_comes_back(void **unused)
{
	round_trip(&evaluation_description,
		"{\"ID\":\"" ID
		"\",\"Namespace\":\"default\",\"Priority\":50,\"Type\":\"sysbatch\","
		"\"TriggeredBy\":\"queued-allocs\",\"JobID\":\"big\",\"JobModifyIndex\":320,"
		"\"NodeID\":\"" ID "\",\"NodeModifyIndex\":4,\"DeploymentID\":\"" ID "\","
		"\"Status\":\"blocked\",\"StatusDescription\":\"created to place remaining "
		"allocations\",\"Wait\":30000000000,\"WaitUntil\":\"2026-11-21T01:43:55Z\","
		"\"NextEval\":\"" ID "\",\"PreviousEval\":\"" ID "\",\"BlockedEval\":\"" ID "\","
		"\"FailedTGAllocs\":{\"g\":" METRICS ",\"h\":" METRICS "},"
		"\"ClassEligibility\":{\"v1:1\":true,\"v1:2\":false},"
		"\"QuotaLimitReached\":\"q\",\"EscapedComputedClass\":true,\"AnnotatePlan\":true,"
		"\"QueuedAllocations\":{\"g\":4,\"h\":0},\"SnapshotIndex\":320,"
		"\"CreateIndex\":320,\"ModifyIndex\":322,\"CreateTime\":5,\"ModifyTime\":6}");
}

static void the_configuration_has_its_defaults(void **unused)
{
	struct scheduler_config config;
	record_init(&scheduler_config_description, &config);
	config.record.create_index = 5;
	expect_json(&scheduler_config_description, &config,
		"{\"SchedulerAlgorithm\":\"binpack\",\"PreemptionConfig\":"
		"{\"SystemSchedulerEnabled\":true,\"SysBatchSchedulerEnabled\":false,"
		"\"BatchSchedulerEnabled\":false,\"ServiceSchedulerEnabled\":false},"
		"\"MemoryOversubscriptionEnabled\":false,\"RejectJobRegistration\":false,"
		"\"PauseEvalBroker\":false,\"CreateIndex\":5,\"ModifyIndex\":0}");
	round_trip(&scheduler_config_description,
		"{\"SchedulerAlgorithm\":\"spread\",\"PreemptionConfig\":"
		"{\"SystemSchedulerEnabled\":false,\"SysBatchSchedulerEnabled\":true,"
		"\"BatchSchedulerEnabled\":true,\"ServiceSchedulerEnabled\":true},"
		"\"MemoryOversubscriptionEnabled\":true,\"RejectJobRegistration\":true,"
		"\"PauseEvalBroker\":true,\"CreateIndex\":0,\"ModifyIndex\":0}");
}

static void counts_add_up(void **unused)
{
	struct alloc_metrics metrics = {0}, copy;
	count_add(&metrics.dimension_exhausted, "memory", 2);
	count_add(&metrics.dimension_exhausted, "cpu", 1);
	count_add(&metrics.dimension_exhausted, "memory", 3);
	assert_int_equal(metrics.dimension_exhausted.count, 2);
	metrics_copy(&copy, &metrics);
	assert_int_equal(count_get(&copy.dimension_exhausted, "memory"), 5);
	assert_int_equal(count_get(&copy.dimension_exhausted, "cpu"), 1);
	assert_int_equal(count_get(&copy.dimension_exhausted, "disk"), 0);
	metrics_release(&metrics);
	metrics_release(&copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_metrics_are_null_where_placement_has_nothing),
		cmocka_unit_test(metrics_come_back),
		cmocka_unit_test(an_evaluation_shows_only_what_it_has),
		cmocka_unit_test(a_full_evaluation_comes_back),
		cmocka_unit_test(the_configuration_has_its_defaults),
		cmocka_unit_test(counts_add_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
