// What groups look at of node classes, part by part.
#include "placement/scheduler/node/stack_state.h"
#include "placement/scheduler/stack/group_looks.h"
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/asking.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void nothing(struct job *job)
{
}
static void constraint_of_job(struct job *job)
{
	constrain(&job->constraints, "${attr.looked.at}", "=", "a");
}
static void constraint_of_group(struct job *job)
{
	constrain(&group_of(job)->constraints, "${attr.looked.at}", "=", "a");
}
static void constraint_of_task(struct job *job)
{
	constrain(&task_of(job)->constraints, "${attr.looked.at}", "=", "a");
}
static void right_side(struct job *job)
{
	constrain(&group_of(job)->constraints, "${node.class}", "=", "${attr.looked.at}");
}
static void distinct_property(struct job *job)
{
	constrain(&job->constraints, "${attr.looked.at}", "distinct_property", "2");
}
static void like(struct array *affinities, const char *left, const char *right)
{
	struct affinity *a = prefer(affinities);
	set(&a->l_target, left);
	set(&a->r_target, right);
	a->weight = 50;
}
static void affinity_of_job(struct job *job)
{
	like(&job->affinities, "${attr.looked.at}", "a");
}
static void affinity_of_group(struct job *job)
{
	like(&group_of(job)->affinities, "${attr.looked.at}", "a");
}
static void affinity_of_task(struct job *job)
{
	like(&task_of(job)->affinities, "a", "${attr.looked.at}");
}
static void spread_of_job(struct job *job)
{
	spread_over(&job->spreads, "${attr.looked.at}")->weight = 50;
}
static void spread_of_group(struct job *job)
{
	spread_over(&group_of(job)->spreads, "${attr.looked.at}")->weight = 50;
}
static void device(struct job *job)
{
	(void)ask_device(job, "gpu", 1);
}
static void device_with_constraint(struct job *job)
{
	constrain(&ask_device(job, "gpu", 1)->constraints, "${device.model}", "=",
		"${attr.looked.at}");
}
static void device_with_affinity(struct job *job)
{
	like(&ask_device(job, "gpu", 1)->affinities, "${device.model}", "${attr.looked.at}");
}
static void driver(struct job *job)
{
	set(&task_of(job)->driver, "exec2");
}

static void port(struct job *job)
{
	(void)ask_port(&ask_network(job, "bridge")->dynamic_ports, "http", 0, 0);
}
static void port_of_network(struct job *job)
{
	set(&ask_port(&ask_network(job, NULL)->reserved_ports, "http", 80, 0)->host_network,
		"public");
}

static bool looks_at(void (*change)(struct job *), const char *look)
{
	struct asking b;
	bool found = false;

	asking_setup(&b);
	struct job *job = world_job(b.world, "service web cpu=100 memory=100");
	change(job);
	world_job_changed(job);
	asking_begin(&b, STACK_GENERIC, job);
	struct look_bytes looks = group_looks(stack_group(b.stack, 0));
	for (uint32_t at = 0; at < looks.size; at += (uint32_t)strlen(looks.bytes + at) + 1)
		found |= strcmp(looks.bytes + at, look) == 0;
	free(looks.bytes);
	asking_teardown(&b);
	return found;
}

static void every_group_looks_at_place_and_name(void **state)
{
	assert_true(looks_at(nothing, "${node.datacenter}"));
	assert_true(looks_at(nothing, "${node.class}"));
	assert_true(looks_at(nothing, "${node.pool}"));
}

static void each_part_that_names_an_attribute_looks_at_it(void **state)
{
	static void (*const changes[])(struct job *) = {constraint_of_job, constraint_of_group,
		constraint_of_task, right_side, distinct_property, affinity_of_job,
		affinity_of_group, affinity_of_task, spread_of_job, spread_of_group,
		device_with_constraint, device_with_affinity};

	for (uint32_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
		assert_true(looks_at(changes[i], "${attr.looked.at}"));
	assert_false(looks_at(nothing, "${attr.looked.at}"));
}

static void devices_and_drivers_are_looked_at_by_those_who_ask_for_them(void **state)
{
	assert_true(looks_at(device, LOOK_AT_DEVICES));
	assert_false(looks_at(nothing, LOOK_AT_DEVICES));
	assert_true(looks_at(driver, LOOK_AT_DRIVER "exec2"));
	assert_true(looks_at(driver, "${attr.driver.exec2}"));
	assert_false(looks_at(nothing, LOOK_AT_DRIVER "exec2"));
}

// What a port asks of a network by its name, each node says for its class.
static void only_modes_of_networks_are_looked_at(void **state)
{
	assert_true(looks_at(port, LOOK_AT_NETWORKS));
	assert_false(looks_at(port_of_network, LOOK_AT_NETWORKS));
	assert_false(looks_at(nothing, LOOK_AT_NETWORKS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_group_looks_at_place_and_name),
		cmocka_unit_test(each_part_that_names_an_attribute_looks_at_it),
		cmocka_unit_test(devices_and_drivers_are_looked_at_by_those_who_ask_for_them),
		cmocka_unit_test(only_modes_of_networks_are_looked_at),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
