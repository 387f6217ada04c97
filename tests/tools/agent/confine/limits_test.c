// What is written into the files of a task's control group.
#include "tools/agent/confine/limits.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

// "FILE=VALUE " of all rows.
static const char *planned(const struct limits_ask *ask)
{
	static char text[1000];
	struct limits limits;
	size_t used = 0;
	limits_plan(&limits, ask);
	text[0] = '\0';
	for (uint32_t i = 0; i < limits.count; i++)
		used += (size_t)snprintf(text + used, sizeof text - used, "%s=%s ",
			limits.rows[i].file, limits.rows[i].value);
	return text;
}

static void an_ask_is_a_weight_and_a_bound(void **unused)
{
	struct limits_ask ask = {.cpu_mhz = 1024, .memory_mb = 16, .cores = ""};
	assert_string_equal(planned(&ask), "cpu.weight=39 memory.max=16777216 memory.swap.max=0 ");
	ask.pids = 50;
	assert_non_null(strstr(planned(&ask), "pids.max=50 "));
}

static void weights_keep_to_their_range(void **unused)
{
	assert_int_equal(limits_cpu_weight(0), 1);
	assert_int_equal(limits_cpu_weight(2), 1);
	assert_int_equal(limits_cpu_weight(500), 19);
	assert_int_equal(limits_cpu_weight(262144), 10000);
	assert_int_equal(limits_cpu_weight(INT64_MAX), 10000);
}

static void a_task_may_borrow_memory(void **unused)
{
	struct limits_ask ask = {.cpu_mhz = 2, .memory_mb = 16, .memory_max_mb = 64, .cores = ""};
	assert_string_equal(planned(&ask), "cpu.weight=1 memory.max=67108864 memory.swap.max=0 "
					   "memory.low=16777216 ");
	ask.memory_max_mb = 8; // less than it has anyway
	assert_null(strstr(planned(&ask), "memory.low"));
	assert_non_null(strstr(planned(&ask), "memory.max=16777216 "));
}

static void a_hard_limit_is_a_share_of_the_node(void **unused)
{
	struct limits_ask ask = {.cpu_mhz = 500,
		.cores = "",
		.is_cpu_hard = true,
		.cpu_period_us = 100000,
		.node_mhz = 4000,
		.node_cores = 2};
	assert_non_null(strstr(planned(&ask), "cpu.max=25000 100000 "));
	ask.cpu_mhz = 1;
	assert_non_null(strstr(planned(&ask), "cpu.max=1000 100000 ")); // the kernel's least
	ask.is_cpu_hard = false;
	assert_null(strstr(planned(&ask), "cpu.max"));
}

static void cores_need_their_controller(void **unused)
{
	struct limits_ask ask = {.cpu_mhz = 2, .cores = "1,3"};
	struct limits limits;
	limits_plan(&limits, &ask);
	assert_int_equal(limits_controllers(&limits), CGROUP_CPU | CGROUP_CPUSET);
	assert_non_null(strstr(planned(&ask), "cpuset.cpus=1,3 "));
}

static void what_cannot_be_set_is_said(void **unused)
{
	struct limits_ask ask = {.cpu_mhz = 2, .memory_mb = 16, .cores = ""};
	struct limits limits;
	char message[300] = "";
	limits_plan(&limits, &ask);
	assert_int_equal(limits_set(&limits, 0, "/no/such/group", message, sizeof message), 0);
	assert_true(
		limits_set(&limits, CGROUP_MEMORY, "/no/such/group", message, sizeof message) < 0);
	assert_non_null(strstr(message, "memory.max"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_ask_is_a_weight_and_a_bound),
		cmocka_unit_test(weights_keep_to_their_range),
		cmocka_unit_test(a_task_may_borrow_memory),
		cmocka_unit_test(a_hard_limit_is_a_share_of_the_node),
		cmocka_unit_test(cores_need_their_controller),
		cmocka_unit_test(what_cannot_be_set_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
