// Whether a node may run a group at all, and the results that are kept.
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/asking.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct volume_ask *ask_volume(struct job *job, const char *source, bool read_only)
{
	struct volume_ask *ask = array_append(&group_of(job)->volumes, sizeof *ask);
	set(&ask->name, source);
	set(&ask->type, "host");
	set(&ask->source, source);
	ask->read_only = read_only;
	return ask;
}

static void checks_in_their_order_and_by_class(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "attr.arch=arm64");
	world_node(b.world, "attr.arch=arm64");
	world_node(b.world, "attr.arch=amd64 no-driver");
	world_node(b.world, "attr.arch=amd64 no-driver attr.driver.exec=true");
	world_node(b.world, "attr.arch=amd64 driver.exec=0");
	world_node(b.world, "attr.arch=amd64 meta.rack=r1");
	world_node(b.world, "attr.arch=amd64 meta.rack=r1 cpu=1000");
	struct job *job = world_job(b.world, "system sys");
	constrain(&job->constraints, "${attr.arch}", "=", "amd64");
	constrain(&task_of(job)->constraints, "${meta.rack}", "is_not_set", "");
	asking_begin(&b, STACK_SYSTEM, job);
	assert_string_equal(ask(&b, 0), "${attr.arch} = amd64");
	assert_int_equal(b.option.outcome, STACK_FILTERED);
	assert_string_equal(ask(&b, 1), "computed class ineligible");
	assert_string_equal(ask(&b, 0), "computed class ineligible");
	assert_string_equal(ask(&b, 2), "missing drivers");
	assert_string_equal(ask(&b, 3), "");
	assert_string_equal(ask(&b, 4), "missing drivers");
	assert_string_equal(ask(&b, 5), "${meta.rack} is_not_set ");
	assert_string_equal(ask(&b, 6), "computed class ineligible");
	asking_teardown(&b);
}

static void escaped_constraints_have_no_memo(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "attr.unique.hostname=a");
	world_node(b.world, "attr.unique.hostname=b");
	struct job *job = world_job(b.world, "system sys");
	constrain(&group_of(job)->constraints, "${attr.unique.hostname}", "=", "b");
	asking_begin(&b, STACK_SYSTEM, job);
	assert_string_equal(ask(&b, 0), "${attr.unique.hostname} = b");
	assert_string_equal(ask(&b, 1), "");
	assert_string_equal(ask(&b, 0), "${attr.unique.hostname} = b");
	struct evaluation *e = evaluation_create();
	stack_eligibility(b.stack, e);
	assert_true(e->escaped_computed_class);
	assert_int_equal(e->class_eligibility.count, 0);
	evaluation_free(e);
	asking_teardown(&b);
}

static void eligibility_is_exported_by_class(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "attr.arch=arm64");
	world_node(b.world, "attr.arch=amd64");
	world_node(b.world, "attr.arch=riscv");
	world_node(b.world, "attr.arch=amd64 meta.x=1"); // not in the constraints
	struct job *job = world_job(b.world, "system sys");
	struct task_group *second = add_group(job, "b");
	add_task(second, "t");
	second->disk.size_mb = 0;
	constrain(&group_of(job)->constraints, "${attr.arch}", "=", "amd64");
	constrain(&second->constraints, "${attr.arch}", "=", "arm64");
	world_job_changed(job);
	asking_begin(&b, STACK_SYSTEM, job);
	for (uint32_t slot = 0; slot < 3; slot++)
		for (uint32_t group = 0; group < 2; group++)
			stack_select_node(b.stack, group, 0, slot, &b.option);
	struct evaluation *e = evaluation_create();
	stack_eligibility(b.stack, e);
	assert_false(e->escaped_computed_class);
	assert_int_equal(e->class_eligibility.count, 3);
	static const struct {
		const char *name;
		int64_t count;
	} wanted[] = {{"v1:1000", 1}, {"v1:1001", 1}, {"v1:1002", 0}};
	for (uint32_t i = 0; i < 3; i++) {
		const struct named_count *c =
			ARRAY_AT(&e->class_eligibility, struct named_count, i);
		assert_string_equal(c->name, wanted[i].name);
		assert_int_equal(c->count, wanted[i].count);
	}
	evaluation_free(e);
	asking_teardown(&b);
}

