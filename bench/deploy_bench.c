// A rolling update of a service job with ten thousand allocations, max_parallel at a time: how many are replaced and
// healthy per second, from the registration of the new version to the end of its deployment. The nodes report as
// agents do, through the same commands: new allocations run, then are healthy; replaced ones are at their end. State,
// applier, log on disk, broker, schedulers and watchers all work.
//
// The deployment watcher waits on purpose: a second, so that one evaluation serves all that happens in it, and a
// quarter of one for other deployments. While nothing else is to be done the benchmark skips these waits: it sets the
// wall clock that everything here goes by forward by as much, so that the figure is of work alone. A second figure
// includes the waits. The reference looks at every node for every instance, in memory alone
// (bench/naive/naive_service.h).
#include "bench/harness/bench.h"
#include "bench/harness/census.h"
#include "bench/harness/directory.h"
#include "bench/harness/service_fleet.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "state/records/alloc_details.h"
#include "state/records/allocation.h"
#include "state/records/deployment.h"
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define BATCH_MS 1000u
#define WINDOW_MS 250u

static const char job_id[] = "web";

struct deploy {
	struct bench bench;
	char directory[BENCH_PATH_BYTES];
	struct controller controller;
	struct service_fleet fleet;
	struct census census;
	struct time_source time;
	_Atomic uint64_t skipped_ns; // how far the wall clock is ahead
	uint32_t count, max_parallel, version;
	double rates[BENCH_PAIRS_MAX + 1]; // with the waits, round by round
	uint32_t rounds;
};

static uint64_t monotonic(void *context)
{
	return time_monotonic_ns(&time_source_real);
}

static uint64_t ahead(void *context)
{
	struct deploy *d = context;
	return time_wall_ns(&time_source_real) + atomic_load(&d->skipped_ns);
}

static void skip(struct deploy *d, uint64_t ms)
{
	atomic_fetch_add(&d->skipped_ns, ms * NS_PER_MS);
	(void)watchers_turn(d->controller.watchers);
}

// Skips to when the watchers' batches are due, and to when their window ends and they are sent.
static void skip_waits(struct deploy *d)
{
	(void)watchers_turn(d->controller.watchers);
	skip(d, BATCH_MS);
	skip(d, WINDOW_MS);
}

static void let_others(void *context)
{
	sched_yield();
}

static struct job *describe_job(struct deploy *d)
{
	struct job *job =
		service_fleet_job(&d->fleet, &service_shapes[0], job_id, JOB_SERVICE, d->count);
	struct task_group *group = ARRAY_AT(&job->task_groups, struct task_group, 0);
	struct task *task = ARRAY_AT(&group->tasks, struct task, 0);
	char version[16];

	group->update = memory_take(sizeof *group->update);
	record_init(&update_description, group->update);
	group->update->progress_deadline_ns = 600000 * (int64_t)NS_PER_MS;
	group->update->max_parallel = d->max_parallel;
	group->update->auto_revert = (struct optional_bool){true, false};
	group->update->auto_promote = (struct optional_bool){true, false};
	snprintf(version, sizeof version, "%u", d->version++);
	*(struct string_pair *)array_append(&task->env, sizeof(struct string_pair)) =
		(struct string_pair){text_copy(TEXT("VERSION")), text_copy(text_of(version))};
	return job;
}

static bool is_rolling(struct deploy *d)
{
	state_read_begin();
	const struct job *job = state_job(d->controller.state, TEXT("default"), text_of(job_id));
	const struct deployment *latest =
		state_latest_deployment(d->controller.state, TEXT("default"), text_of(job_id));
	bool rolling =
		!latest || latest->job_version != job->version || deployment_is_active(latest);
	CHECK(rolling || latest->status == DEPLOYMENT_SUCCESSFUL);
	state_read_end();
	return rolling;
}

static bool schedulers_rest(struct deploy *d)
{
	struct state_counts counts;

	state_counts(d->controller.state, &counts);
	return counts.evaluations_pending == 0;
}

// Reports every new allocation as healthy at once. Returns how many are new.
static uint32_t report(struct deploy *d, const struct census_note *notes, uint32_t count)
{
	struct census_note *fresh = memory_take_array(count, sizeof *fresh);
	uint32_t fresh_count = 0;

	for (uint32_t i = 0; i < count; i++)
		if (!notes[i].stops)
			fresh[fresh_count++] = notes[i];
	service_fleet_report(&d->fleet, &d->controller, notes, count, false);
	service_fleet_report(&d->fleet, &d->controller, fresh, fresh_count, true);
	free(fresh);
	return fresh_count;
}

// Runs until the deployment is at its end. At most step_most allocations are new in one step.
static void roll_out(struct deploy *d, uint32_t step_most)
{
	uint32_t waits = 0, waits_most = 2 * (d->count / d->max_parallel + 2);

	while (is_rolling(d)) {
		uint32_t count;
		bool rest = schedulers_rest(d);
		struct census_note *notes = census_take(&d->census, &count);
		if (count > 0) {
			CHECK(report(d, notes, count) <= step_most);
		} else if (!rest) {
			census_doze(&d->census);
		} else {
			CHECK(++waits <= waits_most);
			skip_waits(d);
		}
		free(notes);
	}
}

static void register_version(struct deploy *d)
{
	struct command command = {
		.type = COMMAND_JOB_REGISTER, .job_register = {.job = describe_job(d)}};

	controller_run(&d->controller, &command, 1);
}

