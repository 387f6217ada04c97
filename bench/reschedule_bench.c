// Nodes die with a hundred thousand allocations of service jobs: how many of those are replaced per second, from the
// first command that says a node is silent until the last replacement is durable. State, applier, log on disk, broker,
// schedulers and watchers all work. In each round every node that holds allocations dies, so that all are lost;
// afterwards the nodes come back, empty. The reference looks at every node for every instance, in memory alone
// (bench/naive/naive_service.h), without finding out, checking or writing anything.
#include "bench/harness/bench.h"
#include "bench/harness/census.h"
#include "bench/harness/directory.h"
#include "bench/harness/service_fleet.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/alloc_details.h"
#include "state/records/allocation.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 32u

struct reschedule {
	struct bench bench;
	char directory[BENCH_PATH_BYTES];
	struct controller controller;
	struct service_fleet fleet;
	struct census census;
	uint32_t jobs, count;       // jobs, and instances of each
	uint32_t *dead, dead_count; // slots
	bool *is_dead;              // by slot
	uint64_t unlinked;          // allocations replaced later than lost
	uint64_t moved_twice;       // replaced on a node not yet known to be dead
};

static uint64_t instances(const struct reschedule *r)
{
	return (uint64_t)r->jobs * r->count;
}

static void name_job(uint32_t number, char name[static NAME_BYTES])
{
	snprintf(name, NAME_BYTES, "job-%u", number);
}

// Reports that the new allocations on living nodes run.
static void run_new(struct reschedule *r)
{
	uint32_t count;
	struct census_note *notes = census_take(&r->census, &count);
	uint32_t fresh = 0;

	for (uint32_t i = 0; i < count; i++)
		if (!notes[i].stops && !r->is_dead[notes[i].slot])
			notes[fresh++] = notes[i];
	CHECK(fresh == instances(r));
	service_fleet_report(&r->fleet, &r->controller, notes, fresh, false);
	free(notes);
}

static void place_all(struct reschedule *r)
{
	struct command *commands = memory_take_array(r->jobs, sizeof *commands);
	char name[NAME_BYTES];

	for (uint32_t i = 0; i < r->jobs; i++) {
		name_job(i, name);
		commands[i] = (struct command){.type = COMMAND_JOB_REGISTER,
			.job_register = {.job = service_fleet_job(&r->fleet, &service_shapes[0],
						 name, JOB_SERVICE, r->count)}};
	}
	controller_run(&r->controller, commands, r->jobs);
	free(commands);
	census_await(&r->census, &r->census.placed, instances(r));
	run_new(r);
}

// Chooses every node that holds an allocation that is to run.
static void choose_dead(struct reschedule *r)
{
	const struct allocation *a;
	uint64_t cursor = 0, alive = 0;

	state_read_begin();
	while ((a = state_next(r->controller.state, STATE_ALLOCATIONS, &cursor))) {
		if (allocation_is_terminal(a))
			continue;
		CHECK(a->client_status == ALLOC_RUNNING);
		r->is_dead[a->node_slot] = true;
		alive++;
	}
	state_read_end();
	CHECK(alive == instances(r));
	r->dead_count = 0;
	for (uint32_t n = 0; n < r->fleet.nodes; n++)
		if (r->is_dead[n])
			r->dead[r->dead_count++] = n;
	census_mark(&r->census, r->is_dead, alive);
}

static void revive(struct reschedule *r)
{
	service_fleet_tell(
		&r->fleet, &r->controller, COMMAND_NODE_RETURNED, r->dead, r->dead_count);
	census_mark(&r->census, NULL, 0);
	memset(r->is_dead, 0, r->fleet.nodes * sizeof *r->is_dead);
}

struct tally {
	const struct reschedule *reschedule;
	uint32_t alive, without_next, without_previous;
	bool *indexes; // of allocations that are to run
};

static bool count_job(const struct allocation *a, void *context)
{
	struct tally *t = context;
	const struct reschedule *r = t->reschedule;

	if (allocation_is_terminal(a)) {
		CHECK(a->client_status == ALLOC_LOST && r->is_dead[a->node_slot]);
		t->without_next += !a->details || uuid_is_zero(&a->details->next_allocation);
		return true;
	}
	CHECK(!r->is_dead[a->node_slot]);
	t->without_previous += !a->details || uuid_is_zero(&a->details->previous_allocation);
	CHECK(a->index < r->count && !t->indexes[a->index]);
	t->indexes[a->index] = true;
	t->alive++;
	return true;
}

