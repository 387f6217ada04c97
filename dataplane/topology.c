#include "dataplane/topology.h"
#include "state/base/check.h"
#include "state/base/library/library_memory.h"
#include "state/base/memory.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define PROBLEMS_MAX                                     \
	(sizeof(((struct topology_plan *)0)->problems) / \
		sizeof(((struct topology_plan *)0)->problems[0]))

// Costs of a processor, the worst first: two pollers on it more than halve each other, two on one core share its
// units, applier and schedulers want a processor each, a remote NUMA node adds latency to every packet, and the kernel
// does its own work on the first core.
#define COST_SHARED_CPU 1000000u
#define COST_SHARED_CORE 10000u
#define COST_SHARED_THREAD 1000u
#define COST_DISTANCE 10u
#define COST_HOUSEKEEPING 5u

#define DISTANCE_LOCAL 10u
#define DISTANCE_REMOTE 20u

struct cpu {
	int os_index;
	int numa_node;
	uint32_t core;
	uint32_t pollers;
	uint32_t threads; // applier and schedulers
};

struct machine {
	struct cpu *cpus;
	uint32_t cpu_count, core_count;
	struct hwloc_distances_s *distances; // between NUMA nodes; NULL when unknown
};

void topology_problem(struct topology_plan *plan, enum topology_severity severity,
	const char *remedy, const char *text, ...)
{
	if (plan->problem_count >= PROBLEMS_MAX)
		return;
	uint32_t i = plan->problem_count++;
	plan->problems[i].severity = severity;
	va_list arguments;
	va_start(arguments, text);
	vsnprintf(plan->problems[i].text, sizeof plan->problems[i].text, text, arguments);
	va_end(arguments);
	snprintf(plan->problems[i].remedy, sizeof plan->problems[i].remedy, "%s", remedy);
}

// The processors that this process may use; in a synthetic topology, which has no process, all that are allowed. Caller
// frees.
static hwloc_bitmap_t usable_cpus(hwloc_topology_t topology)
{
	hwloc_bitmap_t set =
		memory_or_end(hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology)));
	if (!hwloc_topology_is_thissystem(topology))
		return set;
	hwloc_bitmap_t bound = memory_or_end(hwloc_bitmap_alloc());
	if (hwloc_get_cpubind(topology, bound, HWLOC_CPUBIND_PROCESS) == 0 &&
		hwloc_bitmap_intersects(set, bound))
		hwloc_bitmap_and(set, set, bound);
	hwloc_bitmap_free(bound);
	return set;
}

static void machine_add(struct machine *m, hwloc_topology_t topology, hwloc_obj_t pu)
{
	hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu);
	uint32_t core_number = m->core_count;
	// Processors come core by core, so a known core is the last one.
	if (m->cpu_count > 0 && core != NULL) {
		struct cpu *last = &m->cpus[m->cpu_count - 1];
		if (hwloc_bitmap_isset(core->cpuset, (unsigned)last->os_index))
			core_number = last->core;
	}
	if (core_number == m->core_count)
		m->core_count++;
	int numa = pu->nodeset != NULL ? hwloc_bitmap_first(pu->nodeset) : 0;
	m->cpus[m->cpu_count++] = (struct cpu){.os_index = (int)pu->os_index,
		.numa_node = numa < 0 ? 0 : numa,
		.core = core_number};
}

static void machine_read(hwloc_topology_t topology, struct machine *m)
{
	hwloc_bitmap_t set = usable_cpus(topology);
	int present = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
	CHECK(present > 0); // hwloc has one of every machine
	m->cpus = memory_take_array((size_t)present, sizeof *m->cpus);
	for (hwloc_obj_t pu = NULL;
		(pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu)) != NULL;)
		if (hwloc_bitmap_isset(set, pu->os_index))
			machine_add(m, topology, pu);
	unsigned count = 1;
	if (hwloc_distances_get_by_type(topology, HWLOC_OBJ_NUMANODE, &count, &m->distances,
		    HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) != 0 ||
		count == 0)
		m->distances = NULL;
	hwloc_bitmap_free(set);
	CHECK(m->cpu_count > 0); // who runs may use one
}

static void machine_free(hwloc_topology_t topology, struct machine *m)
{
	if (m->distances != NULL)
		hwloc_distances_release(topology, m->distances);
	free(m->cpus);
}

static int distance_index(const struct machine *m, int numa_node)
{
	for (unsigned i = 0; i < m->distances->nbobjs; i++)
		if ((int)m->distances->objs[i]->os_index == numa_node)
			return (int)i;
	return -1;
}

// Relative latency between two NUMA nodes; 10 is local. An unknown (negative) node counts as local.
static uint32_t numa_distance(const struct machine *m, int a, int b)
{
	if (a == b || a < 0 || b < 0)
		return DISTANCE_LOCAL;
	if (m->distances == NULL)
		return DISTANCE_REMOTE;
	int from = distance_index(m, a), to = distance_index(m, b);
	if (from < 0 || to < 0)
		return DISTANCE_REMOTE;
	uint64_t value = m->distances->values[(unsigned)from * m->distances->nbobjs + (unsigned)to];
	return value > DISTANCE_LOCAL ? (uint32_t)(value < 255 ? value : 255) : DISTANCE_REMOTE;
}

