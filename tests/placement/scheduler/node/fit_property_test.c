// Random groups with ports, cores and devices on a few nodes: no node gives anything twice or anything that it does not
// have, and amounts stay within the capacity.
#include "state/base/prng.h"
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/asking.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define NODES 3u
#define HELD_MAX 4096u

struct held {
	char text[96];
};

struct ledger { // what one node gave, as texts
	struct held items[HELD_MAX];
	uint32_t count;
	uint64_t cpu, memory, disk;
};

static uint32_t below(struct prng *prng, uint32_t bound)
{
	return (uint32_t)prng_below(prng, bound);
}

static void note(struct ledger *l, const char *format, const char *where, long long number)
{
	char text[96];
	snprintf(text, sizeof text, "%s %s %lld", format, where, number);
	for (uint32_t i = 0; i < l->count; i++)
		if (strcmp(l->items[i].text, text) == 0)
			fail_msg("given twice: %s", text);
	assert_true(l->count < HELD_MAX);
	memcpy(l->items[l->count++].text, text, sizeof text);
}

static void note_networks(struct ledger *l, const struct array *networks)
{
	for (uint32_t i = 0; i < networks->count; i++) {
		const struct allocated_network *n = ARRAY_AT(networks, struct allocated_network, i);
		for (uint32_t k = 0; k < n->reserved_ports.count; k++)
			note(l, "port", n->ip, ARRAY_AT(&n->reserved_ports, struct port, k)->value);
		for (uint32_t k = 0; k < n->dynamic_ports.count; k++)
			note(l, "port", n->ip, ARRAY_AT(&n->dynamic_ports, struct port, k)->value);
	}
}

static void note_task(struct ledger *l, const struct allocated_task *task)
{
	note_networks(l, &task->networks);
	for (uint32_t i = 0; i < task->reserved_cores.count; i++) {
		int64_t core = *ARRAY_AT(&task->reserved_cores, int64_t, i);
		assert_in_range(core, 2, 9); // the node's
		note(l, "core", "", core);
	}
	for (uint32_t i = 0; i < task->devices.count; i++) {
		const struct allocated_device *d =
			ARRAY_AT(&task->devices, struct allocated_device, i);
		for (uint32_t k = 0; k < d->device_ids.count; k++)
			note(l, *ARRAY_AT(&d->device_ids, char *, k), d->name, 0);
	}
}

static void note_details(struct ledger *l, const struct alloc_details *d)
{
	for (uint32_t i = 0; d && i < d->ports.count; i++) {
		const struct allocated_port *p = ARRAY_AT(&d->ports, struct allocated_port, i);
		assert_int_not_equal(p->value, 22);
		note(l, "port", p->host_ip, p->value);
	}
	for (uint32_t i = 0; d && i < d->tasks.count; i++)
		note_task(l, ARRAY_AT(&d->tasks, struct allocated_task, i));
}

static void check_node(const struct asking *b, uint32_t slot)
{
	static struct ledger l;
	struct device_set devices = {0};
	const struct node *n = b->world->nodes[slot];
	l = (struct ledger){.count = 0};
	for (uint32_t i = 0; i < b->plan->placements.count; i++) {
		const struct plan_placement *p =
			ARRAY_AT(&b->plan->placements, struct plan_placement, i);
		if (p->slot != slot)
			continue;
		note_details(&l, p->details);
		l.cpu += p->resources.cpu_mhz;
		l.memory += p->resources.memory_mb;
		l.disk += p->resources.disk_mb;
		for (uint32_t k = 0; k < NODE_DEVICE_GROUPS_MAX; k++) {
			assert_int_equal(devices.groups[k] & p->devices.groups[k], 0);
			devices.groups[k] |= p->devices.groups[k];
		}
	}
	assert_true(l.cpu <= n->total.cpu_mhz && l.memory <= n->total.memory_mb &&
		    l.disk <= n->total.disk_mb);
}

static void random_task(struct job *job, struct task *task, struct prng *prng)
{
	task->resources.cpu = below(prng, 200);
	task->resources.memory_mb = below(prng, 200);
	if (below(prng, 3) == 0) {
		task->resources.cores = 1 + below(prng, 2);
		task->resources.cpu = 0;
	}
	if (below(prng, 3) == 0) {
		struct device_ask *ask = array_append(&task->resources.devices, sizeof *ask);
		record_init(&device_ask_description, ask);
		set(&ask->name, below(prng, 2) ? "gpu" : "nvidia/gpu/t4");
		ask->count = 1 + below(prng, 2);
	}
	if (below(prng, 4) == 0) {
		struct network_ask *n = array_append(&task->resources.networks, sizeof *n);
		ask_port(&n->dynamic_ports, "x", 0, 0);
		if (below(prng, 2))
			ask_port(&n->reserved_ports, "y", 9000 + below(prng, 3), 0);
	}
}

static struct job *random_job(struct asking *b, struct prng *prng)
{
	struct job *job = world_job(b->world, "system sys");
	random_task(job, task_of(job), prng);
	if (below(prng, 2))
		random_task(job, add_task(group_of(job), "u"), prng);
	if (below(prng, 2)) {
		struct network_ask *n = ask_network(job, "host");
		for (uint32_t i = below(prng, 3); i > 0; i--)
			ask_port(&n->dynamic_ports, "d", 0, -1);
		if (below(prng, 3) == 0)
			ask_port(&n->reserved_ports, "s", below(prng, 4) ? 9000 : 22, 0);
	}
	world_job_changed(job);
	return job;
}

static void nothing_is_given_twice(void **state)
{
	for (uint64_t seed = 0; seed < 300; seed++) {
		struct asking b;
		struct prng prng;
		prng_seed(&prng, seed);
		asking_setup(&b);
		for (uint32_t slot = 0; slot < NODES; slot++)
			world_node(b.world, "cpu=2000 memory=2000 disk=500 cores=2-9 "
					    "attr.cpu.numcores=10 ports=22 "
					    "dynamic=9000-9015 device.nvidia/gpu/t4=3 "
					    "device.nvidia/gpu/a100=2");
		asking_begin(&b, STACK_SYSTEM, random_job(&b, &prng));
		for (uint32_t i = 0; i < 40; i++) {
			uint32_t slot = below(&prng, NODES);
			if (ask(&b, slot)[0] == 0)
				asking_place(&b, slot);
			if (i % 8 == 0) // another job, which sees what the first one holds
				stack_set_job(b.stack, random_job(&b, &prng));
			check_node(&b, slot);
		}
		asking_teardown(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_given_twice)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
