// Allocations per second from the registration of a job until they are durable: job command, evaluation, broker,
// scheduler, plan, the applier's check of every node, log on disk, publication. System jobs, so every node gets an
// allocation; the fleet is empty each time. The reference does the same work in the plainest way
// (bench/naive/naive_system.h), in memory alone.
//
// A second figure says what working schedulers leave to the packet path: heartbeats per second on a core of their own
// while applier, log and schedulers are busy on another, against the same while they rest.
#include "bench/harness/bench.h"
#include "bench/harness/controller.h"
#include "bench/harness/directory.h"
#include "bench/harness/heartbeats.h"
#include "bench/naive/naive_system.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define JOBS_MOST 50u
#define BATCH_FRAMES 4096u
#define NAME_BYTES 32u

struct schedule {
	struct bench bench;
	char directory[BENCH_PATH_BYTES];
	struct controller controller;
	struct naive_fleet *naive;
	uint32_t nodes, jobs, round;
	char names[JOBS_MOST][NAME_BYTES];
	// Counted by the observer, on the applier's thread.
	struct state_observer observer;
	uint64_t placed, ended, placed_target, ended_target;
	sem_t reached;
	// Heartbeats.
	struct heartbeats heartbeats;
	uint8_t (*frames)[128];
	uint64_t round_ns;
	_Atomic bool stop;
};

static void observe(
	void *context, const struct state_change *changes, uint32_t count, uint64_t index)
{
	struct schedule *s = context;
	uint64_t placed = s->placed, ended = s->ended;

	for (uint32_t i = 0; i < count; i++) {
		if (changes[i].table != STATE_ALLOCATIONS || changes[i].after->deleted)
			continue;
		const struct allocation *before = (const struct allocation *)changes[i].before;
		const struct allocation *after = (const struct allocation *)changes[i].after;
		s->placed += before == NULL;
		s->ended += allocation_is_terminal(after) &&
			    (!before || !allocation_is_terminal(before));
	}
	if ((placed < s->placed_target && s->placed >= s->placed_target) ||
		(ended < s->ended_target && s->ended >= s->ended_target))
		sem_post(&s->reached);
}

static struct job *describe_job(const char *name)
{
	struct job *job = job_create();

	job->namespace_name = text_copy(TEXT("default"));
	job->id = text_copy(text_of(name));
	job->name = text_copy(text_of(name));
	job->type = JOB_SYSTEM;
	job->node_pool = text_copy(TEXT("default"));
	*(char **)array_append(&job->datacenters, sizeof(char *)) = text_copy(TEXT("dc1"));
	struct task_group *group = array_append(&job->task_groups, sizeof *group);
	record_init(&task_group_description, group);
	group->name = text_copy(TEXT("g"));
	group->disk.size_mb = 10;
	struct constraint *constraint = array_append(&group->constraints, sizeof *constraint);
	*constraint = (struct constraint){text_copy(TEXT("${attr.kernel.name}")),
		text_copy(TEXT("linux")), text_copy(TEXT("="))};
	struct task *task = array_append(&group->tasks, sizeof *task);
	record_init(&task_description, task);
	task->name = text_copy(TEXT("t"));
	task->driver = text_copy(TEXT("raw_exec"));
	task->resources.cpu = 100;
	task->resources.memory_mb = 64;
	CHECK(job_derive(job));
	return job;
}

static void await_reached(struct schedule *s)
{
	while (sem_wait(&s->reached) != 0)
		continue;
}

// Registers the jobs and waits until every allocation of theirs is durable.
static void place_all(struct schedule *s)
{
	struct command commands[JOBS_MOST];

	s->round++;
	s->placed_target = s->placed + (uint64_t)s->nodes * s->jobs;
	for (uint32_t j = 0; j < s->jobs; j++) {
		snprintf(s->names[j], NAME_BYTES, "job-%u-%u", s->round, j);
		commands[j] = (struct command){.type = COMMAND_JOB_REGISTER,
			.job_register = {.job = describe_job(s->names[j])}};
	}
	controller_run(&s->controller, commands, s->jobs);
	await_reached(s);
}

