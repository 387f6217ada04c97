// What the stack says of single nodes: checks, room, scores, and what the plan changes.
#include "placement/placement.h"
#include "placement/scheduler/stack.h"
#include "tests/placement/job_build.h"
#include "tests/scheduler/world.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct bench { // one stack over one world
	struct world *world;
	struct scheduler_view view;
	struct plan *plan;
	struct stack *stack;
	struct stack_option option;
};

static void setup(struct bench *b)
{
	*b = (struct bench){.world = world_create()};
}

static void begin(struct bench *b, enum stack_kind kind, const struct job *job)
{
	b->view = world_view(b->world);
	b->plan = plan_create();
	b->stack = stack_create(kind, &b->view, b->plan);
	stack_set_job(b->stack, job);
}

static void teardown(struct bench *b)
{
	alloc_details_release(b->option.details);
	stack_destroy(b->stack);
	plan_free(b->plan);
	world_destroy(b->world);
}

// "" when it fits.
static const char *ask_index(struct bench *b, uint32_t slot, uint32_t index)
{
	alloc_details_release(b->option.details);
	bool fits = stack_select_node(b->stack, 0, index, slot, &b->option);
	assert_int_equal(fits, b->option.outcome == STACK_FITS);
	assert_ptr_equal(b->option.node, b->world->nodes[slot]);
	return b->option.reason;
}

static const char *ask(struct bench *b, uint32_t slot)
{
	return ask_index(b, slot, 0);
}

// Places on the node what was found for it.
static void place(struct bench *b, uint32_t slot)
{
	static uint32_t number;
	struct plan_placement p = {.node_id = b->world->nodes[slot]->id,
		.slot = slot,
		.resources = b->option.resources,
		.devices = b->option.devices,
		.details = b->option.details,
		.metrics = PLAN_NO_METRICS};
	memcpy(p.id.bytes, &(uint32_t){++number}, sizeof number);
	b->option.details = NULL;
	stack_plan_place(b->stack, &p);
}

// --- Checks --------------------------------------------------------------------------------------------

static void checks_in_their_order_and_by_class(void **state)
{
	struct bench b;
	setup(&b);
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
	begin(&b, STACK_SYSTEM, job);
	assert_string_equal(ask(&b, 0), "${attr.arch} = amd64");
	assert_int_equal(b.option.outcome, STACK_FILTERED);
	assert_string_equal(ask(&b, 1), "computed class ineligible");
	assert_string_equal(ask(&b, 0), "computed class ineligible");
	assert_string_equal(ask(&b, 2), "missing drivers");
	assert_string_equal(ask(&b, 3), "");
	assert_string_equal(ask(&b, 4), "missing drivers");
	assert_string_equal(ask(&b, 5), "${meta.rack} is_not_set ");
	assert_string_equal(ask(&b, 6), "computed class ineligible");
	teardown(&b);
}

static void escaped_constraints_have_no_memo(void **state)
{
	struct bench b;
	setup(&b);
	world_node(b.world, "attr.unique.hostname=a");
	world_node(b.world, "attr.unique.hostname=b");
	struct job *job = world_job(b.world, "system sys");
	constrain(&group_of(job)->constraints, "${attr.unique.hostname}", "=", "b");
	begin(&b, STACK_SYSTEM, job);
	assert_string_equal(ask(&b, 0), "${attr.unique.hostname} = b");
	assert_string_equal(ask(&b, 1), "");
	assert_string_equal(ask(&b, 0), "${attr.unique.hostname} = b");
	struct evaluation *e = evaluation_create();
	stack_eligibility(b.stack, e);
	assert_true(e->escaped_computed_class);
	assert_int_equal(e->class_eligibility.count, 0);
	evaluation_free(e);
	teardown(&b);
}

