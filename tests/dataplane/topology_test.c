// The planner on machines that are not here: every promise of topology.h, on each of them.
#include "dataplane/topology.h"
#include <hwloc/distances.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static hwloc_topology_t machine(const char *description)
{
	hwloc_topology_t t;
	assert_int_equal(hwloc_topology_init(&t), 0);
	assert_int_equal(hwloc_topology_set_synthetic(t, description), 0);
	assert_int_equal(hwloc_topology_load(t), 0);
	return t;
}

static hwloc_obj_t pu_of(hwloc_topology_t t, int cpu)
{
	hwloc_obj_t pu = hwloc_get_pu_obj_by_os_index(t, (unsigned)cpu);
	assert_non_null(pu);
	return pu;
}

static hwloc_obj_t core_of(hwloc_topology_t t, int cpu)
{
	return hwloc_get_ancestor_obj_by_type(t, HWLOC_OBJ_CORE, pu_of(t, cpu));
}

static int numa_of(hwloc_topology_t t, int cpu)
{
	return hwloc_bitmap_first(pu_of(t, cpu)->nodeset);
}

static struct topology_ask one_port(int numa_node, uint32_t queues)
{
	return (struct topology_ask){
		.ports = 1, .port = {{.numa_node = numa_node, .queues = queues}}};
}

static struct topology_plan plan_of(hwloc_topology_t t, struct topology_ask ask)
{
	struct topology_plan plan;
	assert_int_equal(topology_plan(t, &ask, &plan), 0);
	return plan;
}

static bool shares_core(hwloc_topology_t t, const struct topology_plan *p, int cpu, uint32_t but)
{
	for (uint32_t i = 0; i < p->worker_count; i++)
		if (i != but && core_of(t, p->workers[i].cpu) == core_of(t, cpu))
			return true;
	return false;
}

static uint32_t sharing_workers(hwloc_topology_t t, const struct topology_plan *p)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < p->worker_count; i++)
		n += shares_core(t, p, p->workers[i].cpu, i);
	return n;
}

static uint32_t workers_on_node(const struct topology_plan *p, int numa_node)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < p->worker_count; i++)
		n += p->workers[i].numa_node == numa_node;
	return n;
}

static bool says(const struct topology_plan *p, enum topology_severity severity, const char *text)
{
	for (uint32_t i = 0; i < p->problem_count; i++)
		if (p->problems[i].severity == severity &&
			strstr(p->problems[i].text, text) != NULL) {
			assert_true(strlen(p->problems[i].remedy) > 0);
			return true;
		}
	return false;
}

static uint32_t threads_on(const struct topology_plan *p, int cpu)
{
	uint32_t n = p->applier_cpu == cpu;
	for (uint32_t i = 0; i < p->scheduler_count; i++)
		n += p->scheduler_cpus[i] == cpu;
	return n;
}

static bool polls(const struct topology_plan *p, int cpu)
{
	for (uint32_t i = 0; i < p->worker_count; i++)
		if (p->workers[i].cpu == cpu)
			return true;
	return false;
}

// Schedulers: two at least, none on a poller's processor while there is another, and one processor each, the
// applier's left alone, while there are cores that nobody else has.
static void check_schedulers(hwloc_topology_t t, const struct topology_plan *p, uint32_t cores)
{
	uint32_t cpus = (uint32_t)hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU);
	assert_in_range(p->scheduler_count, SCHEDULERS_USUAL_LEAST, SCHEDULERS_USUAL_MAX);
	for (uint32_t i = 0; i < p->scheduler_count; i++) {
		if (p->worker_count < cpus)
			assert_false(polls(p, p->scheduler_cpus[i]));
		if (p->worker_count + 1 + p->scheduler_count <= cores) {
			assert_int_equal(threads_on(p, p->scheduler_cpus[i]), 1);
			assert_false(shares_core(t, p, p->scheduler_cpus[i], UINT32_MAX));
		}
	}
}

