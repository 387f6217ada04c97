// The defaults of a job that depend on its type, or on what the job says for all its groups.
#include "placement/job_check/job_check.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "state/records/job_traits.h"
#include <stdlib.h>

enum { CPU_MHZ = 100 };

static const struct update_strategy update_defaults = {
	.stagger_ns = 30 * NS_PER_S,
	.max_parallel = 1,
	.health_check = (char[]){"checks"},
	.min_healthy_time_ns = 10 * NS_PER_S,
	.healthy_deadline_ns = 5 * NS_PER_MIN,
	.progress_deadline_ns = 10 * NS_PER_MIN,
	.auto_revert = {true, false},
	.auto_promote = {true, false},
	.canary = 0,
};
static const struct migrate_strategy migrate_defaults = {
	.max_parallel = 1,
	.health_check = (char[]){"checks"},
	.min_healthy_time_ns = 10 * NS_PER_S,
	.healthy_deadline_ns = 5 * NS_PER_MIN,
};
static const struct restart_policy restart_service = {
	2, 30 * NS_PER_MIN, 15 * NS_PER_S, (char[]){"fail"}};
static const struct restart_policy restart_batch = {
	3, 24 * NS_PER_HOUR, 15 * NS_PER_S, (char[]){"fail"}};
static const struct reschedule_policy reschedule_service = {
	0, 0, 30 * NS_PER_S, (char[]){"exponential"}, NS_PER_HOUR, {true, true}};
static const struct reschedule_policy reschedule_batch = {
	1, 24 * NS_PER_HOUR, 5 * NS_PER_S, (char[]){"constant"}, 0, {true, false}};

// The default blocks of each type of job; NULL: the type has no such block.
static const struct type_defaults {
	const struct update_strategy *update;
	const struct migrate_strategy *migrate;
	const struct restart_policy *restart;
	const struct reschedule_policy *reschedule;
} type_defaults[JOB_TYPES] = {
	[JOB_SERVICE] = {&update_defaults, &migrate_defaults, &restart_service,
		&reschedule_service},
	[JOB_BATCH] = {NULL, NULL, &restart_batch, &reschedule_batch},
	[JOB_SYSTEM] = {NULL, NULL, &restart_service, NULL},
	[JOB_SYSBATCH] = {NULL, NULL, &restart_batch, NULL},
};

static void default_string(char **string, const char *value)
{
	if (!*string || !**string) {
		free(*string);
		*string = value && *value ? text_copy(text_of(value)) : NULL;
	}
}

// Fills every unset field of a block from another block of the same type; a field unset in both stays unset.
static void fill_block(const struct record_type *type, void *block, const void *from)
{
	for (uint32_t i = 0; from && i < type->field_count; i++) {
		const struct field *f = &type->fields[i];
		void *to = (char *)block + f->offset;
		const void *value = (const char *)from + f->offset;
		if (f->kind == FIELD_I64 && *(int64_t *)to == JOB_UNSET)
			*(int64_t *)to = *(const int64_t *)value;
		else if (f->kind == FIELD_STRING)
			default_string(to, *(char *const *)value);
		else if (f->kind == FIELD_OPTIONAL_BOOL && !((struct optional_bool *)to)->set)
			*(struct optional_bool *)to = *(const struct optional_bool *)value;
	}
}

// Zeroes the fields that stay unset because the type has no default, so that the check sees no accident.
static void close_open(const struct record_type *type, void *block)
{
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct field *f = &type->fields[i];
		int64_t *number = (void *)((char *)block + f->offset);
		if (f->kind == FIELD_I64 && *number == JOB_UNSET)
			*number = 0;
	}
}

// A group's block: the group's values, then the job's, then the type's. Absent when none has the block.
static void settle_block(
	const struct record_type *type, void **block, const void *of_job, const void *of_type)
{
	if (!*block && !of_job && !of_type)
		return;
	if (!*block) {
		*block = memory_take(type->size);
		record_init(type, *block);
	}
	fill_block(type, *block, of_job);
	fill_block(type, *block, of_type);
	close_open(type, *block);
}