static void eligibility_is_exported_by_class(void **state)
{
	struct bench b;
	setup(&b);
	world_node(b.world, "attr.arch=arm64");
	world_node(b.world, "attr.arch=amd64");
	world_node(b.world, "attr.arch=riscv");
	world_node(b.world, "attr.arch=amd64 meta.x=1"); // not asked about
	struct job *job = world_job(b.world, "system sys");
	struct task_group *second = add_group(job, "b");
	add_task(second, "t");
	second->disk.size_mb = 0;
	constrain(&group_of(job)->constraints, "${attr.arch}", "=", "amd64");
	constrain(&second->constraints, "${attr.arch}", "=", "arm64");
	world_job_changed(job);
	begin(&b, STACK_SYSTEM, job);
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
	teardown(&b);
}

static struct volume_ask *ask_volume(struct job *job, const char *source, bool read_only)
{
	struct volume_ask *ask = array_append(&group_of(job)->volumes, sizeof *ask);
	set(&ask->name, source);
	set(&ask->type, "host");
	set(&ask->source, source);
	ask->read_only = read_only;
	return ask;
}

static void volumes_are_looked_at_on_each_node(void **state)
{
	static const char *const missing = "missing compatible host volumes";
	struct bench b;
	setup(&b);
	world_node(b.world, "");
	world_node(b.world, "volume.data=/data");
	world_node(b.world, "volume.data=/data:ro");
	world_node(b.world, "volume.data[3]=/data3");
	struct job *job = world_job(b.world, "system sys");
	struct volume_ask *volume = ask_volume(job, "data", false);
	begin(&b, STACK_SYSTEM, job);
	assert_string_equal(ask(&b, 0), missing);
	assert_string_equal(ask(&b, 1), ""); // of the same class
	assert_string_equal(ask(&b, 2), missing);
	volume->read_only = true;
	assert_string_equal(ask(&b, 2), "");
	volume->per_alloc = true;
	assert_string_equal(ask(&b, 1), missing);
	assert_string_equal(ask_index(&b, 3, 3), "");
	assert_string_equal(ask_index(&b, 3, 2), missing);
	teardown(&b);
}

static struct network_ask *ask_network(struct job *job, const char *mode)
{
	struct network_ask *ask = array_append(&group_of(job)->networks, sizeof *ask);
	set(&ask->mode, mode);
	return ask;
}

static struct port *ask_port(struct array *ports, const char *label, int64_t value, int64_t to)
{
	struct port *port = array_append(ports, sizeof *port);
	set(&port->label, label);
	port->value = value;
	port->to = to;
	return port;
}

static void networks_by_mode_and_alias(void **state)
{
	struct bench b;
	setup(&b);
	world_node(b.world, "no-net meta.n=0");
	world_node(b.world, "net=host/eth0/default/10.0.0.1 meta.n=1");
	world_node(b.world, "net=bridge/br0/default/10.0.0.2 meta.n=2");
	world_node(b.world,
		"net=host/eth0/default/10.0.0.3 net=host/eth1/private/192.168.0.3 meta.n=3");
	struct job *job = world_job(b.world, "system sys");
	struct network_ask *network = ask_network(job, "");
	struct port *port = ask_port(&network->dynamic_ports, "http", 0, 0);
	set(&port->host_network, "private");
	begin(&b, STACK_SYSTEM, job);
	assert_string_equal(ask(&b, 0), "missing network");
	assert_string_equal(ask(&b, 1), "missing host network \"private\" for port \"http\"");
	assert_string_equal(ask(&b, 2), "missing network");
	assert_string_equal(ask(&b, 3), "");
	const struct allocated_port *given =
		ARRAY_AT(&b.option.details->ports, struct allocated_port, 0);
	assert_string_equal(given->host_ip, "192.168.0.3");
	assert_in_range(given->value, 20000, 32000);
	teardown(&b);
}

// --- Room ----------------------------------------------------------------------------------------------

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
	struct bench b;
	setup(&b);
	for (uint32_t i = 0; i < COUNT(rows); i++)
		world_node(b.world, rows[i].node);
	begin(&b, STACK_SYSTEM, world_job(b.world, "system sys cpu=1000 memory=1000 disk=1000"));
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		assert_string_equal(ask(&b, i), rows[i].reason);
		if (rows[i].reason[0])
			assert_int_equal(b.option.outcome, STACK_EXHAUSTED);
	}
	teardown(&b);
}