// Removes the jobs, so that the fleet is empty again.
static void remove_all(struct schedule *s)
{
	struct command commands[JOBS_MOST];

	s->ended_target = s->ended + (uint64_t)s->nodes * s->jobs;
	for (uint32_t j = 0; j < s->jobs; j++)
		commands[j] = (struct command){.type = COMMAND_JOB_DEREGISTER,
			.job_deregister = {.namespace_name = TEXT("default"),
				.id = text_of(s->names[j]),
				.purge = true}};
	controller_run(&s->controller, commands, s->jobs);
	await_reached(s);
	CHECK(core_collect(&s->controller.core) == OUTCOME_DONE);
}

static double subject(void *context)
{
	struct schedule *s = context;
	uint64_t began_ns = bench_ns();

	place_all(s);
	uint64_t ns = bench_ns() - began_ns;
	remove_all(s);
	return (double)s->nodes * s->jobs * 1e9 / (double)ns;
}

static double reference(void *context)
{
	struct schedule *s = context;
	char names[JOBS_MOST][NAME_BYTES];
	uint64_t placed = 0, began_ns = bench_ns();

	for (uint32_t j = 0; j < s->jobs; j++) {
		snprintf(names[j], NAME_BYTES, "job-%u-%u", s->round, j);
		placed += naive_place(s->naive, names[j]);
	}
	uint64_t ns = bench_ns() - began_ns;
	CHECK(placed == (uint64_t)s->nodes * s->jobs);
	for (uint32_t j = s->jobs; j > 0; j--)
		naive_remove(s->naive, names[j - 1]);
	return (double)placed * 1e9 / (double)ns;
}

static void start(struct schedule *s, uint32_t nodes, uint32_t schedulers, int cpu)
{
	static uint32_t stores;
	char store[BENCH_PATH_BYTES + 32];

	snprintf(store, sizeof store, "%s/store-%u", s->directory, stores++);
	s->nodes = nodes;
	s->placed = s->ended = s->placed_target = s->ended_target = 0;
	s->observer = (struct state_observer){.changed = observe, .context = s};
	controller_open(&s->controller, &(struct controller_settings){.directory = store,
						.nodes_max = nodes + NODE_BLOCK_SLOTS,
						.allocations_max = 1u << 21,
						.jobs_max = 1024,
						.schedulers = schedulers,
						.cpu = cpu + 1,
						.sync = true,
						.observer = &s->observer});
	controller_register(&s->controller, 0, nodes);
}

static void measure(struct schedule *s, uint32_t nodes, uint32_t jobs, uint32_t schedulers)
{
	char name[64];

	start(s, nodes, schedulers, -1);
	s->naive = naive_create(nodes);
	s->jobs = jobs;
	snprintf(name, sizeof name, "%u system job%s, %u scheduler%s", jobs, jobs > 1 ? "s" : "",
		schedulers, schedulers > 1 ? "s" : "");
	struct bench_result result = {.name = text_copy(text_of(name)),
		.nodes = nodes,
		.unit = "durable allocations/s",
		.against = "a plain loop in memory"};
	bench_interleave(&s->bench, subject, reference, s, &result);
	bench_report(&s->bench, &result);
	naive_destroy(s->naive);
	controller_close(&s->controller);
}

