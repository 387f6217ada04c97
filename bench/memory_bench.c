// What nodes and allocations cost in memory. Of a node: the part that a heartbeat touches, everything that is kept of
// it, and what the process really takes, against the bytes of the description that the node sent (45 attributes). Of an
// allocation of a service job with a deployment: what the heap has handed out and what the process takes, once it is
// placed, and once its node reported that it runs and that it is healthy and the deployment is done, against its bytes
// in a snapshot. Everything counts, tables that grow ahead and what schedulers keep included. Nothing has come for a
// while when it is measured, so that housekeeping has given back what a burst took. Each size runs in a process of its
// own, so that none inherits the other's heap.
#include "bench/harness/bench.h"
#include "bench/harness/census.h"
#include "bench/harness/controller.h"
#include "bench/harness/service_fleet.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "state/records/alloc_details.h"
#include "state/records/deployment.h"
#include "state/records/slab.h"
#include "state/snapshot/snapshot_allocation.h"
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct cost { // bytes per node
	double hot, kept, resident;
};

static uint64_t resident_bytes(void)
{
	unsigned long long whole, resident;
	FILE *file = fopen("/proc/self/statm", "r");
	CHECK(file && fscanf(file, "%llu %llu", &whole, &resident) == 2);
	fclose(file);
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

// A node's line, its place in the last-heard column and its share of the block's owner.
static double hot_bytes(uint32_t nodes)
{
	double blocks = (nodes + NODE_BLOCK_SLOTS - 1) / NODE_BLOCK_SLOTS;
	const struct node_table *t = NULL;
	return (double)(sizeof t->lines[0] + sizeof t->last_heard_ms[0]) +
	       blocks * (double)sizeof t->block_owner[0] / nodes;
}

// Touches the lines, as when every node beats.
static void touch_lines(const struct controller *c)
{
	struct node_table *t = state_node_table(c->state);
	for (uint32_t slot = 0; slot < state_node_slots(c->state); slot++) {
		node_table_line(t, slot)->sequence = 1;
		atomic_store_explicit(&t->last_heard_ms[slot], 1, memory_order_relaxed);
	}
}

static void measure_nodes(uint32_t nodes, void *out)
{
	struct controller c;
	uint64_t before = resident_bytes();
	controller_open(&c, &(struct controller_settings){.nodes_max = nodes + NODE_BLOCK_SLOTS,
				    .allocations_max = 1024});
	controller_register(&c, 0, nodes);
	touch_lines(&c);
	struct state_counts counts;
	state_counts(c.state, &counts);
	CHECK(counts.nodes[NODE_READY] == nodes);
	double hot = hot_bytes(nodes);
	*(struct cost *)out = (struct cost){.hot = hot,
		.kept = hot + (double)counts.bytes_nodes / nodes,
		.resident = (double)(resident_bytes() - before) / nodes};
	controller_close(&c);
}

// Measures in a process of its own; the costs come back through a pipe.
static void measure_apart(void measure(uint32_t, void *), uint32_t count, void *costs, size_t bytes)
{
	int ends[2];
	CHECK(pipe(ends) == 0);
	pid_t child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		measure(count, costs);
		_exit(write(ends[1], costs, bytes) != (ssize_t)bytes);
	}
	close(ends[1]);
	bool complete = read(ends[0], costs, bytes) == (ssize_t)bytes;
	close(ends[0]);
	int status;
	CHECK(waitpid(child, &status, 0) == child);
	if (!complete || status != 0) {
		fprintf(stderr, "memory: measuring %u of them failed\n", count);
		exit(1);
	}
}

static double description_bytes(uint32_t nodes)
{
	uint32_t samples = nodes < 1000 ? nodes : 1000;
	double sum = 0;
	for (uint32_t i = 0; i < samples; i++)
		sum += fleet_description_bytes((uint32_t)((uint64_t)i * nodes / samples));
	return sum / samples;
}