static void the_score_is_placements_score(void **state)
{
	struct bench b;
	setup(&b);
	world_node(b.world, "cpu=4000 memory=8192 reserved=100/256/0");
	struct job *job = world_job(b.world, "system sys cpu=500 memory=1000");
	struct job *other = world_job(b.world, "service other cpu=1000 memory=2000");
	world_allocate(b.world, other, 0, 0, 0);
	for (int algorithm = ALGORITHM_BINPACK; algorithm <= ALGORITHM_SPREAD; algorithm++) {
		b.world->config.algorithm = algorithm;
		begin(&b, STACK_SYSTEM, job);
		assert_string_equal(ask(&b, 0), "");
		double wanted = placement_score((enum placement_algorithm)algorithm,
			(struct resources){3900, 7936, 50000}, (struct resources){1500, 3000, 0});
		assert_float_equal(b.option.score, wanted, 1e-12);
		assert_true(stack_option_is_plain(&b.option));
		stack_destroy(b.stack);
		plan_free(b.plan);
	}
	begin(&b, STACK_SYSTEM, job);
	teardown(&b);
}

static void the_plan_is_seen(void **state)
{
	struct bench b;
	setup(&b);
	world_node(b.world, "cpu=1000");
	struct job *job = world_job(b.world, "system sys cpu=600");
	struct allocation *before = world_allocate(b.world, job, 0, 0, 0);
	begin(&b, STACK_SYSTEM, job);
	assert_string_equal(ask(&b, 0), "cpu");
	stack_plan_stop(b.stack, before, STOP_UPDATING, false, NULL);
	assert_string_equal(ask(&b, 0), "");
	stack_plan_unstop(b.stack, &before->id);
	assert_int_equal(b.plan->stops.count, 0);
	assert_string_equal(ask(&b, 0), "cpu");
	stack_plan_stop(b.stack, before, STOP_UPDATING, false, NULL);
	assert_string_equal(ask(&b, 0), "");
	place(&b, 0);
	assert_string_equal(ask(&b, 0), "cpu");
	assert_int_equal(b.plan->placements.count, 1);
	teardown(&b);
}

static void an_update_in_place_holds_what_it_becomes(void **state)
{
	struct bench b;
	setup(&b);
	world_node(b.world, "cpu=1000");
	struct job *job = world_job(b.world, "system sys cpu=600");
	struct allocation *a = world_allocate(b.world, job, 0, 0, 0);
	begin(&b, STACK_SYSTEM, job);
	struct plan_update update = {.id = a->id,
		.node_id = a->node_id,
		.resources = {400, 64, 0},
		.metrics = PLAN_NO_METRICS};
	stack_plan_update(b.stack, &update);
	assert_string_equal(ask(&b, 0), "");
	place(&b, 0);
	assert_string_equal(ask(&b, 0), "cpu");
	teardown(&b);
}

static void terminal_allocations_hold_nothing(void **state)
{
	struct bench b;
	setup(&b);
	world_node(b.world, "cpu=1000");
	struct job *job = world_job(b.world, "system sys cpu=600");
	struct allocation *a = world_allocate(b.world, job, 0, 0, 0);
	a->client_status = ALLOC_COMPLETE;
	begin(&b, STACK_SYSTEM, job);
	assert_string_equal(ask(&b, 0), "");
	stack_plan_stop(b.stack, a, STOP_NOT_NEEDED, false, NULL); // frees nothing
	place(&b, 0);
	assert_string_equal(ask(&b, 0), "cpu");
	teardown(&b);
}

static void static_ports_collide(void **state)
{
	struct bench b;
	setup(&b);
	for (uint32_t i = 0; i < 2; i++)
		world_node(b.world, "net=host/eth0/default/10.0.0.1/8100-8200 ports=22,443");
	struct job *job = world_job(b.world, "system sys");
	struct port *port = ask_port(&ask_network(job, "host")->reserved_ports, "http", 8000, 0);
	struct job *other = world_job(b.world, "service other");
	world_hold_port(world_allocate(b.world, other, 0, 1, 0), "x", 8000, "10.0.0.1");
	begin(&b, STACK_SYSTEM, job);
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
	place(&b, 0);
	assert_string_equal(ask(&b, 0), "network: reserved port collision http=8201");
	port->value = 65536;
	assert_string_equal(ask(&b, 0), "network: invalid port 65536 (out of range)");
	teardown(&b);
}

