#include "tools/forms/allocated_json.h"
#include "state/records/alloc_details.h"
#include "tools/json/json_record.h"
#include <stdio.h>

static const struct array no_items;

static const struct array *tasks_of(const struct allocation *a)
{
	return &allocation_group(a)->tasks;
}

// The allocation's node, or NULL when that is gone.
static const struct node *node_of(const struct state *state, const struct allocation *a)
{
	const struct node *node = state_node_at(state, a->node_slot);
	return node && uuid_equal(&node->id, &a->node_id) ? node : NULL;
}

// What a task holds besides cpu and memory, or NULL.
static const struct allocated_task *allocated_to(const struct allocation *a, const char *task)
{
	for (uint32_t i = 0; a->details && i < a->details->tasks.count; i++) {
		const struct allocated_task *one =
			ARRAY_AT(&a->details->tasks, struct allocated_task, i);
		if (strcmp(one->task, task) == 0)
			return one;
	}
	return NULL;
}

static void put_network(struct json_writer *w, const struct allocated_network *network)
{
	json_begin_object(w);
	json_put_string(w, "Mode", network->mode);
	json_put_string(w, "Device", network->device);
	json_put_string(w, "CIDR", "");
	json_put_string(w, "IP", network->ip);
	json_put_i64(w, "MBits", network->mbits);
	json_put_null(w, "DNS");
	json_put_records(w, "ReservedPorts", &port_description, &network->reserved_ports);
	json_put_records(w, "DynamicPorts", &port_description, &network->dynamic_ports);
	json_end_object(w);
}

static void put_networks(struct json_writer *w, const struct array *networks)
{
	if (!json_open_array_if(w, "Networks", networks->count > 0))
		return;
	for (uint32_t i = 0; i < networks->count; i++)
		put_network(w, ARRAY_AT(networks, struct allocated_network, i));
	json_end_array(w);
}

static void put_device_group(
	struct json_writer *w, const struct device_group *group, uint64_t instances)
{
	json_begin_object(w);
	json_put_string(w, "Vendor", group->vendor);
	json_put_string(w, "Type", group->type);
	json_put_string(w, "Name", group->name);
	json_open_array(w, "DeviceIDs");
	for (uint32_t i = 0; i < NODE_DEVICES_MAX; i++)
		if (instances >> i & 1) {
			char id[8];
			snprintf(id, sizeof id, "%u", i);
			json_write_string(w, id);
		}
	json_end_array(w);
	json_end_object(w);
}

// A client's placement chooses devices for the whole allocation; they are shown with the first task that asks for some.
static void put_devices_of_all(
	struct json_writer *w, const struct node *node, const struct allocation *a)
{
	const struct device_set *held = allocation_devices(a);

	if (!json_open_array_if(w, "Devices", node && !device_set_is_empty(held)))
		return;
	for (uint32_t i = 0; i < node->node_class->device_count; i++)
		if (held->groups[i])
			put_device_group(w, &node->node_class->devices[i], held->groups[i]);
	json_end_array(w);
}

static void put_cpu(struct json_writer *w, int64_t shares, const struct array *cores)
{
	json_open_object(w, "Cpu");
	json_put_i64(w, "CpuShares", shares);
	json_write_key(w, "ReservedCores");
	if (cores->count) {
		json_begin_array(w);
		for (uint32_t i = 0; i < cores->count; i++)
			json_write_i64(w, *ARRAY_AT(cores, int64_t, i));
		json_end_array(w);
	} else {
		json_write_null(w);
	}
	json_end_object(w);
}

