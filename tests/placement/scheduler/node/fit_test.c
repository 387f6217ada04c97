// Room on single nodes: dimensions, ports, cores, devices, and the plan's changes.
#include "placement/direct/placement.h"
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/asking.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void dimensions_in_their_order(void **state)
{
	static const struct {
		const char *node, *reason;
	} rows[] = {
		{"cpu=1000 memory=1000 disk=1000", ""},
		{"cpu=999 memory=999 disk=999", "cpu"},
		{"cpu=1000 memory=999 disk=999", "memory"},
		{"cpu=1000 memory=1000 disk=999", "disk"},
		{"cpu=1099 memory=1000 disk=1000 reserved=100/0/0", "cpu"},
		{"cpu=1100 memory=1050 disk=1000 reserved=100/50/0", ""},
		{"cpu=50 memory=1000 disk=1000 reserved=100/0/0", "cpu"},
	};
	struct asking b;
	asking_setup(&b);
	for (uint32_t i = 0; i < COUNT(rows); i++)
		world_node(b.world, rows[i].node);
	asking_begin(
		&b, STACK_SYSTEM, world_job(b.world, "system sys cpu=1000 memory=1000 disk=1000"));
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		assert_string_equal(ask(&b, i), rows[i].reason);
		if (rows[i].reason[0])
			assert_int_equal(b.option.outcome, STACK_EXHAUSTED);
	}
	asking_teardown(&b);
}

static void the_score_is_placements_score(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "cpu=4000 memory=8192 reserved=100/256/0");
	struct job *job = world_job(b.world, "system sys cpu=500 memory=1000");
	struct job *other = world_job(b.world, "service other cpu=1000 memory=2000");
	world_allocate(b.world, other, 0, 0, 0);
	for (int algorithm = ALGORITHM_BINPACK; algorithm <= ALGORITHM_SPREAD; algorithm++) {
		b.world->config.algorithm = algorithm;
		asking_begin(&b, STACK_SYSTEM, job);
		assert_string_equal(ask(&b, 0), "");
		double wanted = placement_score((enum placement_algorithm)algorithm,
			(struct resources){3900, 7936, 50000}, (struct resources){1500, 3000, 0});
		assert_float_equal(b.option.score, wanted, 1e-12);
		assert_true(stack_option_is_plain(&b.option));
	}
	asking_begin(&b, STACK_SYSTEM, job);
	asking_teardown(&b);
}

static void the_plan_is_seen(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "cpu=1000");
	struct job *job = world_job(b.world, "system sys cpu=600");
	struct allocation *before = world_allocate(b.world, job, 0, 0, 0);
	asking_begin(&b, STACK_SYSTEM, job);
	assert_string_equal(ask(&b, 0), "cpu");
	stack_plan_stop(b.stack, before, STOP_UPDATING, false, NULL);
	assert_string_equal(ask(&b, 0), "");
	stack_plan_unstop(b.stack, &before->id);
	assert_int_equal(b.plan->stops.count, 0);
	assert_string_equal(ask(&b, 0), "cpu");
	stack_plan_stop(b.stack, before, STOP_UPDATING, false, NULL);
	assert_string_equal(ask(&b, 0), "");
	asking_place(&b, 0);
	assert_string_equal(ask(&b, 0), "cpu");
	assert_int_equal(b.plan->placements.count, 1);
	asking_teardown(&b);
}

static void an_update_in_place_holds_what_it_becomes(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "cpu=1000");
	struct job *job = world_job(b.world, "system sys cpu=600");
	struct allocation *a = world_allocate(b.world, job, 0, 0, 0);
	asking_begin(&b, STACK_SYSTEM, job);
	struct plan_update update = {.id = a->id,
		.node_id = a->node_id,
		.resources = {400, 64, 0},
		.metrics = PLAN_NO_METRICS};
	stack_plan_update(b.stack, &update);
	assert_string_equal(ask(&b, 0), "");
	asking_place(&b, 0);
	assert_string_equal(ask(&b, 0), "cpu");
	asking_teardown(&b);
}

