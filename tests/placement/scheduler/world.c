#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/allocation_end.h"
#include "state/records/plan.h"
#include "tests/placement/job_check/job_build.h"
#include "tests/placement/scheduler/world_private.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The whole text must be a number.
long world_number(const char *text)
{
	char *end;
	long value = strtol(text, &end, 10);
	CHECK(end != text && *end == 0);
	return value;
}

void *world_keep(struct world *w, void *memory)
{
	w->kept = memory_one_more(w->kept, w->kept_count, &w->kept_capacity, sizeof *w->kept);
	w->kept[w->kept_count++] = memory;
	return memory;
}

struct world *world_create(void)
{
	struct world *w = memory_take(sizeof *w);
	w->nodes = memory_map(WORLD_NODES_MAX * sizeof *w->nodes);
	w->of_node = memory_map(WORLD_NODES_MAX * sizeof(*w->of_node));
	w->machines = memory_map(WORLD_NODES_MAX * sizeof *w->machines);
	CHECK(w->nodes && w->of_node && w->machines);
	w->allocations_end = &w->allocations;
	w->config.preemption.system = true;
	w->index = 1;
	return w;
}

void world_destroy(struct world *w)
{
	for (struct world_allocation *a = w->allocations, *next; a; a = next) {
		next = a->next;
		allocation_set_devices(&a->record, &(struct device_set){0});
		alloc_details_release(a->record.details);
		alloc_report_release(a->record.report);
		shared_metrics_release(a->record.metrics);
		free(a);
	}
	for (uint32_t i = 0; i < w->job_count; i++)
		job_free(w->jobs[i]);
	for (uint32_t i = 0; i < w->deployment_count; i++)
		deployment_free(w->deployments[i]);
	free(w->deployments);
	for (uint32_t i = 0; i < w->kept_count; i++)
		free(w->kept[i]);
	free(w->kept);
	free(w->jobs);
	memory_unmap(w->nodes, WORLD_NODES_MAX * sizeof *w->nodes);
	memory_unmap(w->of_node, WORLD_NODES_MAX * sizeof(*w->of_node));
	memory_unmap(w->machines, WORLD_NODES_MAX * sizeof *w->machines);
	free(w);
}

static uint64_t view_index(void *context)
{
	return ((struct world *)context)->index;
}

static uint32_t view_slots(void *context)
{
	return ((struct world *)context)->node_count;
}

static const struct node *view_node_at(void *context, uint32_t slot)
{
	struct world *w = context;
	if (w->looks_left > 0 && --w->looks_left == 0)
		w->is_deserted = true;
	return slot < w->node_count && !w->is_deserted ? w->nodes[slot] : NULL;
}

static const struct node *view_node_by_id(void *context, const struct uuid *id)
{
	const struct world *w = context;
	for (uint32_t i = 0; i < w->node_count; i++)
		if (w->nodes[i] && uuid_equal(&w->nodes[i]->id, id))
			return w->nodes[i];
	return NULL;
}

static bool is_job(const struct job *job, const char *namespace_name, const char *id)
{
	return strcmp(job->namespace_name, namespace_name) == 0 && strcmp(job->id, id) == 0;
}

static const struct job *view_job(void *context, const char *namespace_name, const char *id)
{
	const struct world *w = context;
	for (uint32_t i = w->job_count; i > 0; i--)
		if (is_job(w->jobs[i - 1], namespace_name, id))
			return w->jobs[i - 1];
	return NULL;
}

static const struct job *view_job_version(
	void *context, const char *namespace_name, const char *id, uint64_t version)
{
	const struct world *w = context;
	for (uint32_t i = w->job_count; i > 0 && (!version || version != w->forgotten_version); i--)
		if (w->jobs[i - 1]->version == version && strcmp(w->jobs[i - 1]->id, id) == 0)
			return w->jobs[i - 1];
	return NULL;
}

static void view_job_deployments(void *context, const char *namespace_name, const char *id,
	state_deployment_visit *visit, void *visit_context)
{
	const struct world *w = context;
	for (uint32_t i = w->deployment_count; i > 0; i--)
		if (strcmp(w->deployments[i - 1]->job_id, id) == 0 &&
			!visit(w->deployments[i - 1], visit_context))
			return;
}

