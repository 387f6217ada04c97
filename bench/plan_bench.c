// A plan's way through the applier: checked node by node against the working state, applied, encoded, handed to a log
// in memory, published, answered; against a plain loop over arrays that subtracts what is placed and remembers it.
// Plans without and with ports are measured in a process each.
#include "bench/harness/bench.h"
#include "placement/direct/placement.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/text.h"
#include "state/records/evaluation.h"
#include "state/records/job.h"
#include "state/records/plan.h"
#include "tests/support/core/builders.h"
#include "tests/support/core/core.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct world {
	struct core core;
	struct placement *placement;
	struct uuid eval;
	uint64_t job_version;
};

struct sizes {
	uint32_t nodes, per_node;
	bool with_ports;
	struct prng prng;
	struct world world;
	void *log; // the newest batch
	size_t log_bytes;
	double report_ns, stop_ns; // per report and stop, of the newest run
};

static int append(
	void *context, uint64_t first_index, uint32_t entries, const void *batch, uint32_t size)
{
	struct sizes *s = context;

	if (size > s->log_bytes) {
		free(s->log);
		s->log = memory_take(size);
		s->log_bytes = size;
	}
	memcpy(s->log, batch, size);
	return 0;
}

static int64_t room_bytes(void *context)
{
	return INT64_MAX;
}

static void nothing(struct command *command)
{
}

static void run(struct world *w, struct command *command)
{
	CHECK(core_run(&w->core, command) == OUTCOME_DONE);
}

static void register_nodes(struct world *w, uint32_t nodes)
{
	struct node_registration *n = memory_take(sizeof *n);

	for (uint32_t i = 0; i < nodes; i++) {
		describe_plain_node(n, i, 1);
		n->total = (struct resources){64000, 262144, 2000000};
		CHECK(core_join(&w->core, n) == OUTCOME_DONE);
	}
	free(n);
}

static struct job *build_job(void)
{
	struct job *job = plain_job("everywhere", JOB_BATCH);
	job->node_pool = text_copy(TEXT("default"));
	add_plain_group(job, "group", (struct resources){.cpu_mhz = 100, .memory_mb = 100});
	CHECK(job_derive(job));
	return job;
}

static void world_open(struct sizes *s)
{
	struct world *w = &s->world;
	struct state_limits limits = {.nodes = s->nodes,
		.jobs = 16,
		.allocations = s->nodes * s->per_node,
		.place_requests = 16,
		.clients = 16,
		.evaluations = 64};

	core_create(&w->core, limits, 1);
	w->placement = placement_create(w->core.state, PLACEMENT_BINPACK);
	core_appoint(&w->core, (struct applier_settings){.log = {append, room_bytes, s},
				       .placer = placement_placer(w->placement),
				       .seed = 1,
				       .collect_after_ms = 3600000});
	CHECK(core_open(&w->core) == 0);
	register_nodes(w, s->nodes);
	struct command command = {
		.type = COMMAND_JOB_REGISTER, .job_register = {.job = build_job()}};
	run(w, &command);
	w->eval = command.job_register.made.id;
	state_read_begin();
	w->job_version =
		state_job(w->core.state, TEXT("default"), TEXT("everywhere"))->record.modify_index;
	state_read_end();
}

static void world_close(struct world *w)
{
	core_stop(&w->core, 0);
	core_dismiss(&w->core);
	placement_destroy(w->placement);
	core_destroy(&w->core);
}

static struct alloc_details *port_details(uint32_t port)
{
	struct alloc_details *d = alloc_details_create();
	struct allocated_port *p = array_append(&d->ports, sizeof *p);

	*p = (struct allocated_port){
		text_copy(TEXT("http")), 20000 + port, 80, text_copy(TEXT("192.0.2.1"))};
	return d;
}

static struct plan *placing_plan(struct sizes *s)
{
	struct plan *plan = plan_create();
	uint32_t count = s->nodes * s->per_node;
	struct plan_placement *placements = memory_take_array(count, sizeof *placements);

	plan->eval_id = s->world.eval;
	for (uint32_t i = 0; i < count; i++)
		placements[i] = (struct plan_placement){.id = prng_uuid(&s->prng),
			.node_id = number_uuid(i % s->nodes),
			.slot = i % s->nodes,
			.name_index = i,
			.job_version = s->world.job_version,
			.resources = {100, 100, 300},
			.score = 0.5 / (1 + i % 7),
			.details = s->with_ports ? port_details(i / s->nodes) : NULL,
			.metrics = 0};
	plan->placements = (struct array){placements, count};
	struct shared_metrics **metrics = array_append(&plan->metrics, sizeof *metrics);
	*metrics = shared_metrics_create(&(struct alloc_metrics){0}, NULL);
	return plan;
}

static struct plan *stopping_plan(const struct sizes *s, const struct plan *placed)
{
	struct plan *plan = plan_create();
	struct plan_stop *stops = memory_take_array(placed->placements.count, sizeof *stops);

	plan->eval_id = s->world.eval;
	for (uint32_t i = 0; i < placed->placements.count; i++)
		stops[i] = (struct plan_stop){
			.id = ARRAY_AT(&placed->placements, struct plan_placement, i)->id,
			.cause = STOP_NOT_NEEDED};
	plan->stops = (struct array){stops, placed->placements.count};
	return plan;
}

static double commit(struct world *w, struct plan *plan, uint32_t changes)
{
	struct plan_result result;
	struct command command = {.type = COMMAND_PLAN, .plan = {plan, &result}};
	uint64_t begun = bench_ns();

	run(w, &command);
	double ns = (double)(bench_ns() - begun) / changes;
	CHECK(result.placements_committed + result.stops_committed == changes);
	plan_result_release(&result);
	return ns;
}

