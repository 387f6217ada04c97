#include "tests/support/core/core.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/snapshot/snapshot_view.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Far more steps than any command needs without threads.
#define STEPS_MAX 100000u

static int keep_nothing(
	void *context, uint64_t first_index, uint32_t entries, const void *batch, uint32_t size)
{
	return 0;
}

static int64_t find_endless_room(void *context)
{
	return INT64_MAX;
}

static void end_program(void *context, int error)
{
	fprintf(stderr, "the log failed: %s\n", error_text(error));
	abort();
}

static void set_default(uint32_t *limit, uint32_t value)
{
	*limit = *limit ? *limit : value;
}

void core_create(struct core *c, struct state_limits limits, uint32_t producers)
{
	set_default(&limits.nodes, 4096);
	set_default(&limits.jobs, 64);
	set_default(&limits.allocations, 65536);
	set_default(&limits.place_requests, 65536);
	set_default(&limits.clients, 64);
	*c = (struct core){
		.state = state_create(&limits), .queue = command_queue_create(producers)};
	CHECK(c->state && c->queue);
}

void core_dismiss(struct core *c)
{
	CHECK(!c->is_running);
	if (c->applier)
		applier_destroy(c->applier);
	c->applier = NULL;
}

void core_appoint(struct core *c, struct applier_settings settings)
{
	core_dismiss(c);
	settings.state = c->state;
	settings.queue = c->queue;
	if (!settings.log.append)
		settings.log = (struct command_log){
			.append = keep_nothing, .room_bytes = find_endless_room};
	if (!settings.time)
		settings.time = &time_source_real;
	if (!settings.log_failed)
		settings.log_failed = end_program;
	c->time = settings.time;
	c->applier = applier_create(&settings);
	CHECK(c->applier);
}

int core_open(struct core *c)
{
	return applier_open(c->applier);
}

void core_start(struct core *c, int cpu)
{
	c->is_running = true;
	CHECK(applier_start(c->applier, cpu) == 0);
}

void core_stop(struct core *c, uint32_t drain_ms)
{
	applier_stop(c->applier, drain_ms);
	c->is_running = false;
}

void core_destroy(struct core *c)
{
	core_dismiss(c);
	command_queue_destroy(c->queue);
	state_destroy(c->state);
	*c = (struct core){0};
}

static void count_done(struct command *command)
{
	if (command->context)
		__atomic_add_fetch((uint32_t *)command->context, 1, __ATOMIC_RELEASE);
}

void core_push(struct core *c, struct command *command, uint32_t *done)
{
	command->done = count_done;
	command->context = done;
	command->submitted_ns = time_monotonic_ns(c->time);
	CHECK(command_queue_push(c->queue, COMMAND_PRODUCER_SHARED, command));
}

void core_await(struct core *c, const uint32_t *done, uint32_t count)
{
	for (uint32_t steps = 0; __atomic_load_n(done, __ATOMIC_ACQUIRE) < count; steps++) {
		if (c->is_running) {
			sched_yield();
			continue;
		}
		CHECK(steps < STEPS_MAX);
		applier_step(c->applier);
	}
}

enum command_outcome core_run(struct core *c, struct command *command)
{
	uint32_t done = 0;

	core_push(c, command, &done);
	core_await(c, &done, 1);
	return command->outcome;
}

enum command_outcome core_collect(struct core *c)
{
	return core_run(c, &(struct command){.type = COMMAND_GC, .gc = {.force = true}});
}

enum command_outcome core_join(struct core *c, struct node_registration *node)
{
	struct command registers = {.type = COMMAND_NODE_REGISTER, .node_register = node};
	enum command_outcome outcome = core_run(c, &registers);

	if (outcome != OUTCOME_DONE)
		return outcome;
	struct command beats = {
		.type = COMMAND_NODE_RETURNED, .node = {node->slot, node->generation}};
	return core_run(c, &beats);
}

struct bytes_writer core_image(struct state *state)
{
	struct bytes_writer image = bytes_writer_growing(4096);
	struct bytes_writer item = bytes_writer_growing(4096);
	struct snapshot_view *view = snapshot_view_begin(state);

	while (snapshot_view_next(view, &item)) {
		bytes_put_u32(&image, (uint32_t)item.size);
		bytes_put(&image, item.data, item.size);
		item.size = 0;
	}
	snapshot_view_end(view);
	CHECK(!item.failed && !image.failed);
	bytes_writer_free(&item);
	return image;
}