// Each job runs as often as it asked to, under every one of its numbers once, on living nodes; lost allocations name
// their replacements. Only where the applier refused a part of a plan, because the chosen node was dead by then, the
// allocation is lost already when the next node is chosen, and neither names the other.
static void check_all(struct reschedule *r)
{
	char name[NAME_BYTES];

	state_read_begin();
	for (uint32_t i = 0; i < r->jobs; i++) {
		struct tally tally = {.reschedule = r,
			.indexes = memory_take_array(r->count, sizeof *tally.indexes)};
		name_job(i, name);
		state_job_allocations(
			r->controller.state, TEXT("default"), text_of(name), count_job, &tally);
		CHECK(tally.alive == r->count);
		CHECK(tally.without_next == tally.without_previous);
		r->unlinked += tally.without_next;
		free(tally.indexes);
	}
	state_read_end();
}

static double subject(void *context)
{
	struct reschedule *r = context;
	struct census *c = &r->census;

	choose_dead(r);
	uint64_t lost = census_read(c, &c->lost), began_ns = bench_ns();
	service_fleet_tell(&r->fleet, &r->controller, COMMAND_NODE_EXPIRED, r->dead, r->dead_count);
	census_await_moved(c, instances(r));
	uint64_t ns = bench_ns() - began_ns;
	lost = census_read(c, &c->lost) - lost;
	CHECK(lost >= instances(r));
	r->moved_twice += lost - instances(r);
	check_all(r);
	run_new(r);
	revive(r);
	CHECK(core_collect(&r->controller.core) == OUTCOME_DONE);
	return (double)instances(r) * 1e9 / (double)ns;
}

static double reference(void *context)
{
	struct reschedule *r = context;
	return service_fleet_reference(&r->fleet, r->count);
}

static void measure(struct reschedule *r, uint32_t nodes, uint32_t schedulers)
{
	static uint32_t stores;
	char store[BENCH_PATH_BYTES + 32], name[128];

	snprintf(store, sizeof store, "%s/store-%u", r->directory, stores++);
	census_init(&r->census, true);
	controller_open(
		&r->controller, &(struct controller_settings){.directory = store,
					.nodes_max = nodes + NODE_BLOCK_SLOTS,
					.allocations_max = (uint32_t)instances(r) * 4 + 1024,
					.jobs_max = r->jobs + 16,
					.schedulers = schedulers,
					.sync = true,
					.watch = true,
					.observer = &r->census.observer});
	service_fleet_open(&r->fleet, &r->controller, nodes);
	service_fleet_ask(&r->fleet, &service_shapes[0], r->count);
	r->moved_twice = r->unlinked = 0;
	r->is_dead = memory_take_array(nodes, sizeof r->is_dead[0]);
	r->dead = memory_take_array(nodes, sizeof r->dead[0]);
	place_all(r);
	snprintf(name, sizeof name, "%llu of %u service jobs lost, %u scheduler%s",
		(unsigned long long)instances(r), r->jobs, schedulers, schedulers > 1 ? "s" : "");
	struct bench_result result = {.name = text_copy(text_of(name)),
		.nodes = nodes,
		.unit = "replaced and durable/s",
		.against = "a look at all nodes for each"};
	bench_interleave(&r->bench, subject, reference, r, &result);
	bench_report(&r->bench, &result);
	struct pipeline_stats stats;
	pipeline_stats(r->controller.pipeline, &stats);
	printf("%llu plans, %llu in part, %llu nodes refused\n",
		(unsigned long long)stats.plans_submitted, (unsigned long long)stats.plans_partial,
		(unsigned long long)stats.nodes_rejected);
	printf("in %u rounds: replaced where it was dead as well %llu times, refused there first "
	       "%llu times\n",
		r->bench.pairs + 1, (unsigned long long)r->moved_twice,
		(unsigned long long)r->unlinked);
	controller_close(&r->controller);
	service_fleet_close(&r->fleet);
	census_free(&r->census);
	free(r->dead);
	free(r->is_dead);
}

// --nodes N, --jobs N, --count N (instances of each job) or --schedulers N measures that alone.
int main(int count, char **arguments)
{
	static struct reschedule r;

	bench_begin(&r.bench, "reschedule", count, arguments);
	uint64_t nodes = bench_option(&r.bench, "nodes", r.bench.smoke ? 100 : 10000);
	uint64_t schedulers = bench_option(&r.bench, "schedulers", 0);
	r.jobs = (uint32_t)bench_option(&r.bench, "jobs", r.bench.smoke ? 5 : 100);
	r.count = (uint32_t)bench_option(&r.bench, "count", r.bench.smoke ? 20 : 1000);
	bench_directory_begin(&r.bench, r.directory);
	for (uint32_t i = 1; i <= 4; i *= 2)
		if (schedulers == 0 || schedulers == i)
			measure(&r, (uint32_t)nodes, i);
	bench_directory_end();
	return bench_end(&r.bench);
}