static void put_task(struct json_writer *w, const struct node *node, const struct allocation *a,
	const struct task *task, bool shows_devices)
{
	const struct allocated_task *given = allocated_to(a, task->name);
	json_open_object(w, task->name);
	put_cpu(w, given && given->cpu_shares ? given->cpu_shares : task->resources.cpu,
		given ? &given->reserved_cores : &no_items);
	json_open_object(w, "Memory");
	json_put_i64(w, "MemoryMB", task->resources.memory_mb);
	json_put_i64(w, "MemoryMaxMB", given ? given->memory_max_mb : 0);
	json_end_object(w);
	put_networks(w, given ? &given->networks : &no_items);
	if (given && given->devices.count)
		json_put_records(w, "Devices", &allocated_device_description, &given->devices);
	else if (shows_devices)
		put_devices_of_all(w, node, a);
	else
		json_put_null(w, "Devices");
	json_end_object(w);
}

static void put_lifecycles(struct json_writer *w, const struct array *tasks)
{
	json_open_object(w, "TaskLifecycles");
	for (uint32_t i = 0; i < tasks->count; i++) {
		const struct task *task = ARRAY_AT(tasks, struct task, i);
		json_put_record(w, task->name, &task_lifecycle_description, task->lifecycle);
	}
	json_end_object(w);
}

static void put_shared(struct json_writer *w, const struct allocation *a)
{
	json_open_object(w, "Shared");
	put_networks(w, a->details ? &a->details->networks : &no_items);
	json_put_u64(w, "DiskMB", a->resources.disk_mb);
	json_put_records(w, "Ports", &allocated_port_description,
		a->details ? &a->details->ports : &no_items);
	json_end_object(w);
}

void allocated_json_on(struct json_writer *w, const struct node *node, const struct allocation *a)
{
	const struct array *tasks = tasks_of(a);
	json_open_object(w, "AllocatedResources");
	json_open_object(w, "Tasks");
	bool shown = false;
	for (uint32_t i = 0; i < tasks->count; i++) {
		const struct task *task = ARRAY_AT(tasks, struct task, i);
		bool asks = !shown && task->resources.devices.count > 0;
		put_task(w, node, a, task, asks);
		shown = shown || asks;
	}
	json_end_object(w);
	put_lifecycles(w, tasks);
	put_shared(w, a);
	json_end_object(w);
}

void allocated_json(struct json_writer *w, const struct state *state, const struct allocation *a)
{
	allocated_json_on(w, node_of(state, a), a);
}

struct legacy {
	uint64_t cpu, cores, memory, memory_max, disk;
	const struct array *networks;
};

static void put_legacy(struct json_writer *w, const char *key, const struct legacy *l)
{
	json_open_object(w, key);
	json_put_u64(w, "CPU", l->cpu);
	json_put_u64(w, "Cores", l->cores);
	json_put_u64(w, "MemoryMB", l->memory);
	json_put_u64(w, "MemoryMaxMB", l->memory_max);
	json_put_u64(w, "DiskMB", l->disk);
	json_put_u64(w, "IOPS", 0);
	put_networks(w, l->networks);
	json_put_null(w, "Devices");
	json_end_object(w);
}

static void put_legacy_tasks(struct json_writer *w, const struct allocation *a)
{
	const struct array *tasks = tasks_of(a);
	json_open_object(w, "TaskResources");
	for (uint32_t i = 0; i < tasks->count; i++) {
		const struct task *task = ARRAY_AT(tasks, struct task, i);
		const struct allocated_task *given = allocated_to(a, task->name);
		const struct task_resources *r = &task->resources;
		put_legacy(w, task->name,
			&(struct legacy){(uint64_t)r->cpu, (uint64_t)r->cores,
				(uint64_t)r->memory_mb, (uint64_t)r->memory_max_mb, 0,
				given ? &given->networks : &no_items});
	}
	json_end_object(w);
}

void allocated_json_legacy(struct json_writer *w, const struct allocation *a)
{
	const struct resources *r = &a->resources;
	const struct array *networks = a->details ? &a->details->networks : &no_items;
	put_legacy(w, "Resources",
		&(struct legacy){r->cpu_mhz, 0, r->memory_mb, r->memory_mb, r->disk_mb, networks});
	put_legacy(
		w, "SharedResources", &(struct legacy){.disk = r->disk_mb, .networks = networks});
	put_legacy_tasks(w, a);
}