// Processor time of this thread: other programs' turns on its core do not count.
static uint64_t thread_ns(void)
{
	struct timespec t;

	CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t receive_batch(struct schedule *s)
{
	struct packet packets[BURST_MAX];
	uint8_t *data[BURST_MAX];

	for (uint32_t first = 0; first < BATCH_FRAMES; first += BURST_MAX) {
		for (uint32_t i = 0; i < BURST_MAX; i++)
			data[i] = s->frames[first + i];
		heartbeats_build(&s->heartbeats, data, BURST_MAX);
	}
	uint64_t began_ns = thread_ns();
	for (uint32_t first = 0; first < BATCH_FRAMES; first += BURST_MAX) {
		for (uint32_t i = 0; i < BURST_MAX; i++)
			packets[i] = (struct packet){.data = s->frames[first + i],
				.size = HEARTBEAT_PACKET_BYTES,
				.capacity = sizeof s->frames[0],
				.segments = 1};
		hot_receive(&s->heartbeats.worker, packets, BURST_MAX);
	}
	return thread_ns() - began_ns;
}

static double heartbeats_per_second(struct schedule *s)
{
	uint64_t accepted = s->heartbeats.counters.heartbeats, ns = 0;
	uint64_t began_ns = bench_ns();

	while (bench_ns() - began_ns < s->round_ns)
		ns += receive_batch(s);
	return (double)(s->heartbeats.counters.heartbeats - accepted) * 1e9 / (double)ns;
}

static void *keep_busy(void *context)
{
	struct schedule *s = context;

	while (!s->stop) {
		place_all(s);
		remove_all(s);
	}
	return NULL;
}

static double while_scheduling(void *context)
{
	struct schedule *s = context;
	pthread_t thread;
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	s->stop = false;
	CHECK(pthread_create(&thread, NULL, keep_busy, s) == 0);
	CHECK(pthread_setaffinity_np(thread, sizeof first, &first) == 0);
	double rate = heartbeats_per_second(s);
	s->stop = true;
	CHECK(pthread_join(thread, NULL) == 0);
	return rate;
}

static double quiet(void *context)
{
	return heartbeats_per_second(context);
}

// Every thread that is started inherits the first processor; the packet path then takes the last.
static void measure_heartbeats(struct schedule *s, uint32_t nodes)
{
	cpu_set_t all, first;

	CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
	if (CPU_COUNT(&all) < 2 || !CPU_ISSET(0, &all)) {
		printf("heartbeats while schedulers run: not measured, it takes two processors\n");
		return;
	}
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	CHECK(sched_setaffinity(0, sizeof first, &first) == 0);
	start(s, nodes, 1, 0);
	CHECK(sched_setaffinity(0, sizeof all, &all) == 0);
	(void)bench_pin();
	s->jobs = 1;
	s->frames = memory_map(BATCH_FRAMES * sizeof s->frames[0]);
	CHECK(s->frames != NULL);
	heartbeats_start(&s->heartbeats, s->bench.smoke ? 4096 : 100000);
	struct bench_result result = {.name = "heartbeats while a scheduler works",
		.nodes = s->heartbeats.nodes,
		.unit = "heartbeats/s",
		.against = "the same while it rests"};
	bench_interleave(&s->bench, while_scheduling, quiet, s, &result);
	bench_report(&s->bench, &result);
	heartbeats_stop(&s->heartbeats);
	memory_unmap(s->frames, BATCH_FRAMES * sizeof s->frames[0]);
	controller_close(&s->controller);
}

static void measure_all(struct schedule *s)
{
	static const uint32_t sizes[] = {1000, 10000, 100000};
	uint32_t least = s->bench.smoke ? 100 : sizes[0];

	for (uint32_t schedulers = 1; schedulers <= 2; schedulers++) {
		for (uint32_t i = 0; i < (s->bench.smoke ? 0 : 3); i++)
			measure(s, sizes[i], 1, schedulers);
		measure(s, least, JOBS_MOST, schedulers);
	}
	measure_heartbeats(s, s->bench.smoke ? least : 10000);
}

// --nodes N (with --jobs, at most 50, and --schedulers) measures that size alone.
int main(int count, char **arguments)
{
	static struct schedule s;

	bench_begin(&s.bench, "schedule", count, arguments);
	uint64_t nodes = bench_option(&s.bench, "nodes", 0);
	uint64_t jobs = bench_option(&s.bench, "jobs", 1);
	uint64_t schedulers = bench_option(&s.bench, "schedulers", 1);
	s.round_ns = (s.bench.smoke ? 20u : 1000u) * 1000000ull;
	CHECK(sem_init(&s.reached, 0, 0) == 0 && jobs <= JOBS_MOST);
	bench_directory_begin(&s.bench, s.directory);
	if (nodes > 0)
		measure(&s, (uint32_t)nodes, (uint32_t)jobs, (uint32_t)schedulers);
	else
		measure_all(&s);
	bench_directory_end();
	return bench_end(&s.bench);
}
