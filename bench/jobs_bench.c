// Allocations per second from the registration of service and batch jobs until they are durable: job commands,
// evaluations, broker, scheduler, plans, the applier's check of them, log on disk, publication. There are jobs with
// nothing but resources, with an affinity, an even spread, a distinct_property, and with all of them; one of a
// thousand instances, and twenty. The fleet is empty each time. The reference looks at every node for every instance,
// in memory alone (bench/naive/naive_service.h).
#include "bench/harness/bench.h"
#include "bench/harness/census.h"
#include "bench/harness/directory.h"
#include "bench/harness/service_fleet.h"
#include "state/base/check.h"
#include "state/records/allocation.h"
#include <stdio.h>
#include <stdlib.h>

#define JOBS_MOST 50u
#define NAME_BYTES 32u

struct jobs {
	struct bench bench;
	char directory[BENCH_PATH_BYTES];
	struct controller controller;
	struct service_fleet fleet;
	struct census census;
	const struct service_shape *shape;
	int type; // of the jobs
	uint32_t jobs, count, round;
	char names[JOBS_MOST][NAME_BYTES];
};

static uint64_t instances(const struct jobs *j)
{
	return (uint64_t)j->jobs * j->count;
}

// Registers the jobs and waits until every allocation is durable.
static void place_all(struct jobs *j)
{
	struct command commands[JOBS_MOST];
	uint64_t target = census_read(&j->census, &j->census.placed) + instances(j);

	j->round++;
	for (uint32_t i = 0; i < j->jobs; i++) {
		snprintf(j->names[i], NAME_BYTES, "job-%u-%u", j->round, i);
		commands[i] = (struct command){.type = COMMAND_JOB_REGISTER,
			.job_register = {.job = service_fleet_job(&j->fleet, j->shape, j->names[i],
						 j->type, j->count)}};
	}
	controller_run(&j->controller, commands, j->jobs);
	census_await(&j->census, &j->census.placed, target);
}

// Removes the jobs, so that the fleet is empty again.
static void remove_all(struct jobs *j)
{
	struct command commands[JOBS_MOST];
	uint64_t target = census_read(&j->census, &j->census.ended) + instances(j);

	for (uint32_t i = 0; i < j->jobs; i++)
		commands[i] = (struct command){.type = COMMAND_JOB_DEREGISTER,
			.job_deregister = {.namespace_name = TEXT("default"),
				.id = text_of(j->names[i]),
				.purge = true}};
	controller_run(&j->controller, commands, j->jobs);
	census_await(&j->census, &j->census.ended, target);
	CHECK(core_collect(&j->controller.core) == OUTCOME_DONE);
}

struct tally {
	const struct jobs *jobs;
	uint32_t alive;
};

static bool count_alive(const struct allocation *a, void *context)
{
	struct tally *tally = context;

	CHECK(!allocation_is_terminal(a) && a->node_slot < tally->jobs->fleet.nodes);
	CHECK(a->index < tally->jobs->count);
	tally->alive++;
	return true;
}

// Every job has exactly what it asked for, and nothing else is there.
static void check_all(struct jobs *j)
{
	uint64_t cursor = 0, all = 0;

	state_read_begin();
	while (state_next(j->controller.state, STATE_ALLOCATIONS, &cursor))
		all++;
	CHECK(all == instances(j));
	for (uint32_t i = 0; i < j->jobs; i++) {
		struct tally tally = {.jobs = j};
		state_job_allocations(j->controller.state, TEXT("default"), text_of(j->names[i]),
			count_alive, &tally);
		CHECK(tally.alive == j->count);
	}
	state_read_end();
}

static double subject(void *context)
{
	struct jobs *j = context;
	uint64_t began_ns = bench_ns();

	place_all(j);
	uint64_t ns = bench_ns() - began_ns;
	check_all(j);
	remove_all(j);
	return (double)instances(j) * 1e9 / (double)ns;
}

