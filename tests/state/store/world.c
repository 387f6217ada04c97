#include "tests/state/store/world.h"
#include "state/base/memory.h"
#include "tests/state/store/store_dir.h"
#include "tests/support/core/builders.h"
#include "tests/support/first_fit.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { NODES = 4096, STEPS_MOST = 16 };

static void log_failed(void *context, int error)
{
	struct world *w = context;

	w->log_error = error;
	if (!w->may_fail)
		fail_msg("the log failed: %d", error);
	store_note_failure(w->store, error); // as the daemon does
}

void world_init(struct world *w)
{
	*w = (struct world){.time = {.monotonic_ns = 1, .wall_ns = 1700000000000000000ull}};
	snprintf(w->directory, sizeof w->directory, "%s", dir_create());
	w->settings = (struct store_settings){.directory = w->directory,
		.map_bytes = 256ll << 20,
		.sync = true,
		.snapshot_log_bytes = 64ll << 20};
	w->limits = (struct state_limits){NODES, 256, 65536, 65536, 256};
}

void world_remove(struct world *w)
{
	dir_remove(w->directory);
}

int world_recover(struct world *w)
{
	int error = store_open(&w->settings, &w->store, w->message, sizeof w->message);
	if (error < 0)
		return error;
	w->source = time_source_manual(&w->time);
	core_create(&w->core, w->limits, 1);
	w->state = w->core.state;
	w->queue = w->core.queue;
	core_appoint(&w->core, (struct applier_settings){
				       .log = store_log(w->store),
				       .placer = first_fit_placer(w->state),
				       .time = &w->source,
				       .seed = w->time.wall_ns,
				       .collect_after_ms = 3600 * 1000,
				       .log_failed = log_failed,
				       .context = w,
			       });
	w->applier = w->core.applier;
	error = store_recover(
		w->store, w->state, w->applier, &w->recovery, w->message, sizeof w->message);
	if (error < 0)
		world_close(w);
	return error;
}

int world_open(struct world *w)
{
	int error = world_recover(w);
	if (error < 0)
		return error;
	error = core_open(&w->core);
	if (error < 0 && w->may_fail) {
		w->log_error = error;
		snprintf(w->message, sizeof w->message, "no term was begun");
		world_close(w);
		return error;
	}
	assert_int_equal(error, 0);
	return 0;
}

void world_close(struct world *w)
{
	core_destroy(&w->core);
	store_close(w->store);
}

enum command_outcome world_run(struct world *w, struct command *c)
{
	uint32_t done = 0;

	if (!w->may_fail)
		return core_run(&w->core, c);
	if (w->log_error)
		return OUTCOME_STOPPING;
	core_push(&w->core, c, &done);
	for (uint32_t i = 0; i < STEPS_MOST && !done && !w->log_error; i++)
		applier_step(w->applier);
	if (!done) {
		w->log_error = w->log_error ? w->log_error : -ENOSPC; // it waits for room
		applier_stop(w->applier, 0);
		assert_int_equal(done, 1);
	}
	return c->outcome;
}

enum command_outcome world_register(struct world *w, uint32_t number)
{
	struct node_registration *node = memory_take(sizeof *node);
	char name[32];
	snprintf(name, sizeof name, "node-%u", number);
	w->time.wall_ns += 1000000;
	describe_plain_node(node, number, w->time.wall_ns / 1000000);
	node->name = text_of(name);
	node->class_name = number % 2 ? TEXT("even") : TEXT("odd");
	node->pair_count = 2;
	node->pairs[0] = (struct node_pair){PAIR_ATTRIBUTE, TEXT("cpu.arch"), TEXT("amd64")};
	node->pairs[1] = (struct node_pair){PAIR_ATTRIBUTE, TEXT("unique.hostname"), text_of(name)};
	struct command c = {.type = COMMAND_NODE_REGISTER, .node_register = node};
	enum command_outcome outcome = world_run(w, &c);
	if (outcome == OUTCOME_DONE) {
		c = (struct command){
			.type = COMMAND_NODE_RETURNED, .node = {node->slot, node->generation}};
		outcome = world_run(w, &c);
	}
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
	struct job *job = plain_job("web", JOB_DIRECT);
	job->node_pool = text_copy(TEXT("default"));
	*(char **)array_append(&job->datacenters, sizeof(char *)) = text_copy(TEXT("*"));
	add_plain_group(job, "front", (struct resources){.cpu_mhz = cpu});
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
	return core_image(w->state);
}
