// Bytes of a scenario → nodes, jobs, allocations → the scheduler → a result that is JSON, the same each time. As
// Scenario.Type says, they are events of nodes or virtual machines and workers instead.
#include "state/base/check.h"
#include "tools/simulate/recorder.h"
#include "tools/simulate/scenario_read.h"
#include "tools/simulate/simulate.h"
#include <jansson.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Groups with very many instances are sound, but make a run long.
static bool is_small(const struct scenario *s)
{
	int64_t count = 0;
	for (uint32_t i = 0; i < s->job_count; i++)
		for (uint32_t k = 0; k < s->jobs[i]->task_groups.count; k++)
			count += ARRAY_AT(&s->jobs[i]->task_groups, struct task_group, k)->count;
	return count < 1000;
}

static bool run_type(
	const struct scenario_type *type, const json_t *root, struct json_writer *result)
{
	struct json_report report = {0};
	bool done = scenario_type_run(type, root, &report, result);
	CHECK(!done == (report.errors.count > 0));
	json_report_free(&report);
	return done;
}

static bool run_eval(const uint8_t *data, size_t size, struct json_writer *result)
{
	struct json_report report = {0};
	struct scenario *scenario = scenario_read((const char *)data, size, &report);
	CHECK(!scenario == (report.errors.count > 0));
	bool done = scenario && is_small(scenario) && scenario_work_off(scenario, result) >= 0;
	scenario_free(scenario);
	json_report_free(&report);
	return done;
}

static char *work_off(const uint8_t *data, size_t size)
{
	struct json_writer result = {0};
	char message[256];
	json_t *root = json_parse((const char *)data, size, message, sizeof message);
	const struct scenario_type *type = root ? scenario_type_of(root) : NULL;
	bool done = type ? run_type(type, root, &result) : run_eval(data, size, &result);
	json_decref(root);
	if (done)
		return json_writer_take(&result);
	json_writer_free(&result);
	return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *first = work_off(data, size);
	if (!first)
		return 0;
	char *second = work_off(data, size);
	CHECK(strcmp(first, second) == 0);
	CHECK(!strstr(first, "invariant broken: "));
	json_t *parsed = json_loads(first, JSON_REJECT_DUPLICATES, NULL);
	CHECK(parsed);
	json_decref(parsed);
	free(first);
	free(second);
	return 0;
}
