#include "tests/support/core/builders.h"
#include <string.h>

struct uuid number_uuid(uint32_t number)
{
	struct uuid id = {{0xb0}};

	memcpy(id.bytes + 12, &number, sizeof number);
	return id;
}

void describe_plain_node(struct node_registration *node, uint32_t number, uint64_t sequence)
{
	*node = (struct node_registration){
		.node = number_uuid(number),
		.sequence = sequence,
		.parts = 1,
		.total = {4000, 8192, 100000},
		.name = TEXT("a-node"),
		.datacenter = TEXT("dc1"),
		.pool = TEXT("default"),
		.address = TEXT("192.0.2.1:1"),
		.version = TEXT("1.0"),
	};
}

struct job *plain_job(const char *id, int type)
{
	struct job *job = job_create();

	job->namespace_name = text_copy(TEXT("default"));
	job->id = text_copy(text_of(id));
	job->name = text_copy(text_of(id));
	job->type = type;
	return job;
}

struct task *add_plain_group(struct job *job, const char *name, struct resources asked)
{
	struct task_group *group = array_append(&job->task_groups, sizeof *group);

	record_init(&task_group_description, group);
	group->name = text_copy(text_of(name));
	group->disk.size_mb = asked.disk_mb;
	struct task *task = array_append(&group->tasks, sizeof *task);
	record_init(&task_description, task);
	task->name = text_copy(TEXT("t"));
	task->resources.cpu = asked.cpu_mhz;
	task->resources.memory_mb = asked.memory_mb;
	return task;
}