struct tally {
	const struct deploy *deploy;
	uint64_t version;
	struct uuid deployment;
	uint32_t alive;
	bool *indexes;
};

static bool count_allocation(const struct allocation *a, void *context)
{
	struct tally *t = context;

	if (allocation_is_terminal(a)) {
		CHECK(a->desired == ALLOC_STOP && a->client_status == ALLOC_COMPLETE);
		CHECK(a->details && !uuid_is_zero(&a->details->next_allocation));
		return true;
	}
	CHECK(a->job->version == t->version && a->client_status == ALLOC_RUNNING);
	CHECK(a->details && uuid_equal(&a->details->deployment_id, &t->deployment));
	CHECK(allocation_health(a) && allocation_health(a)->healthy.value);
	CHECK(a->index < t->deploy->count && !t->indexes[a->index]);
	t->indexes[a->index] = true;
	t->alive++;
	return true;
}

// Every allocation of the newest version has a number of its own, runs and is healthy; older ones are at their end and
// name their replacement; never were there more than asked for.
static void check_all(struct deploy *d)
{
	struct tally t = {.deploy = d, .indexes = memory_take_array(d->count, sizeof *t.indexes)};

	state_read_begin();
	const struct deployment *latest =
		state_latest_deployment(d->controller.state, TEXT("default"), text_of(job_id));
	const struct deployment_group *g = deployment_group_of(latest, TEXT("g"));
	CHECK(g->placed_allocs == d->count && g->healthy_allocs == d->count);
	CHECK(g->unhealthy_allocs == 0);
	t.version = latest->job_version;
	t.deployment = latest->id;
	state_job_allocations(
		d->controller.state, TEXT("default"), text_of(job_id), count_allocation, &t);
	state_read_end();
	CHECK(t.alive == d->count);
	CHECK(census_read(&d->census, &d->census.living_most) == d->count);
	free(t.indexes);
}

static double subject(void *context)
{
	struct deploy *d = context;
	uint64_t skipped_ns = atomic_load(&d->skipped_ns), began_ns = bench_ns();

	register_version(d);
	roll_out(d, d->max_parallel);
	uint64_t ns = bench_ns() - began_ns;
	skipped_ns = atomic_load(&d->skipped_ns) - skipped_ns;
	check_all(d);
	CHECK(core_collect(&d->controller.core) == OUTCOME_DONE);
	d->rates[d->rounds++] = d->count * 1e9 / (double)(ns + skipped_ns);
	return d->count * 1e9 / (double)ns;
}

static double reference(void *context)
{
	struct deploy *d = context;
	return service_fleet_reference(&d->fleet, d->count);
}

static void report_figures(struct deploy *d)
{
	char name[96];

	snprintf(name, sizeof name, "%u instances, %u at a time", d->count, d->max_parallel);
	struct bench_result result = {.name = text_copy(text_of(name)),
		.nodes = d->fleet.nodes,
		.unit = "replaced and healthy/s",
		.against = "a look at all nodes for each"};
	bench_interleave(&d->bench, subject, reference, d, &result);
	bench_report(&d->bench, &result);
	snprintf(name, sizeof name, "%u instances, %u at a time, with waits", d->count,
		d->max_parallel);
	struct bench_result waits = {.name = text_copy(text_of(name)),
		.nodes = d->fleet.nodes,
		.unit = "replaced and healthy/s",
		.figure = bench_median(d->rates, d->rounds)};
	bench_report(&d->bench, &waits);
}

static void measure(struct deploy *d, uint32_t nodes, uint32_t max_parallel)
{
	static uint32_t stores;
	char store[BENCH_PATH_BYTES + 32];

	snprintf(store, sizeof store, "%s/store-%u", d->directory, stores++);
	d->time = (struct time_source){monotonic, ahead, d};
	d->max_parallel = max_parallel;
	d->rounds = 0;
	census_init(&d->census, true);
	controller_open(&d->controller, &(struct controller_settings){.directory = store,
						.nodes_max = nodes + NODE_BLOCK_SLOTS,
						.allocations_max = d->count * 4 + 1024,
						.jobs_max = 16,
						.schedulers = 1,
						.sync = true,
						.time = &d->time,
						.watch = true,
						.watch_step = let_others,
						.observer = &d->census.observer});
	service_fleet_open(&d->fleet, &d->controller, nodes);
	service_fleet_ask(&d->fleet, &service_shapes[0], d->count);
	register_version(d);
	roll_out(d, d->count);
	report_figures(d);
	controller_close(&d->controller);
	service_fleet_close(&d->fleet);
	census_free(&d->census);
}

// --nodes N, --count N (instances) and --step N (max_parallel) measure that size alone.
int main(int count, char **arguments)
{
	static struct deploy d;

	bench_begin(&d.bench, "deploy", count, arguments);
	uint32_t nodes = (uint32_t)bench_option(&d.bench, "nodes", d.bench.smoke ? 100 : 10000);
	d.count = (uint32_t)bench_option(&d.bench, "count", d.bench.smoke ? 100 : 10000);
	uint32_t step = (uint32_t)bench_option(&d.bench, "step", 0);
	CHECK(d.count > 0 && step <= d.count);
	bench_directory_begin(&d.bench, d.directory);
	if (step > 0) {
		measure(&d, nodes, step);
	} else {
		measure(&d, nodes, d.count / 10);
		measure(&d, nodes, d.count / 100);
	}
	bench_directory_end();
	return bench_end(&d.bench);
}