// Defaults for a block that the job's type does not have, used when the block is present all the same.
static const void *if_there(const void *block, const void *defaults)
{
	return block ? defaults : NULL;
}

static void drop_block(const struct record_type *type, void **block)
{
	if (*block)
		record_release(type, *block);
	free(*block);
	*block = NULL;
}

static void settle_networks(struct array *networks)
{
	for (uint32_t i = 0; i < networks->count; i++) {
		struct network_ask *network = ARRAY_AT(networks, struct network_ask, i);
		struct array *lists[] = {&network->reserved_ports, &network->dynamic_ports};
		for (uint32_t n = 0; n < 2; n++)
			for (uint32_t k = 0; k < lists[n]->count; k++)
				default_string(&ARRAY_AT(lists[n], struct port, k)->host_network,
					"default");
	}
}

static void settle_task(struct task *task, const struct task_group *group)
{
	struct task_resources *resources = &task->resources;
	if (resources->cpu == JOB_UNSET)
		resources->cpu = resources->cores > 0 ? 0 : CPU_MHZ;
	settle_networks(&resources->networks);
	settle_block(&restart_description, (void **)&task->restart, group->restart,
		if_there(task->restart, &restart_service));
}

static void settle_group(
	struct task_group *group, const struct job *job, const struct type_defaults *types)
{
	settle_block(&update_description, (void **)&group->update,
		types->update ? job->update : NULL,
		types->update ? types->update : if_there(group->update, &update_defaults));
	settle_block(&migrate_description, (void **)&group->migrate,
		types->migrate ? job->migrate : NULL, types->migrate);
	settle_block(&restart_description, (void **)&group->restart, NULL,
		types->restart ? types->restart : if_there(group->restart, &restart_service));
	settle_block(&reschedule_description, (void **)&group->reschedule,
		types->reschedule ? job->reschedule : NULL, types->reschedule);
	settle_networks(&group->networks);
	for (uint32_t i = 0; i < group->tasks.count; i++)
		settle_task(ARRAY_AT(&group->tasks, struct task, i), group);
}

// After the groups took the block over: keeps the two numbers that are the job's own.
static void settle_job_update(struct job *job, bool handed_down)
{
	if (!job->update)
		return;
	struct update_strategy *update = job->update;
	fill_block(&update_description, update, &update_defaults);
	if (!handed_down && !job_traits_of(job)->follows_nodes)
		return;
	int64_t stagger = update->stagger_ns, parallel = update->max_parallel;
	record_release(&update_description, update);
	update->stagger_ns = stagger;
	update->max_parallel = parallel;
	update->auto_revert = update->auto_promote = (struct optional_bool){true, false};
	// A job without the block is shown with an empty one.
	if (handed_down && stagger == 0 && parallel == 0)
		drop_block(&update_description, (void **)&job->update);
}

static void settle_identity(struct job *job)
{
	default_string(&job->region, "global");
	default_string(&job->namespace_name, "default");
	default_string(&job->name, job->id);
	default_string(&job->node_pool, "default");
	if (job->datacenters.count == 0)
		*(char **)array_append(&job->datacenters, sizeof(char *)) = text_copy(TEXT("*"));
	if (job->periodic) {
		default_string(&job->periodic->spec_type, "cron");
		default_string(&job->periodic->time_zone, "UTC");
	}
	if (job->parameterized)
		default_string(&job->parameterized->payload, "optional");
	if (job->direct && job->direct->clients.count == 0)
		drop_block(&direct_policy_description, (void **)&job->direct);
}

void job_canonicalize(struct job *job)
{
	const struct type_defaults *types = &type_defaults[job->type];
	settle_identity(job);
	for (uint32_t i = 0; i < job->task_groups.count; i++)
		settle_group(ARRAY_AT(&job->task_groups, struct task_group, i), job, types);
	settle_job_update(job, types->update != NULL);
	if (types->migrate)
		drop_block(&migrate_description, (void **)&job->migrate);
	if (types->reschedule)
		drop_block(&reschedule_description, (void **)&job->reschedule);
}
