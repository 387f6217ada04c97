// The pipeline with its threads and the real clock: it works, pauses, and ends whenever it must.
#include "state/base/memory.h"
#include "tests/placement/pipeline/cluster.h"
#include <errno.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { NODES = 100, JOBS = 20, THREADS = 3 };

static void name_of(uint32_t number, char name[16])
{
	snprintf(name, 16, "job-%u", number);
}

static void add_nodes(struct cluster *c)
{
	for (uint32_t n = 0; n < NODES; n++)
		cluster_node(c, n);
}

static void add_jobs(struct cluster *c)
{
	char name[16];

	for (uint32_t j = 0; j < JOBS; j++) {
		name_of(j, name);
		cluster_job(c, (struct job_ask){.id = name, .type = JOB_SYSTEM, .cpu = 50});
	}
}

static void await_jobs(struct cluster *c, uint32_t live)
{
	char name[16];

	for (uint32_t j = 0; j < JOBS; j++) {
		name_of(j, name);
		cluster_await(c, name, live);
	}
}

static void several_threads_place_everything(void **state)
{
	struct cluster c;

	cluster_init_threads(&c, THREADS);
	add_nodes(&c);
	add_jobs(&c);
	await_jobs(&c, NODES);
	for (uint32_t j = 0; j < JOBS; j++) {
		char name[16];
		name_of(j, name);
		cluster_stop_job(&c, name);
	}
	await_jobs(&c, 0);
	assert_int_equal(core_collect(&c.core), OUTCOME_DONE);
	cluster_free(&c);
}

// Jobs and nodes come at the same time, so that plans meet a newer state.
static void nodes_and_jobs_at_once(void **state)
{
	struct cluster c;

	cluster_init_threads(&c, THREADS);
	for (uint32_t i = 0; i < NODES; i++) {
		cluster_node(&c, i);
		if (i % 10 == 0) {
			char name[16];
			name_of(i / 10, name);
			cluster_job(
				&c, (struct job_ask){.id = name, .type = JOB_SYSTEM, .cpu = 50});
		}
	}
	for (uint32_t j = 0; j < NODES / 10; j++) {
		char name[16];
		name_of(j, name);
		cluster_await(&c, name, NODES);
	}
	cluster_free(&c);
}

static void it_stops_in_the_middle_of_its_work(void **state)
{
	for (uint32_t i = 0; i < 10; i++) {
		struct cluster c;
		cluster_init_threads(&c, THREADS);
		add_nodes(&c);
		add_jobs(&c);
		if (i > 0)
			cluster_await(&c, "job-0", NODES);
		cluster_kill(&c); // ends every thread, and starts anew from the log
		await_jobs(&c, NODES);
		cluster_free(&c);
	}
}

static void paused_threads_take_nothing(void **state)
{
	struct pipeline_stats stats;
	struct cluster c;

	cluster_init_threads(&c, THREADS);
	add_nodes(&c);
	pipeline_pause_threads(c.pipeline, true);
	// Threads that already wait for work may still take one evaluation each.
	add_jobs(&c);
	pipeline_stats(c.pipeline, &stats);
	assert_in_range(stats.processed, 0, THREADS);
	pipeline_pause_threads(c.pipeline, false);
	await_jobs(&c, NODES);
	cluster_free(&c);
}

// A plan is under way to a log without room: the stop does not wait for the plan's thread in vain.
static void it_stops_while_the_log_has_no_room(void **state)
{
	struct pipeline_stats stats;
	struct cluster c;

	cluster_init_threads(&c, 1);
	add_nodes(&c);
	pipeline_pause_threads(c.pipeline, true);
	cluster_job(&c, (struct job_ask){.id = "job-0", .type = JOB_SYSTEM, .cpu = 50});
	uint32_t appends = atomic_load(&c.log.appends);
	atomic_store(&c.log.error, -ENOSPC);
	pipeline_pause_threads(c.pipeline, false);
	// The thread may have been waiting for work, and may have taken this evaluation before it saw the pause.
	do
		pipeline_stats(c.pipeline, &stats);
	while (atomic_load(&c.log.appends) == appends && stats.processed == 0);
	c.drain_ms = 20;
	cluster_free(&c);
}

// Whatever the heap has seen before.
static void the_system_gets_back_what_a_burst_took(void **state)
{
	enum { BURST_BYTES = 16 << 20, PIECE_BYTES = 1 << 20 };
	struct cluster c;

	cluster_init_threads(&c, THREADS);
	void *burst = memory_take(BURST_BYTES);
	free(burst);
	size_t before = mallinfo2().hblkhd;
	void *piece = memory_take(PIECE_BYTES);
	size_t held = mallinfo2().hblkhd - before; // in mappings of their own
	free(piece);
	cluster_free(&c);
	if (mallinfo2().arena == 0)
		skip(); // sanitizers have a heap of their own
	assert_in_range(held, PIECE_BYTES, 2 * PIECE_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(several_threads_place_everything),
		cmocka_unit_test(nodes_and_jobs_at_once),
		cmocka_unit_test(it_stops_in_the_middle_of_its_work),
		cmocka_unit_test(paused_threads_take_nothing),
		cmocka_unit_test(it_stops_while_the_log_has_no_room),
		cmocka_unit_test(the_system_gets_back_what_a_burst_took),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