static void dynamic_ports_until_none_is_left(void **state)
{
	struct bench b;
	setup(&b);
	world_node(b.world, "dynamic=25000-25009 ports=25003 cpu=100000");
	struct job *job = world_job(b.world, "system sys");
	struct network_ask *network = ask_network(job, "host");
	ask_port(&network->dynamic_ports, "a", 0, -1);
	ask_port(&network->dynamic_ports, "b", 0, 80);
	struct port *fixed = ask_port(&network->reserved_ports, "c", 25005, 0);
	begin(&b, STACK_SYSTEM, job);
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
		place(&b, 0);
	}
	assert_false(seen[3]);
	assert_string_equal(ask(&b, 0), "network: dynamic port selection failed");
	teardown(&b);
}

static void cores_are_counted_and_stand_for_cpu(void **state)
{
	struct bench b;
	setup(&b);
	world_node(b.world, "cpu=8000 cores=0-3 attr.cpu.numcores=8");
	struct job *job = world_job(b.world, "system sys cpu=0");
	task_of(job)->resources.cores = 2;
	world_hold_cores(
		world_allocate(b.world, world_job(b.world, "service x"), 0, 0, 0), "t", 1, 1);
	begin(&b, STACK_SYSTEM, job);
	assert_string_equal(ask(&b, 0), "");
	assert_int_equal(b.option.resources.cpu_mhz, 2000);
	const struct allocated_task *task =
		ARRAY_AT(&b.option.details->tasks, struct allocated_task, 0);
	assert_int_equal(task->reserved_cores.count, 2);
	assert_int_equal(*ARRAY_AT(&task->reserved_cores, int64_t, 0), 0);
	assert_int_equal(*ARRAY_AT(&task->reserved_cores, int64_t, 1), 2);
	place(&b, 0);
	assert_string_equal(ask(&b, 0), "cores");
	teardown(&b);
}

static void devices_by_name_constraint_and_count(void **state)
{
	struct bench b;
	setup(&b);
	world_node(b.world, "device.nvidia/gpu/t4=4 device-attr.memory=16GiB "
			    "device.nvidia/gpu/a100=2 device-attr.memory=40960MiB");
	world_node(b.world, "device.nvidia/gpu/t4=4 device-attr.memory=16GiB");
	world_node(b.world, "");
	struct job *job = world_job(b.world, "system sys");
	struct device_ask *device = ask_device(job, "gpu", 1);
	constrain(&device->constraints, "${device.attr.memory}", ">=", "40 GiB");
	world_job_changed(job);
	begin(&b, STACK_SYSTEM, job);
	assert_string_equal(ask(&b, 0), "");
	assert_int_equal(b.option.devices.groups[0], 0);
	assert_int_equal(b.option.devices.groups[1], 1);
	const struct allocated_task *task =
		ARRAY_AT(&b.option.details->tasks, struct allocated_task, 0);
	const struct allocated_device *given = ARRAY_AT(&task->devices, struct allocated_device, 0);
	assert_string_equal(given->name, "a100");
	assert_string_equal(*ARRAY_AT(&given->device_ids, char *, 0), "1-0");
	place(&b, 0);
	assert_string_equal(ask(&b, 0), "");
	assert_int_equal(b.option.devices.groups[1], 2);
	place(&b, 0);
	assert_string_equal(ask(&b, 0), "devices: no devices match request");
	assert_string_equal(ask(&b, 1), "missing devices");
	assert_string_equal(ask(&b, 2), "missing devices");
	teardown(&b);
}