static bool take_first(const struct deployment *d, void *context)
{
	*(const struct deployment **)context = d;
	return false;
}

static const struct deployment *view_latest_deployment(
	void *context, const char *namespace_name, const char *id)
{
	const struct deployment *latest = NULL;
	view_job_deployments(context, namespace_name, id, take_first, &latest);
	return latest;
}

static void view_job_allocations(void *context, const char *namespace_name, const char *id,
	state_allocation_visit *visit, void *visit_context)
{
	const struct world *w = context;
	for (const struct world_allocation *a = w->allocations; a; a = a->next)
		if (is_job(a->record.job, namespace_name, id) && !visit(&a->record, visit_context))
			return;
}

static void view_node_allocations(
	void *context, uint32_t slot, state_allocation_visit *visit, void *visit_context)
{
	const struct world *w = context;
	for (const struct world_allocation *a = w->of_node[slot]; a; a = a->next_of_node)
		if (!visit(&a->record, visit_context))
			return;
}

static const struct allocation *view_allocation(void *context, const struct uuid *id)
{
	const struct world *w = context;
	for (const struct world_allocation *a = w->allocations; a; a = a->next)
		if (uuid_equal(&a->record.id, id))
			return &a->record;
	return NULL;
}

static struct node_use view_node_use(void *context, uint32_t slot)
{
	const struct world *w = context;
	struct node_use use = {.used = w->machines[slot], .machines = w->machines[slot]};
	for (const struct world_allocation *a = w->of_node[slot]; a; a = a->next_of_node) {
		const struct alloc_details *d = a->record.details;
		if (!allocation_holds_room(&a->record))
			continue;
		use.used = resources_plus(use.used, a->record.resources);
		for (uint32_t i = 0; i < NODE_DEVICE_GROUPS_MAX; i++)
			use.devices.groups[i] |= allocation_devices(&a->record)->groups[i];
		use.with_details += d && (d->ports.count || d->networks.count || d->tasks.count);
		use.living += !allocation_is_terminal(&a->record);
	}
	return use;
}

static const struct scheduler_config *view_config(void *context)
{
	return &((struct world *)context)->config;
}

static const struct node_pool *view_pool(void *context, const char *name)
{
	const struct world *w = context;
	return w->pool && strcmp(w->pool->name, name) == 0 ? w->pool : NULL;
}

struct scheduler_view world_view(struct world *w)
{
	return (struct scheduler_view){
		.context = w,
		.index = view_index,
		.slots = view_slots,
		.node_at = view_node_at,
		.node_by_id = view_node_by_id,
		.job = view_job,
		.job_version = view_job_version,
		.latest_deployment = view_latest_deployment,
		.job_deployments = view_job_deployments,
		.job_allocations = view_job_allocations,
		.node_allocations = view_node_allocations,
		.allocation = view_allocation,
		.node_use = view_node_use,
		.config = view_config,
		.pool = view_pool,
		.supports_disconnect = true,
	};
}

void world_purge(struct world *w, uint32_t slot)
{
	w->nodes[slot] = NULL;
	for (struct world_allocation *a = w->of_node[slot]; a; a = a->next_of_node)
		a->record.node_slot = NODE_SLOT_NONE;
	w->of_node[slot] = NULL;
}

bool world_has_prefix(const char *word, const char *prefix)
{
	return strncmp(word, prefix, strlen(prefix)) == 0;
}

static void enter(struct world *w, struct job *job)
{
	w->jobs = memory_resize(w->jobs, (w->job_count + 1) * sizeof(*w->jobs));
	w->jobs[w->job_count++] = job;
	job->record.modify_index = job->job_modify_index = ++w->index;
}

static void take_job_word(struct job *job, const char *word)
{
	struct task_group *group = group_of(job);
	struct task *task = task_of(job);
	const char *value = strchr(word, '=');
	CHECK(value++);
	if (world_has_prefix(word, "dc="))
		set(array_append(&job->datacenters, sizeof(char *)), value);
	else if (world_has_prefix(word, "pool="))
		set(&job->node_pool, value);
	else if (world_has_prefix(word, "name="))
		set(&job->name, value);
	else if (world_has_prefix(word, "driver="))
		set(&task->driver, value);
	else if (world_has_prefix(word, "priority="))
		job->priority = world_number(value);
	else if (world_has_prefix(word, "count="))
		group->count = world_number(value);
	else if (world_has_prefix(word, "cpu="))
		task->resources.cpu = world_number(value);
	else if (world_has_prefix(word, "memory="))
		task->resources.memory_mb = world_number(value);
	else if (world_has_prefix(word, "disk="))
		group->disk.size_mb = world_number(value);
	else
		CHECK(!"a word of a job that is not known");
}

