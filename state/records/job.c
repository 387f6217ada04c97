#include "state/records/job.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include <stdlib.h>
#include <string.h>

const char *const job_status_names[] = {"pending", "running", "dead", NULL};

struct job *job_create(void)
{
	return record_create(&job_type_description);
}

void job_free(struct job *job)
{
	if (!job)
		return;
	free(job->asks.items);
	record_free(&job_type_description, job);
}

struct job *job_copy(const struct job *from)
{
	struct job *job = record_duplicate(&job_type_description, from);
	if (from->asks.count > 0)
		job_derive(job);
	return job;
}

bool job_takes_pool(const struct job *job, const char *pool)
{
	const char *wanted = job->node_pool && job->node_pool[0] ? job->node_pool : "default";

	return strcmp(wanted, "all") == 0 ||
	       strcmp(wanted, pool && pool[0] ? pool : "default") == 0;
}

bool job_takes_datacenter(const struct job *job, const char *datacenter)
{
	for (uint32_t i = 0; i < job->datacenters.count; i++)
		if (glob_matches(
			    *ARRAY_AT(&job->datacenters, char *, i), datacenter ? datacenter : ""))
			return true;
	return job->datacenters.count == 0;
}

bool job_admits_client(const struct job *job, struct text client)
{
	char name[CLIENT_NAME_BYTES_MAX + 1] = "";

	if (!job->direct || job->direct->clients.count == 0 || client.size == 0)
		return true;
	if (client.size > CLIENT_NAME_BYTES_MAX)
		return false;
	memcpy(name, client.data, client.size);
	for (uint32_t i = 0; i < job->direct->clients.count; i++)
		if (glob_matches(*ARRAY_AT(&job->direct->clients, char *, i), name))
			return true;
	return false;
}

bool job_specification_differs(const struct job *a, const struct job *b)
{
	return !record_equal_except(&job_type_description, a, b, FIELD_DERIVED);
}

int job_group_index(const struct job *job, struct text name)
{
	for (uint32_t i = 0; i < job->task_groups.count; i++) {
		const struct task_group *group = ARRAY_AT(&job->task_groups, struct task_group, i);
		if (text_equal(text_of(group->name), name))
			return (int)i;
	}
	return -1;
}

static int64_t sum_or_most(int64_t a, int64_t b)
{
	int64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

// When the tasks of a group run: those of one phase side by side, the phases after each other,
// sidecars all the time.
enum phase { PHASE_SIDECAR, PHASE_PRESTART, PHASE_MAIN, PHASE_POSTSTOP, PHASES };

static enum phase task_phase(const struct task *task)
{
	const struct task_lifecycle *lifecycle = task->lifecycle;
	const char *hook = lifecycle && lifecycle->hook ? lifecycle->hook : "";
	if (strcmp(hook, "prestart") == 0)
		return lifecycle->sidecar ? PHASE_SIDECAR : PHASE_PRESTART;
	return strcmp(hook, "poststop") == 0 ? PHASE_POSTSTOP : PHASE_MAIN;
}

struct group_footprint task_group_footprint(const struct task_group *group)
{
	int64_t cpu[PHASES] = {0}, memory[PHASES] = {0};
	for (uint32_t i = 0; i < group->tasks.count; i++) {
		const struct task *task = ARRAY_AT(&group->tasks, struct task, i);
		enum phase phase = task_phase(task);
		cpu[phase] = sum_or_most(cpu[phase], task->resources.cpu);
		memory[phase] = sum_or_most(memory[phase], task->resources.memory_mb);
	}
	struct group_footprint print = {.disk_mb = group->disk.size_mb};
	for (enum phase phase = PHASE_PRESTART; phase < PHASES; phase++) {
		print.cpu_mhz = most(print.cpu_mhz, cpu[phase]);
		print.memory_mb = most(print.memory_mb, memory[phase]);
	}
	print.cpu_mhz = sum_or_most(print.cpu_mhz, cpu[PHASE_SIDECAR]);
	print.memory_mb = sum_or_most(print.memory_mb, memory[PHASE_SIDECAR]);
	return print;
}

static bool add_device(struct group_ask *ask, const struct device_ask *device)
{
	if (device->count < 1 || device->count > NODE_DEVICES_MAX || !device->name)
		return false;
	uint32_t i = 0;
	while (i < ask->device_count && strcmp(ask->devices[i].name, device->name) != 0)
		i++;
	if (i == NODE_DEVICE_GROUPS_MAX)
		return false;
	if (i == ask->device_count)
		ask->devices[ask->device_count++].name = device->name;
	ask->devices[i].count += (uint32_t)device->count;
	return ask->devices[i].count <= NODE_DEVICES_MAX;
}

static bool derive_group(struct group_ask *ask, const struct task_group *group)
{
	struct group_footprint print = task_group_footprint(group);
	if (print.cpu_mhz < 0 || print.memory_mb < 0 || print.disk_mb < 0 ||
		print.cpu_mhz > ASK_MAX || print.memory_mb > ASK_MAX || print.disk_mb > ASK_MAX)
		return false;
	ask->resources = (struct resources){
		(uint32_t)print.cpu_mhz, (uint32_t)print.memory_mb, (uint32_t)print.disk_mb};
	for (uint32_t i = 0; i < group->tasks.count; i++) {
		const struct task *task = ARRAY_AT(&group->tasks, struct task, i);
		const struct array *devices = &task->resources.devices;
		for (uint32_t j = 0; j < devices->count; j++)
			if (!add_device(ask, ARRAY_AT(devices, struct device_ask, j)))
				return false;
	}
	return true;
}

bool job_derive(struct job *job)
{
	free(job->asks.items);
	job->asks = (struct array){0};
	for (uint32_t i = 0; i < job->task_groups.count; i++) {
		struct group_ask *ask = array_append(&job->asks, sizeof *ask);
		if (!derive_group(ask, ARRAY_AT(&job->task_groups, struct task_group, i))) {
			free(job->asks.items);
			job->asks = (struct array){0};
			return false;
		}
	}
	return true;
}