static void terminal_allocations_hold_nothing(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "cpu=1000");
	struct job *job = world_job(b.world, "system sys cpu=600");
	struct allocation *a = world_allocate(b.world, job, 0, 0, 0);
	a->client_status = ALLOC_COMPLETE;
	asking_begin(&b, STACK_SYSTEM, job);
	assert_string_equal(ask(&b, 0), "");
	stack_plan_stop(b.stack, a, STOP_NOT_NEEDED, false, NULL); // frees nothing
	asking_place(&b, 0);
	assert_string_equal(ask(&b, 0), "cpu");
	asking_teardown(&b);
}

static void static_ports_collide(void **state)
{
	struct asking b;
	asking_setup(&b);
	for (uint32_t i = 0; i < 2; i++)
		world_node(b.world, "net=host/eth0/default/10.0.0.1/8100-8200 ports=22,443");
	struct job *job = world_job(b.world, "system sys");
	struct port *port = ask_port(&ask_network(job, "host")->reserved_ports, "http", 8000, 0);
	struct job *other = world_job(b.world, "service other");
	world_hold_port(world_allocate(b.world, other, 0, 1, 0), "x", 8000, "10.0.0.1");
	asking_begin(&b, STACK_SYSTEM, job);
	assert_string_equal(ask(&b, 0), "");
	const struct allocated_port *given =
		ARRAY_AT(&b.option.details->ports, struct allocated_port, 0);
	assert_string_equal(given->label, "http");
	assert_string_equal(given->host_ip, "10.0.0.1");
	assert_int_equal(given->value, 8000);
	assert_string_equal(ask(&b, 1), "network: reserved port collision http=8000");
	static const int64_t refused[] = {22, 443, 8100, 8150, 8200};
	for (uint32_t i = 0; i < COUNT(refused); i++) {
		port->value = refused[i];
		assert_int_equal(strncmp(ask(&b, 0), "network: reserved port collision", 32), 0);
	}
	port->value = 8201;
	assert_string_equal(ask(&b, 0), "");
	asking_place(&b, 0);
	assert_string_equal(ask(&b, 0), "network: reserved port collision http=8201");
	port->value = 65536;
	assert_string_equal(ask(&b, 0), "network: invalid port 65536 (out of range)");
	asking_teardown(&b);
}

static void dynamic_ports_until_none_is_left(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "dynamic=25000-25009 ports=25003 cpu=100000");
	struct job *job = world_job(b.world, "system sys");
	struct network_ask *network = ask_network(job, "host");
	ask_port(&network->dynamic_ports, "a", 0, -1);
	ask_port(&network->dynamic_ports, "b", 0, 80);
	struct port *fixed = ask_port(&network->reserved_ports, "c", 25005, 0);
	asking_begin(&b, STACK_SYSTEM, job);
	bool seen[10] = {false};
	for (uint32_t round = 0; round < 4; round++) {
		assert_string_equal(ask(&b, 0), "");
		assert_int_equal(b.option.details->ports.count, 3);
		for (uint32_t i = 0; i < b.option.details->ports.count; i++) {
			const struct allocated_port *p =
				ARRAY_AT(&b.option.details->ports, struct allocated_port, i);
			if (p->value == 80 + round)
				continue;
			assert_in_range(p->value, 25000, 25009);
			assert_false(seen[p->value - 25000]);
			seen[p->value - 25000] = true;
			if (p->label[0] == 'a')
				assert_int_equal(p->to, p->value);
			if (p->label[0] == 'b')
				assert_int_equal(p->to, 80);
		}
		fixed->value = 81 + round;
		asking_place(&b, 0);
	}
	assert_false(seen[3]);
	assert_string_equal(ask(&b, 0), "network: dynamic port selection failed");
	asking_teardown(&b);
}