struct job *world_job(struct world *w, const char *words)
{
	char *copy = text_copy(text_of(words)), *text = copy, *word;
	const char *type = strsep(&text, " "), *id = strsep(&text, " ");
	uint32_t number = 0;
	while (strcmp(job_type_names[number], type) != 0)
		CHECK(++number < JOB_TYPES);
	struct job *job = job_of((enum job_type)number);
	set(&job->id, id);
	set(&job->name, id);
	set(&job->namespace_name, "default");
	set(&job->node_pool, "default");
	set(&group_of(job)->name, "a");
	set(&task_of(job)->name, "t");
	job->priority = 50;
	group_of(job)->count = 1;
	group_of(job)->disk.size_mb = 0;
	task_of(job)->resources.cpu = 100;
	task_of(job)->resources.memory_mb = 64;
	while ((word = strsep(&text, " ")))
		if (*word)
			take_job_word(job, word);
	if (job->datacenters.count == 0)
		set(array_append(&job->datacenters, sizeof(char *)), "dc1");
	free(copy);
	world_job_changed(job);
	enter(w, job);
	job->record.create_index = job->record.modify_index;
	return job;
}

struct job *world_job_version(struct world *w, const struct job *from)
{
	struct job *job = job_copy(from);
	job->record.create_index = from->record.create_index;
	job->version = from->version + 1;
	enter(w, job);
	return job;
}

void world_deploy(struct world *w, struct deployment *d)
{
	for (uint32_t i = 0; i < w->deployment_count; i++) {
		if (!uuid_equal(&w->deployments[i]->id, &d->id))
			continue;
		deployment_free(w->deployments[i]);
		w->deployments[i] = d;
		d->record.modify_index = ++w->index;
		return;
	}
	w->deployments =
		memory_resize(w->deployments, (w->deployment_count + 1) * sizeof *w->deployments);
	w->deployments[w->deployment_count++] = d;
	d->record.create_index = d->record.modify_index = ++w->index;
}

void world_job_changed(struct job *job)
{
	CHECK(job_derive(job));
}

struct allocation *world_allocate(
	struct world *w, struct job *job, uint32_t group, uint32_t slot, uint32_t index)
{
	struct world_allocation *entry = memory_take(sizeof *entry);
	struct allocation *a = &entry->record;
	uint32_t number = ++w->allocation_count;
	a->id.bytes[0] = 0xa0;
	for (uint32_t i = 0; i < 4; i++)
		a->id.bytes[12 + i] = (uint8_t)(number >> (24 - 8 * i));
	a->node_id = w->nodes[slot]->id;
	a->node_slot = slot;
	a->client = CLIENT_NONE;
	a->job = job;
	a->group = (uint16_t)group;
	a->client_status = ALLOC_RUNNING;
	a->index = index;
	a->resources = ARRAY_AT(&job->asks, struct group_ask, group)->resources;
	a->record.create_index = a->record.modify_index = a->alloc_modify_index = ++w->index;
	entry->next_of_node = w->of_node[slot];
	w->of_node[slot] = entry;
	*w->allocations_end = entry;
	w->allocations_end = &entry->next;
	return a;
}

static struct alloc_details *details_of(struct allocation *a)
{
	if (!a->details)
		a->details = alloc_details_create();
	return a->details;
}

void world_hold_port(struct allocation *a, const char *label, int64_t value, const char *address)
{
	struct allocated_port *port = array_append(&details_of(a)->ports, sizeof *port);
	set(&port->label, label);
	set(&port->host_ip, address);
	port->value = value;
}

void world_hold_cores(struct allocation *a, const char *name, int64_t first, int64_t count)
{
	struct allocated_task *task = array_append(&details_of(a)->tasks, sizeof *task);
	set(&task->task, name);
	for (int64_t i = 0; i < count; i++)
		*(int64_t *)array_append(&task->reserved_cores, sizeof(int64_t)) = first + i;
}
