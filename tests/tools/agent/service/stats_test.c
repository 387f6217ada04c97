// What tasks and the machine use.
#include "tests/support/broken_listing.h"
#include "tests/tools/agent/service/rig.h"
#include "tools/agent/service/process_use.h"
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define STATS "/v1/client/allocation/" RIG_ID "/stats"

static int open_tasks(void **state)
{
	if (rig_open(state) != 0)
		return -1;
	rig_run("service",
		RIG_SH("busy", "while :; do :; done", ",\"KillTimeout\":1000000000") "," RIG_SH(
			"tree", "setsid sleep 1000 & (sleep 1000; true) & wait",
			",\"KillTimeout\":1000000000") ","
						       "{\"Name\":\"mock\",\"Driver\":\"mock\","
						       "\"Config\":{}}");
	RIG_WAIT(rig_task("mock").has_run && rig_task("tree").has_run);
	return 0;
}

static json_t *ask_json(const char *path)
{
	const struct answer *answer = rig_get("%s", path);
	assert_int_equal(answer->status, 200);
	json_t *json = json_loads(answer->body, 0, NULL);
	assert_non_null(json);
	return json;
}

static json_t *inner(json_t *json, const char *a, const char *b, const char *c)
{
	return json_object_get(json_object_get(json_object_get(json, a), b), c);
}

static double busy_percent(void)
{
	json_t *json = ask_json(STATS), *task = inner(json, "Tasks", "busy", "ResourceUsage");
	json_t *cpu = json_object_get(task, "CpuStats");
	double percent = json_number_value(json_object_get(cpu, "Percent"));
	json_decref(json);
	return percent;
}

static size_t processes_of(const char *task)
{
	json_t *json = ask_json(STATS);
	size_t count = json_object_size(inner(json, "Tasks", task, "Pids"));
	json_decref(json);
	return count;
}

static void tasks_are_measured(void **state)
{
	double percent;
	// Others want the processors, too: it may get none for a while, or who looks may be late to look again.
	RIG_WAIT((percent = busy_percent()) > 0 && percent < 150);
	json_t *json = ask_json(STATS), *busy = inner(json, "Tasks", "busy", "ResourceUsage");
	json_t *cpu = json_object_get(busy, "CpuStats");
	assert_true(json_integer_value(
			    json_object_get(json_object_get(busy, "MemoryStats"), "RSS")) > 100000);
	assert_string_equal(json_string_value(json_array_get(json_object_get(cpu, "Measured"), 1)),
		"User Mode");
	assert_true(json_is_null(json_object_get(busy, "DeviceStats")));
	assert_int_equal(json_array_size(json_object_get(
				 json_object_get(json, "ResourceUsage"), "DeviceStats")),
		0);
	// A process that has left session and group is its child all the same.
	RIG_WAIT(processes_of("tree") == 4);
	assert_int_equal(json_object_size(inner(json, "Tasks", "mock", "Pids")), 0);
	int64_t sum = json_integer_value(inner(json, "ResourceUsage", "MemoryStats", "RSS"));
	assert_true(sum > json_integer_value(
				  json_object_get(json_object_get(busy, "MemoryStats"), "RSS")));
	assert_true(json_integer_value(json_object_get(json, "Timestamp")) > 0);
	json_decref(json);
}

static void one_task_and_none(void **state)
{
	json_t *json = ask_json(STATS "?task=busy");
	assert_int_equal(json_object_size(json_object_get(json, "Tasks")), 1);
	json_decref(json);
	assert_string_equal(rig_get(STATS "?task=zz")->body,
		"{\"ResourceUsage\":{\"CpuStats\":{\"Measured\":null,\"Percent\":0,\"SystemMode\":"
		"0,"
		"\"ThrottledPeriods\":0,\"ThrottledTime\":0,\"TotalTicks\":0,\"UserMode\":0},"
		"\"DeviceStats\":[],\"MemoryStats\":{\"Cache\":0,\"KernelMaxUsage\":0,"
		"\"KernelUsage\":0,\"MappedFile\":0,\"MaxUsage\":0,\"Measured\":null,\"RSS\":0,"
		"\"Swap\":0,\"Usage\":0}},\"Tasks\":{},\"Timestamp\":0}");
	assert_int_equal(
		rig_get("/v1/client/allocation/12345678-1234-1234-1234-123456789abc/stats")->status,
		404);
}

static void the_machine_is_measured(void **state)
{
	json_t *json = ask_json("/v1/client/stats"), *core,
	       *disk = json_object_get(json, "AllocDirStats");
	size_t i;
	assert_int_equal(
		json_array_size(json_object_get(json, "CPU")), sysconf(_SC_NPROCESSORS_ONLN));
	json_array_foreach(json_object_get(json, "CPU"), i, core)
	{
		double busy = json_number_value(json_object_get(core, "TotalPercent"));
		double idle = json_number_value(json_object_get(core, "Idle"));
		assert_true(busy + idle > 99.9 && busy + idle < 100.1);
	}
	json_t *memory = json_object_get(json, "Memory");
	assert_true(json_integer_value(json_object_get(memory, "Total")) >
		    json_integer_value(json_object_get(memory, "Used")));
	assert_true(json_integer_value(json_object_get(memory, "Used")) > 0);
	assert_true(json_integer_value(json_object_get(disk, "Size")) >=
		    json_integer_value(json_object_get(disk, "Used")));
	assert_true(json_integer_value(json_object_get(json, "Uptime")) > 0);
	assert_true(json_is_null(json_object_get(json, "DeviceStats")));
	json_decref(json);
}

static void another_process_of_the_number_is_not_the_tasks(void **state)
{
	struct process_uses uses;
	uint32_t marked = 0;
	assert_int_equal(process_uses_take(&uses), 0);
	process_uses_mark(&uses, getpid(), 1);
	for (uint32_t i = 0; i < uses.count; i++)
		marked += uses.items[i].is_marked;
	assert_int_equal(marked, 0);
	process_uses_free(&uses);
}

// A part of them is no answer.
static void processes_that_cannot_be_listed_are_told(void **state)
{
	listings_break = true;
	const struct answer *answer = rig_get(STATS);
	listings_break = false;
	assert_int_equal(answer->status, 500);
	assert_string_equal(
		answer->body, "the processes of this node cannot be listed: Input/output error");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tasks_are_measured),
		cmocka_unit_test(one_task_and_none),
		cmocka_unit_test(the_machine_is_measured),
		cmocka_unit_test(another_process_of_the_number_is_not_the_tasks),
		cmocka_unit_test(processes_that_cannot_be_listed_are_told),
	};
	return cmocka_run_group_tests(tests, open_tasks, rig_close);
}