// What must hold for one port on a machine of equal NUMA nodes, whatever its size.
static void check_one_port(
	hwloc_topology_t t, uint32_t nodes, uint32_t cores_per_node, int numa_node, uint32_t queues)
{
	struct topology_plan p = plan_of(t, one_port(numa_node, queues));
	uint32_t cores = nodes * cores_per_node;
	assert_int_equal(p.worker_count, queues);
	for (uint32_t i = 0; i < queues; i++) {
		assert_int_equal(p.workers[i].port, 0);
		assert_int_equal(p.workers[i].queue, i);
		assert_int_equal(p.workers[i].numa_node, numa_of(t, p.workers[i].cpu));
	}
	if (queues <= cores)
		assert_int_equal(sharing_workers(t, &p), 0);
	uint32_t local = queues < cores_per_node ? queues : cores_per_node;
	assert_true(workers_on_node(&p, numa_node) >= local);
	assert_int_equal(
		says(&p, TOPOLOGY_WARNING, "away from"), workers_on_node(&p, numa_node) < queues);
	if (queues < cores) {
		assert_false(shares_core(t, &p, p.applier_cpu, UINT32_MAX));
		assert_false(shares_core(t, &p, p.main_cpu, UINT32_MAX));
	}
	if (queues < cores_per_node) {
		assert_int_equal(numa_of(t, p.applier_cpu), numa_node);
		assert_int_equal(p.problem_count, 0);
	}
	if (queues > cores)
		assert_true(p.problem_count > 0);
	check_schedulers(t, &p, cores);
}

static void every_size(void **state)
{
	(void)state;
	for (uint32_t nodes = 1; nodes <= 8; nodes++)
		for (uint32_t cores = 1; cores <= 6; cores++)
			for (uint32_t threads = 1; threads <= 2; threads++) {
				char description[64];
				snprintf(description, sizeof description, "node:%u core:%u pu:%u",
					nodes, cores, threads);
				hwloc_topology_t t = machine(description);
				for (int nic = 0; nic < (int)nodes; nic++)
					for (uint32_t queues = 1; queues <= 12; queues++)
						check_one_port(t, nodes, cores, nic, queues);
				hwloc_topology_destroy(t);
			}
}

static void two_cores_two_queues(void **state)
{
	(void)state;
	hwloc_topology_t t = machine("core:2 pu:1");
	struct topology_ask ask = one_port(-1, 2);
	struct topology_plan p = plan_of(t, ask);
	assert_int_equal(sharing_workers(t, &p), 0);
	assert_true(says(&p, TOPOLOGY_WARNING, "applier shares processor"));
	ask.spin = true;
	p = plan_of(t, ask);
	assert_true(says(&p, TOPOLOGY_ERROR, "applier shares processor"));
	assert_true(says(&p, TOPOLOGY_ERROR, "main thread shares processor"));
	hwloc_topology_destroy(t);
}

static void two_cores_one_queue(void **state)
{
	(void)state;
	hwloc_topology_t t = machine("core:2 pu:1");
	struct topology_plan p = plan_of(t, one_port(-1, 1));
	assert_int_equal(p.workers[0].cpu, 1);
	assert_int_equal(p.applier_cpu, 0);
	assert_int_equal(p.main_cpu, 0);
	assert_int_equal(p.scheduler_count, 2);
	assert_int_equal(p.scheduler_cpus[0], 0); // with the applier, not with the poller
	assert_int_equal(p.scheduler_cpus[1], 0);
	assert_int_equal(p.problem_count, 0);
	hwloc_topology_destroy(t);
}

static void as_many_schedulers_as_asked(void **state)
{
	(void)state;
	hwloc_topology_t t = machine("core:4 pu:1");
	struct topology_ask ask = one_port(-1, 1);
	ask.schedulers = 6;
	struct topology_plan p = plan_of(t, ask);
	assert_int_equal(p.scheduler_count, 6);
	for (uint32_t i = 0; i < 6; i++) {
		assert_false(polls(&p, p.scheduler_cpus[i]));
		assert_in_range(threads_on(&p, p.scheduler_cpus[i]), 2, 3); // spread evenly
	}
	ask.schedulers = 1000;
	assert_int_equal(plan_of(t, ask).scheduler_count, SCHEDULERS_MAX);
	hwloc_topology_destroy(t);
}

static void one_core(void **state)
{
	(void)state;
	hwloc_topology_t t = machine("core:1 pu:1");
	struct topology_ask ask = one_port(-1, 1);
	struct topology_plan p = plan_of(t, ask);
	assert_int_equal(p.workers[0].cpu, 0);
	assert_int_equal(p.applier_cpu, 0);
	assert_true(says(&p, TOPOLOGY_WARNING, "applier shares processor"));
	ask.spin = true;
	p = plan_of(t, ask);
	assert_true(says(&p, TOPOLOGY_ERROR, "applier shares processor"));
	hwloc_topology_destroy(t);
}