static uint32_t pollers_on_core(const struct machine *m, uint32_t core)
{
	uint32_t pollers = 0;
	for (uint32_t i = 0; i < m->cpu_count; i++)
		if (m->cpus[i].core == core)
			pollers += m->cpus[i].pollers;
	return pollers;
}

// The cost of sharing with pollers and threads that are placed already, and of the distance to a NUMA node.
static uint32_t place_cost(const struct machine *m, const struct cpu *cpu, int numa_node)
{
	return cpu->pollers * COST_SHARED_CPU + pollers_on_core(m, cpu->core) * COST_SHARED_CORE +
	       cpu->threads * COST_SHARED_THREAD +
	       numa_distance(m, cpu->numa_node, numa_node) * COST_DISTANCE;
}

static struct cpu *cheapest_cpu(
	struct machine *m, int numa_node, bool housekeeping, uint32_t avoid_core)
{
	struct cpu *best = NULL;
	uint32_t best_cost = UINT32_MAX;
	for (uint32_t i = 0; i < m->cpu_count; i++) {
		struct cpu *cpu = &m->cpus[i];
		uint32_t cost = place_cost(m, cpu, numa_node);
		if ((cpu->core == m->cpus[0].core) != housekeeping)
			cost += COST_HOUSEKEEPING;
		if (cpu->core == avoid_core)
			cost += COST_HOUSEKEEPING + 1;
		if (cost < best_cost) {
			best = cpu;
			best_cost = cost;
		}
	}
	return best;
}

// The NUMA node of most workers, where the applier and the pools belong.
static int workers_home(const struct topology_plan *plan, const struct machine *m)
{
	int home = m->cpus[0].numa_node;
	uint32_t most = 0;
	for (uint32_t i = 0; i < plan->worker_count; i++) {
		uint32_t same = 0;
		for (uint32_t j = 0; j < plan->worker_count; j++)
			same += plan->workers[j].numa_node == plan->workers[i].numa_node;
		if (same > most) {
			most = same;
			home = plan->workers[i].numa_node;
		}
	}
	return home;
}

static int place_workers(
	struct machine *m, const struct topology_ask *ask, struct topology_plan *plan)
{
	for (uint32_t port = 0; port < ask->ports; port++) {
		for (uint32_t queue = 0; queue < ask->port[port].queues; queue++) {
			if (plan->worker_count == WORKERS_MAX)
				return -ERANGE;
			// A worker of a device without a NUMA node joins the workers placed so far.
			int numa = ask->port[port].numa_node;
			if (numa < 0)
				numa = workers_home(plan, m);
			struct cpu *cpu = cheapest_cpu(m, numa, false, UINT32_MAX);
			cpu->pollers++;
			plan->workers[plan->worker_count++] =
				(struct topology_worker){.port = (uint16_t)port,
					.queue = (uint16_t)queue,
					.cpu = cpu->os_index,
					.numa_node = cpu->numa_node};
		}
	}
	return 0;
}

static uint32_t free_cores(const struct machine *m)
{
	uint32_t taken = 0;
	for (uint32_t core = 0; core < m->core_count; core++) {
		bool busy = false;
		for (uint32_t i = 0; i < m->cpu_count; i++)
			busy |= m->cpus[i].core == core &&
				m->cpus[i].pollers + m->cpus[i].threads > 0;
		taken += busy;
	}
	return m->core_count - taken;
}

// Gives each scheduler a processor of its own; where there are too few, schedulers share the applier's, not a
// poller's.
static void place_schedulers(
	struct machine *m, const struct topology_ask *ask, int home, struct topology_plan *plan)
{
	uint32_t left = free_cores(m);
	uint32_t usual = left < SCHEDULERS_USUAL_MAX ? left : SCHEDULERS_USUAL_MAX;
	if (usual < SCHEDULERS_USUAL_LEAST)
		usual = SCHEDULERS_USUAL_LEAST;
	plan->scheduler_count = ask->schedulers > 0 ? ask->schedulers : usual;
	if (plan->scheduler_count > SCHEDULERS_MAX)
		plan->scheduler_count = SCHEDULERS_MAX;
	for (uint32_t i = 0; i < plan->scheduler_count; i++) {
		struct cpu *cpu = cheapest_cpu(m, home, false, UINT32_MAX);
		cpu->threads++;
		plan->scheduler_cpus[i] = cpu->os_index;
	}
}

static const struct cpu *cpu_of(const struct machine *m, int os_index)
{
	for (uint32_t i = 0; i < m->cpu_count; i++)
		if (m->cpus[i].os_index == os_index)
			return &m->cpus[i];
	CHECK(!"a planned processor is one of the machine's");
}