// Each node reports that its first placed allocation runs; many nodes at a time, as in a fleet.
static double commit_reports(struct sizes *s, const struct plan *placed)
{
	enum { TOGETHER = 1000 };
	struct command *commands = memory_take_array(TOGETHER, sizeof *commands);
	struct command_alloc_update *updates = memory_take_array(TOGETHER, sizeof *updates);
	struct alloc_update_item *items = memory_take_array(TOGETHER, sizeof *items);
	uint64_t begun = bench_ns();

	for (uint32_t i = 0; i < s->nodes; i++) {
		uint32_t at = i % TOGETHER;
		items[at] = (struct alloc_update_item){
			.allocation = ARRAY_AT(&placed->placements, struct plan_placement, i)->id,
			.client_status = ALLOC_RUNNING,
			.report = alloc_report_create()};
		updates[at] = (struct command_alloc_update){i, 1, 1, 1, &items[at]};
		commands[at] = (struct command){.type = COMMAND_ALLOC_UPDATE,
			.done = nothing,
			.alloc_update = &updates[at]};
		CHECK(command_queue_push(
			s->world.core.queue, COMMAND_PRODUCER_SHARED, &commands[at]));
		if (at == TOGETHER - 1 || i == s->nodes - 1)
			while (applier_step(s->world.core.applier) > 0)
				;
	}
	double ns = (double)(bench_ns() - begun) / s->nodes;
	CHECK(commands[0].outcome == OUTCOME_DONE && items[0].known);
	free(commands);
	free(updates);
	free(items);
	return ns;
}

static double commit_plans(void *context)
{
	struct sizes *s = context;
	uint32_t count = s->nodes * s->per_node;

	world_open(s);
	struct plan *placing = placing_plan(s), *stopping = stopping_plan(s, placing);
	double ns = commit(&s->world, placing, count);
	s->report_ns = commit_reports(s, placing);
	s->stop_ns = commit(&s->world, stopping, count);
	plan_free(placing);
	plan_free(stopping);
	world_close(&s->world);
	return ns;
}

struct naive_allocation {
	struct uuid id;
	uint32_t slot, name_index;
	struct resources resources;
	double score;
};

static double place_plainly(void *context)
{
	struct sizes *s = context;
	struct plan *plan = placing_plan(s);
	struct resources *free_of = memory_take_array(s->nodes, sizeof *free_of);
	struct naive_allocation *placed = memory_take_array(plan->placements.count, sizeof *placed);
	uint32_t count = 0;

	for (uint32_t i = 0; i < s->nodes; i++)
		free_of[i] = (struct resources){64000, 262144, 2000000};
	uint64_t begun = bench_ns();
	for (uint32_t i = 0; i < plan->placements.count; i++) {
		const struct plan_placement *p =
			ARRAY_AT(&plan->placements, struct plan_placement, i);
		if (!resources_fit(p->resources, free_of[p->slot]))
			continue;
		free_of[p->slot] = resources_minus(free_of[p->slot], p->resources);
		placed[count++] = (struct naive_allocation){
			p->id, p->slot, p->name_index, p->resources, p->score};
	}
	double ns = (double)(bench_ns() - begun) / plan->placements.count;
	bench_keep(count);
	free(free_of);
	free(placed);
	plan_free(plan);
	return ns;
}

// What is measured of plans of one kind.
enum { PLACED, REPORTED, STOPPED, FIGURES };

struct part {
	const char *names[FIGURES];
	bool with_ports;
};

static void measure(const struct bench *b, struct sizes *s, const struct part *part,
	struct bench_result results[])
{
	static const char *const units[] = {"ns/placement", "ns/report", "ns/stop"};

	prng_seed(&s->prng, 1);
	s->with_ports = part->with_ports;
	for (uint32_t i = 0; i < FIGURES; i++)
		results[i] = (struct bench_result){
			.name = part->names[i], .nodes = s->nodes, .unit = units[i]};
	results[PLACED].against = "a plain loop over arrays";
	bench_interleave(b, commit_plans, place_plainly, s, &results[PLACED]);
	results[REPORTED].figure = s->report_ns;
	results[STOPPED].figure = s->stop_ns;
	free(s->log);
}

// In a process of its own, so that no part runs in the heap of another.
static void measure_apart(struct bench *b, struct sizes *s, const struct part *part)
{
	struct bench_result results[FIGURES];
	int ends[2], status;

	CHECK(pipe(ends) == 0);
	pid_t child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		measure(b, s, part, results);
		_exit(write(ends[1], results, sizeof results) != sizeof results);
	}
	close(ends[1]);
	bool is_complete = read(ends[0], results, sizeof results) == sizeof results;
	close(ends[0]);
	CHECK(waitpid(child, &status, 0) == child);
	if (!is_complete || status != 0) {
		fprintf(stderr, "plan: measuring %s failed\n", part->names[PLACED]);
		exit(1);
	}
	for (uint32_t i = 0; i < FIGURES; i++)
		bench_report(b, &results[i]);
}

int main(int count, char **arguments)
{
	static const struct part parts[] = {
		{{"plan", "plan-reports", "plan-stops"}, false},
		{{"plan-ports", "plan-ports-reports", "plan-ports-stops"}, true},
	};
	static struct bench b;
	struct sizes s = {0};

	bench_begin(&b, "plan", count, arguments);
	s.nodes = (uint32_t)bench_option(&b, "nodes", b.smoke ? 100 : 100000);
	s.per_node = (uint32_t)bench_option(&b, "per-node", 1);
	bench_pin();
	for (uint32_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		measure_apart(&b, &s, &parts[i]);
	return bench_end(&b);
}
