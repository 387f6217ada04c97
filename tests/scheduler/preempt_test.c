// Who makes room for a job that matters more.
#include "tests/placement/job_build.h"
#include "tests/scheduler/asking.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void the_least_important_make_room_first(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "cpu=2000 memory=4096");
	struct job *low = world_job(b.world, "batch low priority=20 cpu=500 memory=500");
	struct job *lower = world_job(b.world, "batch lower priority=10 cpu=100 memory=100");
	struct job *near = world_job(b.world, "batch near priority=45 cpu=900 memory=500");
	struct allocation *victims[2] = {
		world_allocate(b.world, lower, 0, 0, 0), world_allocate(b.world, low, 0, 0, 0)};
	world_allocate(b.world, near, 0, 0, 0);
	struct job *job = world_job(b.world, "system sys priority=50 cpu=1000 memory=500");
	asking_begin(&b, STACK_SYSTEM, job);
	assert_string_equal(ask(&b, 0), "");
	assert_int_equal(b.option.preempted_count, 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_ptr_equal(b.option.preempted[i], victims[i]);
		stack_plan_preempt(b.stack, victims[i], &(struct uuid){{1}});
	}
	asking_place(&b, 0);
	assert_int_equal(b.plan->preemptions.count, 2);
	assert_string_equal(ask(&b, 0), "cpu"); // what is left matters too much
	asking_teardown(&b);
}

static void superfluous_victims_stay(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "cpu=3400 memory=4096");
	struct job *near = world_job(b.world, "batch near priority=20 cpu=900 memory=100");
	struct job *large = world_job(b.world, "batch large priority=20 cpu=2500 memory=100");
	world_allocate(b.world, near, 0, 0, 0);
	struct allocation *victim = world_allocate(b.world, large, 0, 0, 0);
	struct job *job = world_job(b.world, "system sys priority=50 cpu=1000 memory=100");
	asking_begin(&b, STACK_SYSTEM, job);
	assert_string_equal(ask(&b, 0), "");
	assert_int_equal(b.option.preempted_count, 1);
	assert_ptr_equal(b.option.preempted[0], victim);
	b.world->config.preemption.system = false;
	asking_begin(&b, STACK_SYSTEM, job);
	assert_string_equal(ask(&b, 0), "cpu");
	asking_teardown(&b);
}

static void groups_that_gave_enough_are_spared(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "cpu=1000 memory=4096");
	world_node(b.world, "cpu=1000 memory=4096");
	struct job *nearer = world_job(b.world, "service nearer priority=20 cpu=500");
	struct job *farther = world_job(b.world, "batch farther priority=20 cpu=490");
	group_of(nearer)->migrate = block(&migrate_description);
	group_of(nearer)->migrate->max_parallel = 1;
	struct allocation *given = world_allocate(b.world, nearer, 0, 0, 0);
	world_allocate(b.world, nearer, 0, 1, 1);
	struct allocation *victim = world_allocate(b.world, farther, 0, 1, 0);
	struct job *job = world_job(b.world, "system sys priority=50 cpu=500");
	asking_begin(&b, STACK_SYSTEM, job);
	stack_plan_preempt(b.stack, given, &(struct uuid){{1}});
	assert_string_equal(ask(&b, 1), "");
	assert_int_equal(b.option.preempted_count, 1);
	assert_ptr_equal(b.option.preempted[0], victim);
	asking_teardown(&b);
}

static void who_holds_the_port_makes_room(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "net=host/eth0/default/10.0.0.1 ports=443");
	struct job *low = world_job(b.world, "batch low priority=20");
	struct job *high = world_job(b.world, "batch high priority=41");
	struct allocation *victim = world_allocate(b.world, low, 0, 0, 0);
	world_hold_port(victim, "p", 80, "10.0.0.1");
	world_hold_port(world_allocate(b.world, high, 0, 0, 0), "p", 81, "10.0.0.1");
	struct job *job = world_job(b.world, "system sys priority=50");
	struct port *port = ask_port(&ask_network(job, "host")->reserved_ports, "http", 80, 0);
	asking_begin(&b, STACK_SYSTEM, job);
	assert_string_equal(ask(&b, 0), "");
	assert_int_equal(b.option.preempted_count, 1);
	assert_ptr_equal(b.option.preempted[0], victim);
	port->value = 81;
	assert_string_equal(ask(&b, 0), "network: reserved port collision http=81");
	port->value = 443;
	assert_string_equal(ask(&b, 0), "network: reserved port collision http=443");
	asking_teardown(&b);
}

static void devices_are_freed_where_it_costs_least(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "device.nvidia/gpu/t4=2 device.nvidia/gpu/a100=2");
	struct job *low = world_job(b.world, "batch low priority=20");
	struct job *lower = world_job(b.world, "batch lower priority=10");
	static const struct {
		uint32_t group;
		uint64_t instances;
		bool lower;
	} held[] = {{0, 1, false}, {0, 2, true}, {1, 3, false}};
	struct allocation *a[3];
	for (uint32_t i = 0; i < 3; i++) {
		a[i] = world_allocate(b.world, held[i].lower ? lower : low, 0, 0, i);
		a[i]->devices.groups[held[i].group] = held[i].instances;
	}
	struct job *job = world_job(b.world, "system sys priority=50");
	ask_device(job, "gpu", 2);
	world_job_changed(job);
	asking_begin(&b, STACK_SYSTEM, job);
	// Of t4: 10 + 20 of two priorities; of a100: 20 alone.
	assert_string_equal(ask(&b, 0), "");
	assert_int_equal(b.option.preempted_count, 1);
	assert_ptr_equal(b.option.preempted[0], a[2]);
	assert_int_equal(b.option.devices.groups[1], 3);
	asking_teardown(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_least_important_make_room_first),
		cmocka_unit_test(superfluous_victims_stay),
		cmocka_unit_test(groups_that_gave_enough_are_spared),
		cmocka_unit_test(who_holds_the_port_makes_room),
		cmocka_unit_test(devices_are_freed_where_it_costs_least),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