// One core with two threads: the applier takes the sibling, which is a note, not a fault.
static void one_core_smt(void **state)
{
	(void)state;
	hwloc_topology_t t = machine("core:1 pu:2");
	struct topology_plan p = plan_of(t, one_port(-1, 1));
	assert_int_not_equal(p.workers[0].cpu, p.applier_cpu);
	assert_true(says(&p, TOPOLOGY_NOTE, "shares a core with a worker"));
	assert_false(says(&p, TOPOLOGY_WARNING, "applier"));
	hwloc_topology_destroy(t);
}

static void more_queues_than_cores(void **state)
{
	(void)state;
	hwloc_topology_t t = machine("core:2 pu:1");
	struct topology_ask ask = one_port(-1, 5);
	struct topology_plan p = plan_of(t, ask);
	assert_true(says(&p, TOPOLOGY_WARNING, "share a processor with another worker"));
	// Shared evenly: three and two.
	uint32_t on_first = 0;
	for (uint32_t i = 0; i < 5; i++)
		on_first += p.workers[i].cpu == 0;
	assert_true(on_first == 2 || on_first == 3);
	ask.spin = true;
	p = plan_of(t, ask);
	assert_true(says(&p, TOPOLOGY_ERROR, "share a processor with another worker"));
	hwloc_topology_destroy(t);
}

// Siblings are used only when every core has its poller, and that is said.
static void siblings_last(void **state)
{
	(void)state;
	hwloc_topology_t t = machine("core:4 pu:2");
	struct topology_plan p = plan_of(t, one_port(-1, 4));
	assert_int_equal(sharing_workers(t, &p), 0);
	assert_false(says(&p, TOPOLOGY_WARNING, "through SMT"));
	p = plan_of(t, one_port(-1, 5));
	assert_int_equal(sharing_workers(t, &p), 2);
	assert_true(says(&p, TOPOLOGY_WARNING, "share a core with another worker through SMT"));
	hwloc_topology_destroy(t);
}

static void two_ports_on_their_own_nodes(void **state)
{
	(void)state;
	hwloc_topology_t t = machine("node:4 core:4 pu:2");
	struct topology_ask ask = {.ports = 2, .port = {{3, 2}, {1, 3}}};
	struct topology_plan p = plan_of(t, ask);
	assert_int_equal(p.worker_count, 5);
	assert_int_equal(workers_on_node(&p, 3), 2);
	assert_int_equal(workers_on_node(&p, 1), 3);
	assert_int_equal(p.workers[0].port, 0);
	assert_int_equal(p.workers[2].port, 1);
	assert_int_equal(p.workers[4].queue, 2);
	// Most workers are on node 1: so is the applier.
	assert_int_equal(numa_of(t, p.applier_cpu), 1);
	assert_int_equal(p.problem_count, 0);
	hwloc_topology_destroy(t);
}

// A device without a node of its own joins the workers that are there.
static void virtual_port_stays_near(void **state)
{
	(void)state;
	hwloc_topology_t t = machine("node:4 core:4 pu:1");
	struct topology_ask ask = {.ports = 2, .port = {{2, 2}, {-1, 1}}};
	struct topology_plan p = plan_of(t, ask);
	assert_int_equal(workers_on_node(&p, 2), 3);
	hwloc_topology_destroy(t);
}

static void restrict_to(hwloc_topology_t t, const char *cpus)
{
	hwloc_bitmap_t set = hwloc_bitmap_alloc();
	assert_int_equal(hwloc_bitmap_list_sscanf(set, cpus), 0);
	assert_int_equal(hwloc_topology_restrict(t, set, 0), 0);
	hwloc_bitmap_free(set);
}

static void restricted_cpuset(void **state)
{
	(void)state;
	hwloc_topology_t t = machine("node:2 core:4 pu:1");
	restrict_to(t, "1,5-6");
	struct topology_plan p = plan_of(t, one_port(1, 2));
	for (uint32_t i = 0; i < 2; i++)
		assert_true(p.workers[i].cpu == 5 || p.workers[i].cpu == 6);
	assert_int_equal(p.applier_cpu, 1);
	assert_int_equal(p.main_cpu, 1);
	assert_true(says(&p, TOPOLOGY_NOTE, "applier runs on NUMA node 0"));
	hwloc_topology_destroy(t);
}

// The card's node has no core that we may use.
static void nic_on_forbidden_node(void **state)
{
	(void)state;
	hwloc_topology_t t = machine("node:2 core:4 pu:1");
	restrict_to(t, "0-3");
	struct topology_plan p = plan_of(t, one_port(1, 2));
	assert_int_equal(workers_on_node(&p, 0), 2);
	assert_true(says(
		&p, TOPOLOGY_WARNING, "2 of 2 queues are polled away from the card's NUMA node 1"));
	hwloc_topology_destroy(t);
}