static double reference(void *context)
{
	struct jobs *j = context;
	return service_fleet_reference(&j->fleet, j->count);
}

static void measure(struct jobs *j, const struct service_shape *shape, int type, uint32_t jobs)
{
	char name[96];

	j->shape = shape;
	j->type = type;
	j->jobs = jobs;
	service_fleet_ask(&j->fleet, shape, j->count);
	snprintf(name, sizeof name, "%u %s job%s, %s", jobs,
		type == JOB_BATCH ? "batch" : "service", jobs > 1 ? "s" : "", shape->name);
	struct bench_result result = {.name = text_copy(text_of(name)),
		.nodes = j->fleet.nodes,
		.unit = "durable allocations/s",
		.against = "a look at all nodes for each"};
	bench_interleave(&j->bench, subject, reference, j, &result);
	bench_report(&j->bench, &result);
}

static void open_fleet(struct jobs *j, uint32_t nodes, uint32_t schedulers)
{
	static uint32_t stores;
	char store[BENCH_PATH_BYTES + 32];

	snprintf(store, sizeof store, "%s/store-%u", j->directory, stores++);
	census_init(&j->census, false);
	controller_open(&j->controller, &(struct controller_settings){.directory = store,
						.nodes_max = nodes + NODE_BLOCK_SLOTS,
						.allocations_max = 1u << 18,
						.jobs_max = 1024,
						.schedulers = schedulers,
						.sync = true,
						.watch = true,
						.observer = &j->census.observer});
	service_fleet_open(&j->fleet, &j->controller, nodes);
}

static void print_refusals(const struct jobs *j)
{
	struct pipeline_stats stats;

	pipeline_stats(j->controller.pipeline, &stats);
	printf("%llu plans, %llu in part, %llu nodes refused\n",
		(unsigned long long)stats.plans_submitted, (unsigned long long)stats.plans_partial,
		(unsigned long long)stats.nodes_rejected);
}

static void measure_fleet(
	struct jobs *j, uint32_t nodes, uint32_t jobs, uint32_t schedulers, uint64_t only)
{
	open_fleet(j, nodes, schedulers);
	for (uint32_t i = 0; i < SERVICE_SHAPES; i++)
		if (only == 0 || i + 1 == only)
			measure(j, &service_shapes[i], JOB_SERVICE, jobs);
	if (only == 0) {
		measure(j, &service_shapes[0], JOB_BATCH, jobs);
		measure(j, &service_shapes[0], JOB_SERVICE, 20);
		measure(j, &service_shapes[0], JOB_BATCH, 20);
	}
	print_refusals(j);
	service_fleet_close(&j->fleet);
	controller_close(&j->controller);
	census_free(&j->census);
}

// --nodes N measures that size alone, --shape N (from 1) that job alone; --jobs N (at most 50) registers so many jobs,
// --count N instances each, with --schedulers N.
int main(int count, char **arguments)
{
	static const uint32_t fleets[] = {1000, 10000, 100000};
	static struct jobs j;

	bench_begin(&j.bench, "jobs", count, arguments);
	uint64_t nodes = bench_option(&j.bench, "nodes", j.bench.smoke ? 100 : 0);
	uint32_t schedulers = (uint32_t)bench_option(&j.bench, "schedulers", 1);
	uint32_t jobs = (uint32_t)bench_option(&j.bench, "jobs", 1);
	uint64_t only = bench_option(&j.bench, "shape", 0);
	j.count = (uint32_t)bench_option(&j.bench, "count", j.bench.smoke ? 20 : 1000);
	CHECK(jobs <= JOBS_MOST && only <= SERVICE_SHAPES);
	bench_directory_begin(&j.bench, j.directory);
	for (uint32_t i = 0; i < (nodes > 0 ? 1 : 3); i++)
		measure_fleet(&j, nodes > 0 ? (uint32_t)nodes : fleets[i], jobs, schedulers, only);
	bench_directory_end();
	return bench_end(&j.bench);
}