static void report_nodes(struct bench *bench, uint32_t nodes)
{
	struct cost cost;
	measure_apart(measure_nodes, nodes, &cost, sizeof cost);
	double sent = description_bytes(nodes);
	const struct {
		const char *name;
		double bytes;
	} rows[] = {{"memory.hot", cost.hot}, {"memory.kept", cost.kept},
		{"memory.resident", cost.resident}};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		bench_report(bench, &(struct bench_result){.name = rows[i].name,
					    .nodes = nodes,
					    .figure = rows[i].bytes,
					    .unit = "bytes/node",
					    .reference = sent,
					    .against = "the description as the node sent it"});
}

#define INSTANCES 1000u // of one job
#define STORED_SAMPLE 10000u
#define QUIET_S 3 // housekeeping comes once a second

// Bytes per allocation.
struct allocation_cost {
	double heap, resident, stored;
};
struct allocation_costs {
	struct allocation_cost placed, reported;
};

struct fleet_of_jobs {
	struct controller controller;
	struct service_fleet fleet;
	struct census census;
	uint32_t jobs;
};

// What the heap and slabs have handed out and not taken back.
static uint64_t heap_bytes(void)
{
	struct mallinfo2 info = mallinfo2();
	return info.uordblks + info.hblkhd + slab_bytes_taken();
}

static struct job *describe_job(const struct fleet_of_jobs *f, uint32_t number)
{
	char id[32];
	snprintf(id, sizeof id, "job-%u", number);
	struct job *job =
		service_fleet_job(&f->fleet, &service_shapes[0], id, JOB_SERVICE, INSTANCES);
	struct task_group *group = ARRAY_AT(&job->task_groups, struct task_group, 0);
	group->update = memory_take(sizeof *group->update);
	record_init(&update_description, group->update);
	group->update->progress_deadline_ns = 600000 * NS_PER_MS;
	group->update->max_parallel = INSTANCES;
	group->update->auto_revert = (struct optional_bool){true, false};
	group->update->auto_promote = (struct optional_bool){true, false};
	return job;
}

static void place_jobs(struct fleet_of_jobs *f)
{
	for (uint32_t i = 0; i < f->jobs; i++) {
		struct command command = {
			.type = COMMAND_JOB_REGISTER, .job_register = {.job = describe_job(f, i)}};
		controller_run(&f->controller, &command, 1);
	}
	census_await(&f->census, &f->census.placed, (uint64_t)f->jobs * INSTANCES);
}

static void add_event(struct task_state *state, const char *type, const char *message)
{
	struct task_event *event = array_append(&state->events, sizeof *event);
	event->type = text_copy(text_of(type));
	event->display_message = text_copy(text_of(message));
	event->time_ns = state->started_at_ns;
}

// What an agent says of an allocation whose only task runs.
static struct alloc_report *describe_report(void)
{
	struct alloc_report *report = alloc_report_create();
	report->client_description = text_copy(TEXT("Tasks are running"));
	struct task_state *state = array_append(&report->task_states, sizeof *state);
	state->task = text_copy(TEXT("t"));
	state->state = TASK_RUNNING;
	state->started_at_ns = (int64_t)bench_ns();
	add_event(state, "Received", "Task received by client");
	add_event(state, "Task Setup", "Building Task Directory");
	add_event(state, "Started", "Task started by client");
	return alloc_report_pack(report);
}

// Every node says twice of each of its allocations that it runs, the second time that it is healthy, too.
static void report_all(struct fleet_of_jobs *f)
{
	uint32_t count;
	struct census_note *notes = census_take(&f->census, &count);
	CHECK(count == f->jobs * INSTANCES);
	for (uint32_t healthy = 0; healthy < 2; healthy++)
		service_fleet_report_with(
			&f->fleet, &f->controller, notes, count, healthy, describe_report);
	free(notes);
	census_await(&f->census, &f->census.healthy, count);
}

static bool any_deployment_is_active(const struct state *state)
{
	uint64_t cursor = 0;
	const struct deployment *d;
	bool found = false;

	state_read_begin();
	while (!found && (d = state_next(state, STATE_DEPLOYMENTS, &cursor)))
		found = deployment_is_active(d);
	state_read_end();
	return found;
}

// What watchers keep of allocations is for deployments that are not done yet.
static void await_deployments(struct fleet_of_jobs *f)
{
	uint64_t begin_ns = bench_ns();
	while (any_deployment_is_active(f->controller.state)) {
		CHECK(bench_ns() - begin_ns < 60000 * NS_PER_MS);
		census_doze(&f->census);
	}
}

