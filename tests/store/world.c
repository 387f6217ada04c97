#include "tests/store/world.h"
#include "state/base/memory.h"
#include "state/snapshot/snapshot_view.h"
#include "tests/store/store_dir.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { NODES = 4096, NODE_CPU = 4000, NODE_MEMORY = 8192 };

// --- Placing -------------------------------------------------------------------------------------

static void first_fit(void *context, const struct job *job, uint32_t group,
	struct placer_choice *choice, struct place_refusal *refusal)
{
	struct state *state = ((struct world *)context)->state;
	struct resources ask = ARRAY_AT(&job->asks, struct group_ask, group)->resources;
	*choice = (struct placer_choice){.slot = PLACER_NO_NODE};
	*refusal = (struct place_refusal){0};
	for (uint32_t slot = 0; slot < state_node_slots(state); slot++) {
		struct node_cell *cell = state_node_cell(state, slot);
		if (!cell || !cell->working || cell->working->status != NODE_READY)
			continue;
		choice->nodes_evaluated++;
		refusal->nodes_seen++;
		if (!resources_fit(ask, resources_minus(node_capacity(cell->working), cell->used)))
			continue;
		choice->nodes_feasible++;
		if (choice->slot == PLACER_NO_NODE)
			choice->slot = slot;
	}
	choice->score = 0.5;
}

static void node_changed(void *context, uint32_t slot)
{
}

static void job_retired(void *context, const struct job *job)
{
}

// --- Opening -------------------------------------------------------------------------------------

static void log_failed(void *context, int error)
{
	fail_msg("the log failed: %d", error);
}

void world_init(struct world *w)
{
	*w = (struct world){.time = {.monotonic_ns = 1, .wall_ns = 1700000000000000000ull}};
	snprintf(w->directory, sizeof w->directory, "%s", dir_create());
	w->settings = (struct store_settings){.directory = w->directory,
		.map_bytes = 256ll << 20,
		.sync = true,
		.snapshot_log_bytes = 64ll << 20};
}

void world_remove(struct world *w)
{
	dir_remove(w->directory);
}

static struct time_source clock_of(struct world *w)
{
	return time_source_manual(&w->time);
}

int world_recover(struct world *w)
{
	static struct time_source time;
	int error = store_open(&w->settings, &w->store, w->message, sizeof w->message);
	if (error < 0)
		return error;
	struct state_limits limits = {NODES, 256, 65536, 65536, 256};
	time = clock_of(w);
	w->state = state_create(&limits);
	w->queue = command_queue_create(1);
	struct applier_settings settings = {
		.state = w->state,
		.queue = w->queue,
		.log = store_log(w->store),
		.placer = {w, first_fit, node_changed, job_retired},
		.time = &time,
		.seed = w->time.wall_ns,
		.collect_after_ms = 3600 * 1000,
		.log_failed = log_failed,
	};
	w->applier = applier_create(&settings);
	error = store_recover(
		w->store, w->state, w->applier, &w->recovery, w->message, sizeof w->message);
	if (error < 0)
		world_close(w);
	return error;
}

int world_open(struct world *w)
{
	int error = world_recover(w);
	if (error == 0)
		assert_int_equal(applier_open(w->applier), 0);
	return error;
}

void world_close(struct world *w)
{
	applier_destroy(w->applier);
	command_queue_destroy(w->queue);
	state_destroy(w->state);
	store_close(w->store);
}

// --- Commands ------------------------------------------------------------------------------------

static void note_done(struct command *c)
{
	*(bool *)c->context = true;
}

enum command_outcome world_run(struct world *w, struct command *c)
{
	bool done = false;
	c->done = note_done;
	c->context = &done;
	assert_true(command_queue_push(w->queue, COMMAND_PRODUCER_SHARED, c));
	int steps = 0;
	while (!done) {
		assert_true(steps++ < 1000);
		applier_step(w->applier);
	}
	return c->outcome;
}

static struct uuid number_uuid(uint32_t number)
{
	struct uuid id = {{0xb0}};
	memcpy(id.bytes + 12, &number, sizeof number);
	return id;
}

enum command_outcome world_register(struct world *w, uint32_t number)
{
	struct node_registration *node = memory_take(sizeof *node);
	char name[32];
	snprintf(name, sizeof name, "node-%u", number);
	w->time.wall_ns += 1000000;
	*node = (struct node_registration){
		.node = number_uuid(number),
		.sequence = w->time.wall_ns / 1000000,
		.parts = 1,
		.total = {NODE_CPU, NODE_MEMORY, 100000},
		.name = text_of(name),
		.datacenter = TEXT("dc1"),
		.class_name = number % 2 ? TEXT("even") : TEXT("odd"),
		.pool = TEXT("default"),
		.address = TEXT("192.0.2.1:1"),
		.version = TEXT("1"),
		.pair_count = 2,
		.pairs = {{0, TEXT("cpu.arch"), TEXT("amd64")},
			{0, TEXT("unique.hostname"), text_of(name)}},
	};
	struct command c = {.type = COMMAND_NODE_REGISTER, .node_register = node};
	enum command_outcome outcome = world_run(w, &c);
	free(node);
	return outcome;
}

enum command_outcome world_expire(struct world *w, uint32_t slot)
{
	state_read_begin();
	const struct node *node = state_node_at(w->state, slot);
	uint32_t generation = node ? node->generation : 0;
	state_read_end();
	struct command c = {.type = COMMAND_NODE_EXPIRED, .node = {slot, generation}};
	return world_run(w, &c);
}

enum command_outcome world_job(struct world *w, uint32_t cpu)
{
	struct job *job = job_create();
	job->type = JOB_DIRECT;
	job->id = text_copy(TEXT("web"));
	job->name = text_copy(TEXT("web"));
	job->namespace_name = text_copy(TEXT("default"));
	job->node_pool = text_copy(TEXT("default"));
	*(char **)array_append(&job->datacenters, sizeof(char *)) = text_copy(TEXT("*"));
	struct task_group *group = array_append(&job->task_groups, sizeof *group);
	record_init(&task_group_description, group);
	group->name = text_copy(TEXT("front"));
	struct task *task = array_append(&group->tasks, sizeof *task);
	record_init(&task_description, task);
	task->name = text_copy(TEXT("server"));
	task->resources.cpu = cpu;
	struct command c = {.type = COMMAND_JOB_REGISTER, .job_register = {.job = job}};
	enum command_outcome outcome = world_run(w, &c);
	job_free(c.job_register.job);
	return outcome;
}

enum command_outcome world_place(struct world *w, uint64_t request, struct command_place *place)
{
	*place = (struct command_place){
		.client = TEXT("tester"),
		.issued_ms = (int64_t)(w->time.wall_ns / 1000000),
		.request = request,
		.count = 1,
		.namespace_name = TEXT("default"),
		.job = TEXT("web"),
		.group = TEXT("front"),
	};
	struct command c = {.type = COMMAND_PLACE, .place = place};
	return world_run(w, &c);
}

enum command_outcome world_release(struct world *w, struct uuid allocation)
{
	struct command_release release = {
		.client = TEXT("tester"), .count = 1, .ids = {allocation}};
	struct command c = {.type = COMMAND_RELEASE, .release = &release};
	return world_run(w, &c);
}

struct bytes_writer world_image(struct world *w)
{
	struct bytes_writer image = bytes_writer_growing(4096);
	struct snapshot_view *view = snapshot_view_begin(w->state);
	while (snapshot_view_next(view, &image))
		;
	snapshot_view_end(view);
	assert_false(image.failed);
	return image;
}