static void device_affinities_are_a_score(void **state)
{
	struct bench b;
	setup(&b);
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
	begin(&b, STACK_SYSTEM, job);
	assert_string_equal(ask(&b, 0), "");
	assert_int_equal(b.option.devices.groups[1], 1);
	assert_float_equal(b.option.scores[SCORE_DEVICES], 0.8, 1e-12);
	assert_float_equal(b.option.score, (b.option.scores[SCORE_BINPACK] + 0.8) / 2, 1e-12);
	assert_false(stack_option_is_plain(&b.option));
	place(&b, 0);
	assert_string_equal(ask(&b, 0), "");
	assert_int_equal(b.option.devices.groups[0], 1);
	assert_float_equal(b.option.scores[SCORE_DEVICES], 0, 1e-12);
	teardown(&b);
}

// --- What depends on the other allocations of the job --------------------------------------------------

static void distinct_property_counts_values(void **state)
{
	struct bench b;
	setup(&b);
	world_node(b.world, "meta.rack=r1");
	world_node(b.world, "meta.rack=r1");
	world_node(b.world, "meta.rack=r2");
	world_node(b.world, "");
	struct job *job = world_job(b.world, "system sys");
	constrain(&job->constraints, "${meta.rack}", "distinct_property", "");
	struct allocation *a = world_allocate(b.world, job, 0, 0, 0);
	begin(&b, STACK_SYSTEM, job);
	assert_string_equal(ask(&b, 1), "distinct_property: ${meta.rack}=r1 used by 1 allocs");
	assert_string_equal(ask(&b, 3), "missing property \"${meta.rack}\"");
	assert_string_equal(ask(&b, 2), "");
	place(&b, 2);
	assert_string_equal(ask(&b, 2), "distinct_property: ${meta.rack}=r2 used by 1 allocs");
	stack_plan_stop(b.stack, a, STOP_NOT_NEEDED, false, NULL);
	assert_string_equal(ask(&b, 1), "");
	stack_plan_unstop(b.stack, &a->id);
	assert_string_equal(ask(&b, 1), "distinct_property: ${meta.rack}=r1 used by 1 allocs");
	teardown(&b);
}

static void distinct_hosts_is_for_services(void **state)
{
	struct bench b;
	setup(&b);
	world_node(b.world, "");
	world_node(b.world, "");
	struct job *job = world_job(b.world, "service web");
	constrain(&job->constraints, "", "distinct_hosts", "true");
	struct allocation *a = world_allocate(b.world, job, 0, 0, 0);
	begin(&b, STACK_GENERIC, job);
	assert_string_equal(ask(&b, 0), "distinct_hosts");
	assert_string_equal(ask(&b, 1), "");
	place(&b, 1);
	assert_string_equal(ask(&b, 1), "distinct_hosts");
	stack_plan_stop(b.stack, a, STOP_NOT_NEEDED, false, NULL);
	assert_string_equal(ask(&b, 0), "");
	stack_destroy(b.stack);
	plan_free(b.plan);
	set(&ARRAY_AT(&job->constraints, struct constraint, 0)->r_target, "false");
	begin(&b, STACK_GENERIC, job);
	assert_string_equal(ask(&b, 0), "");
	teardown(&b);
}

// --- Preemption ----------------------------------------------------------------------------------------

static void the_least_important_make_room_first(void **state)
{
	struct bench b;
	setup(&b);
	world_node(b.world, "cpu=2000 memory=4096");
	struct job *low = world_job(b.world, "batch low priority=20 cpu=500 memory=500");
	struct job *lower = world_job(b.world, "batch lower priority=10 cpu=100 memory=100");
	struct job *near = world_job(b.world, "batch near priority=45 cpu=900 memory=500");
	struct allocation *victims[2] = {
		world_allocate(b.world, lower, 0, 0, 0), world_allocate(b.world, low, 0, 0, 0)};
	world_allocate(b.world, near, 0, 0, 0);
	struct job *job = world_job(b.world, "system sys priority=50 cpu=1000 memory=500");
	begin(&b, STACK_SYSTEM, job);
	assert_string_equal(ask(&b, 0), "");
	assert_int_equal(b.option.preempted_count, 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_ptr_equal(b.option.preempted[i], victims[i]);
		stack_plan_preempt(b.stack, victims[i], &(struct uuid){{1}});
	}
	place(&b, 0);
	assert_int_equal(b.plan->preemptions.count, 2);
	assert_string_equal(ask(&b, 0), "cpu"); // what is left matters too much
	teardown(&b);
}