static double stored_bytes(const struct state *state)
{
	struct snapshot_metrics *metrics = snapshot_metrics_create();
	struct bytes_writer w = bytes_writer_growing(4096);
	uint64_t cursor = 0, bytes = 0, count = 0;
	const struct allocation *a;

	state_read_begin();
	while ((a = state_next(state, STATE_ALLOCATIONS, &cursor)) && count < STORED_SAMPLE) {
		w.size = 0;
		allocation_item_encode(a, metrics, &w);
		bytes += w.size;
		count++;
	}
	state_read_end();
	bytes_writer_free(&w);
	snapshot_metrics_free(metrics);
	return (double)bytes / (double)count;
}

static struct allocation_cost cost_now(
	const struct fleet_of_jobs *f, uint64_t heap_before, uint64_t resident_before)
{
	urcu_qsbr_barrier(); // what was replaced is freed
	sleep(QUIET_S);
	double count = (double)f->jobs * INSTANCES;
	return (struct allocation_cost){.heap = (double)(heap_bytes() - heap_before) / count,
		.resident = (double)(resident_bytes() - resident_before) / count,
		.stored = stored_bytes(f->controller.state)};
}

// A hundred allocations for each node.
static void measure_allocations(uint32_t allocations, void *out)
{
	struct allocation_costs *costs = out;
	struct fleet_of_jobs f = {.jobs = allocations / INSTANCES};
	uint32_t nodes = allocations / 100;

	census_init(&f.census, true);
	controller_open(
		&f.controller, &(struct controller_settings){.nodes_max = nodes + NODE_BLOCK_SLOTS,
				       .allocations_max = allocations + 1024,
				       .jobs_max = f.jobs + 16,
				       .schedulers = 1,
				       .watch = true,
				       .observer = &f.census.observer});
	service_fleet_open(&f.fleet, &f.controller, nodes);
	uint64_t heap = heap_bytes(), resident = resident_bytes();
	place_jobs(&f);
	uint64_t noted = f.census.noted_room * sizeof f.census.noted[0];
	costs->placed = cost_now(&f, heap + noted, resident + noted);
	report_all(&f);
	await_deployments(&f);
	costs->reported = cost_now(&f, heap, resident);
	controller_close(&f.controller);
	service_fleet_close(&f.fleet);
	census_free(&f.census);
}

static void report_cost(struct bench *bench, const char *heap, const char *resident, uint32_t count,
	const struct allocation_cost *cost)
{
	struct bench_result result = {.name = heap,
		.nodes = count / 100,
		.figure = cost->heap,
		.unit = "bytes/allocation",
		.reference = cost->stored,
		.against = "the allocation in a snapshot"};
	bench_report(bench, &result);
	result.name = resident;
	result.figure = cost->resident;
	result.ratio = 0;
	bench_report(bench, &result);
}

static void report_allocations(struct bench *bench, uint32_t count)
{
	struct allocation_costs costs;
	measure_apart(measure_allocations, count, &costs, sizeof costs);
	report_cost(bench, "memory.placed.heap", "memory.placed.resident", count, &costs.placed);
	report_cost(
		bench, "memory.reported.heap", "memory.reported.resident", count, &costs.reported);
}

// --nodes N measures so many nodes alone, --allocations N so many allocations alone.
int main(int count, char **arguments)
{
	static struct bench bench;
	static const uint32_t sizes[] = {10000, 100000, 1000000};
	bench_begin(&bench, "memory", count, arguments);
	uint32_t nodes = (uint32_t)bench_option(&bench, "nodes", bench.smoke ? 5000 : 0);
	uint32_t allocations =
		(uint32_t)bench_option(&bench, "allocations", bench.smoke ? 10000 : 0);
	bool all = !nodes && !allocations;
	if (nodes)
		report_nodes(&bench, nodes);
	for (size_t i = 0; all && i < sizeof sizes / sizeof sizes[0]; i++)
		report_nodes(&bench, sizes[i]);
	if (all || allocations)
		report_allocations(&bench, allocations ? allocations : 1000000);
	return bench_end(&bench);
}