// Four nodes on a ring: what does not fit on node 0 goes to a neighbour, not across.
static void spill_goes_to_the_nearest(void **state)
{
	(void)state;
	hwloc_topology_t t = machine("node:4 core:2 pu:1");
	hwloc_obj_t nodes[4];
	hwloc_uint64_t values[16];
	for (unsigned i = 0; i < 4; i++)
		nodes[i] = hwloc_get_obj_by_type(t, HWLOC_OBJ_NUMANODE, i);
	for (unsigned i = 0; i < 16; i++) {
		unsigned apart = (i / 4 + 4 - i % 4) % 4;
		values[i] = apart == 0 ? 10 : apart == 2 ? 31 : 21;
	}
	hwloc_distances_add_handle_t handle = hwloc_distances_add_create(t, "NUMALatency",
		HWLOC_DISTANCES_KIND_MEANS_LATENCY | HWLOC_DISTANCES_KIND_FROM_USER, 0);
	assert_non_null(handle);
	assert_int_equal(hwloc_distances_add_values(t, handle, 4, nodes, values, 0), 0);
	assert_int_equal(hwloc_distances_add_commit(t, handle, 0), 0);
	// A card says that it is at a node of which the distances say nothing.
	struct topology_plan p = plan_of(t, one_port(7, 1));
	assert_true(says(
		&p, TOPOLOGY_WARNING, "1 of 1 queues are polled away from the card's NUMA node 7"));
	p = plan_of(t, one_port(0, 6));
	assert_int_equal(workers_on_node(&p, 0), 2);
	assert_int_equal(workers_on_node(&p, 1), 2);
	assert_int_equal(workers_on_node(&p, 3), 2);
	hwloc_topology_destroy(t);
}

static void too_many_workers(void **state)
{
	(void)state;
	hwloc_topology_t t = machine("core:2 pu:1");
	struct topology_ask ask = one_port(-1, WORKERS_MAX + 1);
	struct topology_plan p;
	assert_true(topology_plan(t, &ask, &p) < 0);
	hwloc_topology_destroy(t);
}

#define PRINTED_BYTES 4096u

static void collect_line(const char *text, void *context)
{
	char *all = context;
	size_t used = strlen(all);
	snprintf(all + used, PRINTED_BYTES - used, "%s\n", text);
}

static void printed(void **state)
{
	(void)state;
	hwloc_topology_t t = machine("core:2 pu:1");
	struct topology_plan p = plan_of(t, one_port(-1, 2));
	char all[PRINTED_BYTES] = "";
	topology_print(&p, collect_line, all);
	assert_non_null(strstr(all, "worker 0: port 0 queue 0 on cpu 1 (NUMA node 0)\n"));
	assert_non_null(strstr(all, "worker 1: port 0 queue 1 on cpu 0 (NUMA node 0)\n"));
	assert_non_null(strstr(all, "applier: cpu "));
	assert_non_null(strstr(all, "warning: the applier shares processor"));
	assert_non_null(strstr(all, ": ask for fewer queues"));
	hwloc_topology_destroy(t);
}

static void problems_are_bounded(void **state)
{
	(void)state;
	struct topology_plan p = {0};
	for (int i = 0; i < 100; i++)
		topology_problem(&p, TOPOLOGY_NOTE, "remedy", "problem %d", i);
	assert_int_equal(p.problem_count, 32);
	assert_string_equal(p.problems[31].text, "problem 31");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_size),
		cmocka_unit_test(two_cores_two_queues),
		cmocka_unit_test(two_cores_one_queue),
		cmocka_unit_test(as_many_schedulers_as_asked),
		cmocka_unit_test(one_core),
		cmocka_unit_test(one_core_smt),
		cmocka_unit_test(more_queues_than_cores),
		cmocka_unit_test(siblings_last),
		cmocka_unit_test(two_ports_on_their_own_nodes),
		cmocka_unit_test(virtual_port_stays_near),
		cmocka_unit_test(restricted_cpuset),
		cmocka_unit_test(nic_on_forbidden_node),
		cmocka_unit_test(spill_goes_to_the_nearest),
		cmocka_unit_test(too_many_workers),
		cmocka_unit_test(printed),
		cmocka_unit_test(problems_are_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
