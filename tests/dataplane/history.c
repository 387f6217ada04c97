#include "tests/dataplane/history.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void history_free(struct history *h)
{
	for (uint32_t i = 0; i < h->count; i++)
		free(h->batches[i].data);
	free(h->batches);
	*h = (struct history){0};
}

static int append(
	void *context, uint64_t first_index, uint32_t entries, const void *batch, uint32_t size)
{
	struct history *h = context;
	h->batches = realloc(h->batches, (h->count + 1) * sizeof h->batches[0]);
	struct batch *b = &h->batches[h->count++];
	*b = (struct batch){first_index, malloc(size), size};
	memcpy(b->data, batch, size);
	return 0;
}

static int64_t room_bytes(void *context)
{
	return ((struct history *)context)->disk_full ? 0 : INT64_MAX;
}

struct command_log history_log(struct history *h)
{
	return (struct command_log){.append = append, .room_bytes = room_bytes, .context = h};
}

void history_replay(const struct history *h, struct applier *applier)
{
	for (uint32_t i = 0; i < h->count; i++)
		assert_int_equal(applier_replay(applier, h->batches[i].first_index,
					 h->batches[i].data, h->batches[i].size),
			0);
}

void history_failed(void *context, int error)
{
	fail_msg("the log failed: %d", error);
}

static void best(void *context, const struct job *job, uint32_t group, struct placer_choice *choice,
	struct place_refusal *refusal)
{
	struct state *state = context;
	struct resources ask = ARRAY_AT(&job->asks, struct group_ask, group)->resources;
	*choice = (struct placer_choice){.slot = PLACER_NO_NODE};
	for (uint32_t slot = 0; slot < state_node_slots(state); slot++) {
		const struct node_cell *cell = state_node_cell(state, slot);
		if (cell->working == NULL)
			continue;
		refusal->nodes_seen++;
		if (cell->working->status != NODE_READY) {
			refusal->nodes_not_ready++;
			continue;
		}
		if (!resources_fit(
			    ask, resources_minus(node_capacity(cell->working), cell->used))) {
			refusal->exhausted_cpu++;
			continue;
		}
		choice->nodes_feasible++;
		if (choice->slot == PLACER_NO_NODE)
			choice->slot = slot;
	}
	choice->nodes_evaluated = refusal->nodes_seen;
}

static void node_changed(void *context, uint32_t slot)
{
}

static void job_retired(void *context, const struct job *job)
{
}

struct placer first_fit_placer(struct state *state)
{
	return (struct placer){.context = state,
		.best = best,
		.node_changed = node_changed,
		.job_retired = job_retired};
}

static void set(char **field, const char *value)
{
	free(*field);
	*field = text_copy(text_of(value));
}

struct job *direct_job(const char *id, uint32_t cpu_mhz, uint32_t memory_mb)
{
	struct job *job = job_create();
	set(&job->id, id);
	set(&job->name, id);
	set(&job->namespace_name, "default");
	set(&job->node_pool, "default");
	job->type = JOB_DIRECT;
	*(char **)array_append(&job->datacenters, sizeof(char *)) = text_copy(TEXT("*"));
	struct task_group *group = array_append(&job->task_groups, sizeof *group);
	record_init(&task_group_description, group);
	set(&group->name, "g");
	struct task *task = array_append(&group->tasks, sizeof *task);
	record_init(&task_description, task);
	set(&task->name, "t");
	set(&task->driver, "exec");
	task->resources.cpu = cpu_mhz;
	task->resources.memory_mb = memory_mb;
	return job;
}