static void superfluous_victims_stay(void **state)
{
	struct bench b;
	setup(&b);
	world_node(b.world, "cpu=3400 memory=4096");
	struct job *near = world_job(b.world, "batch near priority=20 cpu=900 memory=100");
	struct job *large = world_job(b.world, "batch large priority=20 cpu=2500 memory=100");
	world_allocate(b.world, near, 0, 0, 0);
	struct allocation *victim = world_allocate(b.world, large, 0, 0, 0);
	struct job *job = world_job(b.world, "system sys priority=50 cpu=1000 memory=100");
	begin(&b, STACK_SYSTEM, job);
	assert_string_equal(ask(&b, 0), "");
	assert_int_equal(b.option.preempted_count, 1);
	assert_ptr_equal(b.option.preempted[0], victim);
	stack_destroy(b.stack);
	plan_free(b.plan);
	b.world->config.preemption.system = false;
	begin(&b, STACK_SYSTEM, job);
	assert_string_equal(ask(&b, 0), "cpu");
	teardown(&b);
}

static void groups_that_gave_enough_are_spared(void **state)
{
	struct bench b;
	setup(&b);
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
	begin(&b, STACK_SYSTEM, job);
	stack_plan_preempt(b.stack, given, &(struct uuid){{1}});
	assert_string_equal(ask(&b, 1), "");
	assert_int_equal(b.option.preempted_count, 1);
	assert_ptr_equal(b.option.preempted[0], victim);
	teardown(&b);
}

static void who_holds_the_port_makes_room(void **state)
{
	struct bench b;
	setup(&b);
	world_node(b.world, "net=host/eth0/default/10.0.0.1 ports=443");
	struct job *low = world_job(b.world, "batch low priority=20");
	struct job *high = world_job(b.world, "batch high priority=41");
	struct allocation *victim = world_allocate(b.world, low, 0, 0, 0);
	world_hold_port(victim, "p", 80, "10.0.0.1");
	world_hold_port(world_allocate(b.world, high, 0, 0, 0), "p", 81, "10.0.0.1");
	struct job *job = world_job(b.world, "system sys priority=50");
	struct port *port = ask_port(&ask_network(job, "host")->reserved_ports, "http", 80, 0);
	begin(&b, STACK_SYSTEM, job);
	assert_string_equal(ask(&b, 0), "");
	assert_int_equal(b.option.preempted_count, 1);
	assert_ptr_equal(b.option.preempted[0], victim);
	port->value = 81;
	assert_string_equal(ask(&b, 0), "network: reserved port collision http=81");
	port->value = 443;
	assert_string_equal(ask(&b, 0), "network: reserved port collision http=443");
	teardown(&b);
}

static void devices_are_freed_where_it_costs_least(void **state)
{
	struct bench b;
	setup(&b);
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
	begin(&b, STACK_SYSTEM, job);
	// Of t4: 10 + 20 of two priorities; of a100: 20 alone.
	assert_string_equal(ask(&b, 0), "");
	assert_int_equal(b.option.preempted_count, 1);
	assert_ptr_equal(b.option.preempted[0], a[2]);
	assert_int_equal(b.option.devices.groups[1], 3);
	teardown(&b);
}

// --- Metrics -------------------------------------------------------------------------------------------