static void say_remote(
	const struct machine *m, const struct topology_ask *ask, struct topology_plan *plan)
{
	for (uint32_t port = 0; port < ask->ports; port++) {
		uint32_t remote = 0;
		int numa = ask->port[port].numa_node;
		for (uint32_t i = 0; i < plan->worker_count; i++)
			remote +=
				plan->workers[i].port == port &&
				numa_distance(m, plan->workers[i].numa_node, numa) > DISTANCE_LOCAL;
		if (remote > 0)
			topology_problem(plan, TOPOLOGY_WARNING,
				"let the process use more cores of that node (CPUAffinity=, "
				"taskset, cpuset), "
				"ask for fewer queues, or move the card",
				"port %u: %u of %u queues are polled away from the card's NUMA "
				"node %d",
				port, remote, ask->port[port].queues, numa);
	}
}

static void say_shared(const struct machine *m, bool spin, struct topology_plan *plan)
{
	uint32_t on_cpu = 0, on_core = 0;
	for (uint32_t i = 0; i < plan->worker_count; i++) {
		const struct cpu *cpu = cpu_of(m, plan->workers[i].cpu);
		if (cpu->pollers > 1)
			on_cpu++;
		else if (pollers_on_core(m, cpu->core) > 1)
			on_core++;
	}
	if (on_cpu > 0)
		topology_problem(plan, spin ? TOPOLOGY_ERROR : TOPOLOGY_WARNING,
			"ask for no more queues than there are cores, or give the process more "
			"cores",
			"%u workers share a processor with another worker (%u workers, %u cores)",
			on_cpu, plan->worker_count, m->core_count);
	if (on_core > 0)
		topology_problem(plan, TOPOLOGY_WARNING,
			"ask for no more queues than there are cores, or give the process more "
			"cores",
			"%u workers share a core with another worker through SMT (%u workers, %u "
			"cores)",
			on_core, plan->worker_count, m->core_count);
}

static void say_thread(const struct machine *m, const char *name, int os_index, bool spin, int home,
	struct topology_plan *plan)
{
	const struct cpu *cpu = cpu_of(m, os_index);
	if (cpu->pollers > 0)
		topology_problem(plan, spin ? TOPOLOGY_ERROR : TOPOLOGY_WARNING,
			spin ? "set poll to adaptive, ask for fewer queues, or give the process "
			       "more cores"
			     : "ask for fewer queues or give the process more cores",
			"the %s shares processor %d with a worker", name, os_index);
	else if (pollers_on_core(m, cpu->core) > 0)
		topology_problem(plan, TOPOLOGY_NOTE,
			"ask for fewer queues or give the process more cores",
			"the %s shares a core with a worker through SMT (processor %d)", name,
			os_index);
	else if (home >= 0 && numa_distance(m, cpu->numa_node, home) > DISTANCE_LOCAL)
		topology_problem(plan, TOPOLOGY_NOTE, "let the process use more cores of that node",
			"the %s runs on NUMA node %d, most workers on %d", name, cpu->numa_node,
			home);
}

int topology_plan(
	hwloc_topology_t topology, const struct topology_ask *ask, struct topology_plan *plan)
{
	*plan = (struct topology_plan){0};
	struct machine m = {0};
	machine_read(topology, &m);
	int error = place_workers(&m, ask, plan);
	if (error != 0)
		goto fail;
	int home = workers_home(plan, &m);
	struct cpu *main_cpu = cheapest_cpu(&m, -1, true, UINT32_MAX);
	plan->main_cpu = main_cpu->os_index;
	struct cpu *applier_cpu = cheapest_cpu(&m, home, false, main_cpu->core);
	plan->applier_cpu = applier_cpu->os_index;
	applier_cpu->threads++;
	place_schedulers(&m, ask, home, plan);
	say_remote(&m, ask, plan);
	say_shared(&m, ask->spin, plan);
	say_thread(&m, "applier", plan->applier_cpu, ask->spin, home, plan);
	// The main thread sleeps in epoll, so a shared processor hurts only when its poller spins.
	if (ask->spin)
		say_thread(&m, "main thread", plan->main_cpu, true, -1, plan);
fail:
	machine_free(topology, &m);
	return error;
}

void topology_print(const struct topology_plan *plan, void (*line)(const char *text, void *context),
	void *context)
{
	static const char *const severities[] = {"note", "warning", "error"};
	char text[400];
	for (uint32_t i = 0; i < plan->worker_count; i++) {
		const struct topology_worker *w = &plan->workers[i];
		snprintf(text, sizeof text, "worker %u: port %u queue %u on cpu %d (NUMA node %d)",
			i, w->port, w->queue, w->cpu, w->numa_node);
		line(text, context);
	}
	snprintf(text, sizeof text, "applier: cpu %d", plan->applier_cpu);
	line(text, context);
	for (uint32_t i = 0; i < plan->scheduler_count; i++) {
		snprintf(text, sizeof text, "scheduler %u: cpu %d", i, plan->scheduler_cpus[i]);
		line(text, context);
	}
	snprintf(text, sizeof text, "main: cpu %d", plan->main_cpu);
	line(text, context);
	for (uint32_t i = 0; i < plan->problem_count; i++) {
		const char *remedy = plan->problems[i].remedy;
		snprintf(text, sizeof text, "%s: %s%s%s", severities[plan->problems[i].severity],
			plan->problems[i].text, remedy[0] != '\0' ? ": " : "", remedy);
		line(text, context);
	}
}
