#include "tests/placement/job_check/job_build.h"

struct task_group *add_group(struct job *job, const char *name)
{
	struct task_group *group = array_append(&job->task_groups, sizeof *group);
	record_init(&task_group_description, group);
	group->name = text_copy(text_of(name));
	return group;
}

struct task *add_task(struct task_group *group, const char *name)
{
	struct task *task = array_append(&group->tasks, sizeof *task);
	record_init(&task_description, task);
	task->name = text_copy(text_of(name));
	task->driver = text_copy(TEXT("exec"));
	return task;
}

struct job *job_of(enum job_type type)
{
	struct job *job = job_create();
	job->type = type;
	job->id = text_copy(TEXT("web"));
	add_task(add_group(job, "front"), "server");
	return job;
}

struct task_group *group_of(struct job *job)
{
	return ARRAY_AT(&job->task_groups, struct task_group, 0);
}

struct task *task_of(struct job *job)
{
	return ARRAY_AT(&group_of(job)->tasks, struct task, 0);
}

void set(char **string, const char *value)
{
	free(*string);
	*string = text_copy(text_of(value));
}

void constrain(struct array *constraints, const char *l, const char *op, const char *r)
{
	struct constraint *constraint = array_append(constraints, sizeof *constraint);
	set(&constraint->l_target, l);
	set(&constraint->operand, op);
	set(&constraint->r_target, r);
}

struct affinity *prefer(struct array *affinities)
{
	struct affinity *affinity = array_append(affinities, sizeof *affinity);
	record_init(&affinity_description, affinity);
	set(&affinity->l_target, "${node.class}");
	set(&affinity->operand, "=");
	set(&affinity->r_target, "large");
	return affinity;
}

struct spread *spread_over(struct array *spreads, const char *attribute)
{
	struct spread *spread = array_append(spreads, sizeof *spread);
	record_init(&spread_description, spread);
	set(&spread->attribute, attribute);
	return spread;
}

void *block(const struct record_type *type)
{
	void *record = memory_take(type->size);
	record_init(type, record);
	return record;
}

struct device_ask *ask_device(struct job *job, const char *name, int64_t count)
{
	struct device_ask *ask = array_append(&task_of(job)->resources.devices, sizeof *ask);
	record_init(&device_ask_description, ask);
	set(&ask->name, name);
	ask->count = count;
	return ask;
}
