#include "placement/scheduler/stack/class_key.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>
#include <string.h>

static void make_room(struct class_key *k, size_t size)
{
	bool was_few = !k->many;

	k->room = 2 * k->room + (uint32_t)size;
	k->many = memory_resize(k->many, k->room);
	if (was_few)
		memcpy(k->many, k->few, k->size);
}

static void add_bytes(struct class_key *k, const void *bytes, size_t size)
{
	if (k->size + size > k->room)
		make_room(k, size);
	memcpy((k->many ? k->many : k->few) + k->size, bytes, size);
	k->size += (uint32_t)size;
	CHECK(k->size <= k->room);
}

static void add_count(struct class_key *k, uint32_t count)
{
	add_bytes(k, &count, sizeof count);
}

// Its end is part of a text, so that no two lists of texts have the same bytes; none is not "".
static void add_text(struct class_key *k, const char *text)
{
	add_bytes(k, text ? "+" : "-", 1);
	if (text)
		add_bytes(k, text, strlen(text) + 1);
}

static void add_constraints(struct class_key *k, const struct array *constraints)
{
	add_count(k, constraints->count);
	for (uint32_t i = 0; i < constraints->count; i++) {
		const struct constraint *c = ARRAY_AT(constraints, struct constraint, i);
		add_text(k, c->l_target);
		add_text(k, c->operand);
		add_text(k, c->r_target);
	}
}

static void add_affinities(struct class_key *k, const struct array *affinities)
{
	add_count(k, affinities->count);
	for (uint32_t i = 0; i < affinities->count; i++) {
		const struct affinity *a = ARRAY_AT(affinities, struct affinity, i);
		add_text(k, a->l_target);
		add_text(k, a->operand);
		add_text(k, a->r_target);
		add_bytes(k, &a->weight, sizeof a->weight);
	}
}

static void add_job(struct class_key *k, const struct job *job)
{
	add_text(k, job->node_pool);
	add_count(k, job->datacenters.count);
	for (uint32_t i = 0; i < job->datacenters.count; i++)
		add_text(k, *ARRAY_AT(&job->datacenters, char *, i));
	add_constraints(k, &job->constraints);
	add_affinities(k, &job->affinities);
}

static void add_ports(struct class_key *k, const struct array *ports)
{
	add_count(k, ports->count);
	for (uint32_t i = 0; i < ports->count; i++) {
		const struct port *port = ARRAY_AT(ports, struct port, i);
		add_text(k, port->label);
		add_text(k, port->host_network);
	}
}

// Which ports is no matter of classes.
static void add_network(struct class_key *k, const struct network_ask *network)
{
	add_count(k, network != NULL);
	if (!network)
		return;
	add_text(k, network->mode);
	add_ports(k, &network->dynamic_ports);
	add_ports(k, &network->reserved_ports);
}

static void add_devices(struct class_key *k, const struct device_needs *needs)
{
	add_count(k, needs->count);
	for (uint32_t i = 0; i < needs->count; i++) {
		const struct device_ask *ask = needs->items[i].ask;
		add_text(k, ask->name);
		add_bytes(k, &ask->count, sizeof ask->count);
		add_constraints(k, &ask->constraints);
		add_affinities(k, &ask->affinities);
	}
}

static void add_volumes(struct class_key *k, const struct array *volumes, uint32_t name_index)
{
	add_count(k, volumes->count);
	for (uint32_t i = 0; i < volumes->count; i++) {
		const struct volume_ask *ask = ARRAY_AT(volumes, struct volume_ask, i);
		add_text(k, ask->type);
		add_text(k, ask->source);
		add_count(k, ask->read_only);
		add_count(k, ask->per_alloc ? 1 + name_index : 0);
	}
}

// What a group with cores asks of cpu depends on the node and on each of its tasks.
static void add_cores(struct class_key *k, const struct group_rules *g)
{
	add_count(k, g->cores);
	for (uint32_t i = 0; g->cores && i < g->group->tasks.count; i++) {
		const struct task *task = ARRAY_AT(&g->group->tasks, struct task, i);
		add_bytes(k, &task->resources.cores, sizeof task->resources.cores);
		add_bytes(k, &task->resources.cpu, sizeof task->resources.cpu);
		add_text(k, task->lifecycle ? task->lifecycle->hook : NULL);
		add_count(k, task->lifecycle && task->lifecycle->sidecar);
	}
}

static void add_group(struct class_key *k, const struct task_group *group)
{
	add_constraints(k, &group->constraints);
	add_affinities(k, &group->affinities);
	add_text(k, group->snapshot && group->snapshot[0] ? group->snapshot : NULL);
	add_count(k, group->tasks.count);
	for (uint32_t i = 0; i < group->tasks.count; i++) {
		const struct task *task = ARRAY_AT(&group->tasks, struct task, i);
		add_text(k, task->driver);
		add_constraints(k, &task->constraints);
		add_affinities(k, &task->affinities);
	}
}

static void add_distinct(struct class_key *k, const struct distinct_rules *distinct)
{
	add_count(k, distinct->property_count);
	for (uint32_t i = 0; i < distinct->property_count; i++)
		add_text(k, distinct->properties[i].attribute);
}

static void add_spreads(struct class_key *k, const struct group_rules *g)
{
	add_count(k, g->spread_count);
	for (uint32_t i = 0; i < g->spread_count; i++) {
		const struct compiled_spread *spread = &g->spreads[i];
		add_text(k, spread->counts.attribute);
		add_count(k, spread->bucket_count);
		for (uint32_t j = 0; j < spread->bucket_count; j++)
			add_text(k, spread->buckets[j].value);
	}
}

void class_key_make(struct class_key *k, const struct group_rules *g,
	const struct job_rules *of_job, uint32_t name_index)
{
	k->size = 0;
	k->room = sizeof k->few;
	k->many = NULL;
	add_count(k, g->ask.cpu_mhz);
	add_count(k, g->ask.memory_mb);
	add_count(k, g->ask.disk_mb);
	add_job(k, g->job);
	add_group(k, g->group);
	add_network(k, g->needs.network);
	add_devices(k, &g->needs.devices);
	add_cores(k, g);
	add_volumes(k, &g->group->volumes, name_index);
	add_distinct(k, &of_job->distinct);
	add_distinct(k, &g->distinct);
	add_spreads(k, g);
}

static void add_port_numbers(struct class_key *k, const struct network_ask *network)
{
	add_count(k, network->reserved_ports.count);
	for (uint32_t i = 0; i < network->reserved_ports.count; i++) {
		const struct port *port = ARRAY_AT(&network->reserved_ports, struct port, i);
		add_text(k, port->label); // it is part of the reason
		add_bytes(k, &port->value, sizeof port->value);
	}
	add_count(k, network->dynamic_ports.count);
}

void class_key_add_victims(struct class_key *k, const struct group_rules *g, int64_t priority)
{
	add_bytes(k, &priority, sizeof priority);
	add_count(k, g->plain);
	if (g->needs.network)
		add_port_numbers(k, g->needs.network);
	for (uint32_t i = 0; i < g->group->tasks.count; i++) {
		const struct array *networks =
			&ARRAY_AT(&g->group->tasks, struct task, i)->resources.networks;
		add_count(k, networks->count > 0);
		if (networks->count > 0)
			add_port_numbers(k, ARRAY_AT(networks, struct network_ask, 0));
	}
}

void class_key_release(struct class_key *k)
{
	free(k->many);
}