static void cores_are_counted_and_stand_for_cpu(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "cpu=8000 cores=0-3 attr.cpu.numcores=8");
	struct job *job = world_job(b.world, "system sys cpu=0");
	task_of(job)->resources.cores = 2;
	world_hold_cores(
		world_allocate(b.world, world_job(b.world, "service x"), 0, 0, 0), "t", 1, 1);
	asking_begin(&b, STACK_SYSTEM, job);
	assert_string_equal(ask(&b, 0), "");
	assert_int_equal(b.option.resources.cpu_mhz, 2000);
	const struct allocated_task *task =
		ARRAY_AT(&b.option.details->tasks, struct allocated_task, 0);
	assert_int_equal(task->reserved_cores.count, 2);
	assert_int_equal(*ARRAY_AT(&task->reserved_cores, int64_t, 0), 0);
	assert_int_equal(*ARRAY_AT(&task->reserved_cores, int64_t, 1), 2);
	asking_place(&b, 0);
	assert_string_equal(ask(&b, 0), "cores");
	asking_teardown(&b);
}

static void devices_by_name_constraint_and_count(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "device.nvidia/gpu/t4=4 device-attr.memory=16GiB "
			    "device.nvidia/gpu/a100=2 device-attr.memory=40960MiB");
	world_node(b.world, "device.nvidia/gpu/t4=4 device-attr.memory=16GiB");
	world_node(b.world, "");
	struct job *job = world_job(b.world, "system sys");
	struct device_ask *device = ask_device(job, "gpu", 1);
	constrain(&device->constraints, "${device.attr.memory}", ">=", "40 GiB");
	world_job_changed(job);
	asking_begin(&b, STACK_SYSTEM, job);
	assert_string_equal(ask(&b, 0), "");
	assert_int_equal(b.option.devices.groups[0], 0);
	assert_int_equal(b.option.devices.groups[1], 1);
	const struct allocated_task *task =
		ARRAY_AT(&b.option.details->tasks, struct allocated_task, 0);
	const struct allocated_device *given = ARRAY_AT(&task->devices, struct allocated_device, 0);
	assert_string_equal(given->name, "a100");
	assert_string_equal(*ARRAY_AT(&given->device_ids, char *, 0), "1-0");
	asking_place(&b, 0);
	assert_string_equal(ask(&b, 0), "");
	assert_int_equal(b.option.devices.groups[1], 2);
	asking_place(&b, 0);
	assert_string_equal(ask(&b, 0), "devices: no devices match request");
	assert_string_equal(ask(&b, 1), "missing devices");
	assert_string_equal(ask(&b, 2), "missing devices");
	asking_teardown(&b);
}

static void device_affinities_are_a_score(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "device.nvidia/gpu/t4=4 device.nvidia/gpu/a100=1");
	struct job *job = world_job(b.world, "system sys");
	struct device_ask *device = ask_device(job, "gpu", 1);
	struct affinity *affinity = prefer(&device->affinities);
	set(&affinity->l_target, "${device.model}");
	set(&affinity->r_target, "a100");
	affinity->weight = 40;
	struct affinity *second = prefer(&device->affinities);
	set(&second->l_target, "${device.vendor}");
	set(&second->r_target, "amd");
	second->weight = -10;
	world_job_changed(job);
	asking_begin(&b, STACK_SYSTEM, job);
	assert_string_equal(ask(&b, 0), "");
	assert_int_equal(b.option.devices.groups[1], 1);
	assert_float_equal(b.option.scores[SCORE_DEVICES], 0.8, 1e-12);
	assert_float_equal(b.option.score, (b.option.scores[SCORE_BINPACK] + 0.8) / 2, 1e-12);
	assert_false(stack_option_is_plain(&b.option));
	asking_place(&b, 0);
	assert_string_equal(ask(&b, 0), "");
	assert_int_equal(b.option.devices.groups[0], 1);
	assert_float_equal(b.option.scores[SCORE_DEVICES], 0, 1e-12);
	asking_teardown(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dimensions_in_their_order),
		cmocka_unit_test(the_score_is_placements_score),
		cmocka_unit_test(the_plan_is_seen),
		cmocka_unit_test(an_update_in_place_holds_what_it_becomes),
		cmocka_unit_test(terminal_allocations_hold_nothing),
		cmocka_unit_test(static_ports_collide),
		cmocka_unit_test(dynamic_ports_until_none_is_left),
		cmocka_unit_test(cores_are_counted_and_stand_for_cpu),
		cmocka_unit_test(devices_by_name_constraint_and_count),
		cmocka_unit_test(device_affinities_are_a_score),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