static void volumes_are_looked_at_on_each_node(void **state)
{
	static const char *const missing = "missing compatible host volumes";
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "");
	world_node(b.world, "volume.data=/data");
	world_node(b.world, "volume.data=/data:ro");
	world_node(b.world, "volume.data[3]=/data3");
	struct job *job = world_job(b.world, "system sys");
	struct volume_ask *volume = ask_volume(job, "data", false);
	asking_begin(&b, STACK_SYSTEM, job);
	assert_string_equal(ask(&b, 0), missing);
	assert_string_equal(ask(&b, 1), ""); // of the same class
	assert_string_equal(ask(&b, 2), missing);
	volume->read_only = true;
	assert_string_equal(ask(&b, 2), "");
	volume->per_alloc = true;
	assert_string_equal(ask(&b, 1), missing);
	assert_string_equal(ask_index(&b, 3, 3), "");
	assert_string_equal(ask_index(&b, 3, 2), missing);
	asking_teardown(&b);
}

static void networks_by_mode_and_alias(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "no-net meta.n=0");
	world_node(b.world, "net=host/eth0/default/10.0.0.1 meta.n=1");
	world_node(b.world, "net=bridge/br0/default/10.0.0.2 meta.n=2");
	world_node(b.world,
		"net=host/eth0/default/10.0.0.3 net=host/eth1/private/192.168.0.3 meta.n=3");
	struct job *job = world_job(b.world, "system sys");
	struct network_ask *network = ask_network(job, "");
	struct port *port = ask_port(&network->dynamic_ports, "http", 0, 0);
	set(&port->host_network, "private");
	asking_begin(&b, STACK_SYSTEM, job);
	assert_string_equal(ask(&b, 0), "missing network");
	assert_string_equal(ask(&b, 1), "missing host network \"private\" for port \"http\"");
	assert_string_equal(ask(&b, 2), "missing network");
	assert_string_equal(ask(&b, 3), "");
	const struct allocated_port *given =
		ARRAY_AT(&b.option.details->ports, struct allocated_port, 0);
	assert_string_equal(given->host_ip, "192.168.0.3");
	assert_in_range(given->value, 20000, 32000);
	asking_teardown(&b);
}

static void distinct_property_counts_values(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "meta.rack=r1");
	world_node(b.world, "meta.rack=r1");
	world_node(b.world, "meta.rack=r2");
	world_node(b.world, "");
	struct job *job = world_job(b.world, "system sys");
	constrain(&job->constraints, "${meta.rack}", "distinct_property", "");
	struct allocation *a = world_allocate(b.world, job, 0, 0, 0);
	asking_begin(&b, STACK_SYSTEM, job);
	assert_string_equal(ask(&b, 1), "distinct_property: ${meta.rack}=r1 used by 1 allocs");
	assert_string_equal(ask(&b, 3), "missing property \"${meta.rack}\"");
	assert_string_equal(ask(&b, 2), "");
	asking_place(&b, 2);
	assert_string_equal(ask(&b, 2), "distinct_property: ${meta.rack}=r2 used by 1 allocs");
	stack_plan_stop(b.stack, a, STOP_NOT_NEEDED, false, NULL);
	assert_string_equal(ask(&b, 1), "");
	stack_plan_unstop(b.stack, &a->id);
	assert_string_equal(ask(&b, 1), "distinct_property: ${meta.rack}=r1 used by 1 allocs");
	asking_teardown(&b);
}

static void distinct_hosts_is_for_services(void **state)
{
	struct asking b;
	asking_setup(&b);
	world_node(b.world, "");
	world_node(b.world, "");
	struct job *job = world_job(b.world, "service web");
	constrain(&job->constraints, "", "distinct_hosts", "true");
	struct allocation *a = world_allocate(b.world, job, 0, 0, 0);
	asking_begin(&b, STACK_GENERIC, job);
	assert_string_equal(ask(&b, 0), "distinct_hosts");
	assert_string_equal(ask(&b, 1), "");
	asking_place(&b, 1);
	assert_string_equal(ask(&b, 1), "distinct_hosts");
	stack_plan_stop(b.stack, a, STOP_NOT_NEEDED, false, NULL);
	assert_string_equal(ask(&b, 0), "");
	set(&ARRAY_AT(&job->constraints, struct constraint, 0)->r_target, "false");
	asking_begin(&b, STACK_GENERIC, job);
	assert_string_equal(ask(&b, 0), "");
	asking_teardown(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(checks_in_their_order_and_by_class),
		cmocka_unit_test(escaped_constraints_have_no_memo),
		cmocka_unit_test(eligibility_is_exported_by_class),
		cmocka_unit_test(volumes_are_looked_at_on_each_node),
		cmocka_unit_test(networks_by_mode_and_alias),
		cmocka_unit_test(distinct_property_counts_values),
		cmocka_unit_test(distinct_hosts_is_for_services),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