static void options_are_counted(void **state)
{
	struct bench b;
	struct alloc_metrics m = {0};
	setup(&b);
	world_node(b.world, "class=large cpu=10");
	world_node(b.world, "class=large attr.arch=arm64");
	world_node(b.world, "attr.arch=arm64");
	struct job *job = world_job(b.world, "system sys cpu=100");
	constrain(&job->constraints, "${attr.arch}", "!=", "arm64");
	begin(&b, STACK_SYSTEM, job);
	for (uint32_t slot = 0; slot < 3; slot++) {
		ask(&b, slot);
		stack_count(&b.option, &m);
	}
	stack_count_exhausted(group_of(job), &m);
	assert_int_equal(m.nodes_evaluated, 3);
	assert_int_equal(m.nodes_filtered, 2);
	assert_int_equal(m.nodes_exhausted, 1);
	assert_int_equal(count_get(&m.constraint_filtered, "${attr.arch} != arm64"), 2);
	assert_int_equal(count_get(&m.class_filtered, "large"), 1);
	assert_int_equal(m.class_filtered.count, 1);
	assert_int_equal(count_get(&m.dimension_exhausted, "cpu"), 1);
	assert_int_equal(count_get(&m.class_exhausted, "large"), 1);
	assert_int_equal(m.resources_exhausted.count, 1);
	const struct exhausted_resources *r =
		ARRAY_AT(&m.resources_exhausted, struct exhausted_resources, 0);
	assert_int_equal(r->cpu, 100);
	assert_int_equal(r->memory_mb, 0);
	metrics_release(&m);
	teardown(&b);
}

static void the_best_five_scores_are_kept(void **state)
{
	struct bench b;
	struct alloc_metrics m = {0};
	char words[64];
	setup(&b);
	for (uint32_t i = 0; i < 8; i++) {
		snprintf(words, sizeof words, "cpu=%u", 1000 + 1000 * (i * 5 % 8));
		world_node(b.world, words);
	}
	begin(&b, STACK_SYSTEM, world_job(b.world, "system sys cpu=500"));
	for (uint32_t slot = 0; slot < 8; slot++) {
		assert_string_equal(ask(&b, slot), "");
		stack_count(&b.option, &m);
	}
	assert_int_equal(m.score_metadata.count, SCORES_KEPT);
	for (uint32_t i = 0; i < SCORES_KEPT; i++) {
		const struct node_score *s = ARRAY_AT(&m.score_metadata, struct node_score, i);
		// The smallest nodes are packed best: those with 1000, 2000, …
		uint32_t slot = s->node_id.bytes[15];
		assert_int_equal(slot * 5 % 8, i);
		assert_int_equal(s->scores.count, 1);
	}
	metrics_release(&m);
	teardown(&b);
}

static void nodes_are_available_by_datacenter(void **state)
{
	struct bench b;
	struct alloc_metrics m = {0};
	setup(&b);
	world_node(b.world, "dc=east-1");
	world_node(b.world, "dc=east-2");
	world_node(b.world, "dc=east-1");
	world_node(b.world, "dc=east-1 ineligible");
	world_node(b.world, "dc=east-1 draining");
	world_node(b.world, "dc=east-1 status=down");
	world_node(b.world, "dc=east-1 pool=gpu");
	world_node(b.world, "dc=west");
	begin(&b, STACK_SYSTEM, world_job(b.world, "system sys dc=east-* dc=north"));
	stack_nodes_available(b.stack, &m);
	assert_int_equal(m.nodes_in_pool, 3);
	assert_int_equal(m.nodes_available.count, 3);
	assert_int_equal(count_get(&m.nodes_available, "east-1"), 2);
	assert_int_equal(count_get(&m.nodes_available, "east-2"), 1);
	assert_int_equal(count_get(&m.nodes_available, "north"), 0);
	metrics_release(&m);
	teardown(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(checks_in_their_order_and_by_class),
		cmocka_unit_test(escaped_constraints_have_no_memo),
		cmocka_unit_test(eligibility_is_exported_by_class),
		cmocka_unit_test(volumes_are_looked_at_on_each_node),
		cmocka_unit_test(networks_by_mode_and_alias),
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
		cmocka_unit_test(distinct_property_counts_values),
		cmocka_unit_test(distinct_hosts_is_for_services),
		cmocka_unit_test(the_least_important_make_room_first),
		cmocka_unit_test(superfluous_victims_stay),
		cmocka_unit_test(groups_that_gave_enough_are_spared),
		cmocka_unit_test(who_holds_the_port_makes_room),
		cmocka_unit_test(devices_are_freed_where_it_costs_least),
		cmocka_unit_test(options_are_counted),
		cmocka_unit_test(the_best_five_scores_are_kept),
		cmocka_unit_test(nodes_are_available_by_datacenter),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
