// Instances of a service job per second through the generic scheduler in process: from an evaluation to the plan that
// it hands in, over the state of a real applier. There are jobs with nothing but resources, with an affinity, an even
// spread, a distinct_property, with all of them, with a static port, with a device, with a host volume, with a
// constraint, an affinity, a spread or a distinct_property of what is unique to nodes, with an affinity for devices,
// with a reserved core, with a snapshot, and with a spread beside an affinity for a node. The reference looks at every
// node for every instance (bench/naive/naive_service.h); both must choose the same nodes, which is checked before
// anything is timed.
#include "bench/harness/bench.h"
#include "bench/harness/controller.h"
#include "bench/harness/service_fleet.h"
#include "placement/direct/fleet_mirror.h"
#include "placement/scheduler/scheduler.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdio.h>
#include <stdlib.h>

#define LINE_BYTES 64u

struct service {
	struct bench bench;
	struct controller controller;
	struct service_fleet fleet;
	struct fleet_mirror *mirror; // as a scheduler thread has one
	uint32_t nodes, count;
	uint64_t rounds;      // of the subject alone, for a profiler; 0: measure
	uint64_t only;        // this shape, counted from 1; 0: all
	uint64_t own_classes; // 1: each node is alone in its class
	uint64_t new_kinds;   // 1: each evaluation is the first one of its kind
	uint64_t kinds;       // so many there were
	uint64_t instances;   // 1: only evaluations of one instance; more: only the others
	uint64_t swept_bytes; // read and written before each timed evaluation
	uint8_t *swept;
	uint32_t naive_count; // instances in a round of the reference
	struct prng prng;
	const struct service_shape *shape;
	const char *job_id;
	uint32_t *chosen, chosen_count; // slots that the newest plan chose
};

// No other group asks for it, and every node has it.
static void be_of_a_new_kind(struct service *s, struct job *job)
{
	char text[32];
	snprintf(text, sizeof text, "none-%llu", (unsigned long long)s->kinds++);
	*(struct constraint *)array_append(&job->constraints, sizeof(struct constraint)) =
		(struct constraint){text_copy(TEXT("${attr.storage.class}")),
			text_copy(text_of(text)), text_copy(TEXT("!="))};
}

static void register_job(struct service *s, const struct service_shape *shape)
{
	static char id[32];
	static uint32_t jobs;
	snprintf(id, sizeof id, "service-%u", jobs++);
	struct job *job = service_fleet_job(&s->fleet, shape, id, JOB_SERVICE, s->count);
	if (s->new_kinds)
		be_of_a_new_kind(s, job);
	struct command command = {.type = COMMAND_JOB_REGISTER, .job_register = {.job = job}};
	controller_run(&s->controller, &command, 1);
	s->job_id = id;
	service_fleet_ask(&s->fleet, shape, s->count);
}

static int begin_view(void *context, uint64_t index, struct scheduler_view *view)
{
	struct service *s = context;
	*view = state_view_begin(s->controller.state);
	view->fleet = fleet_mirror_fleet(s->mirror);
	fleet_begin_view(view->fleet);
	return 0;
}

static void end_view(void *context)
{
	state_view_end();
}

// Accepts a plan as a whole without carrying it out: every round begins with the same fleet.
static int take_plan(void *context, struct plan *plan, struct plan_result *result)
{
	struct service *s = context;
	s->chosen_count = plan->placements.count;
	CHECK(s->chosen_count <= s->count);
	for (uint32_t i = 0; i < s->chosen_count; i++)
		s->chosen[i] = ARRAY_AT(&plan->placements, struct plan_placement, i)->slot;
	*result = (struct plan_result){.alloc_index = 1,
		.placements_planned = s->chosen_count,
		.placements_committed = s->chosen_count};
	return 0;
}

static int take_eval(void *context, const struct evaluation *eval)
{
	return 0;
}

static void work_off(struct service *s)
{
	struct scheduler_settings settings = {
		.planner = {s, begin_view, end_view, take_plan, take_eval, take_eval, take_eval},
		.prng = &s->prng,
		.now_ns = 1};
	struct evaluation *eval = evaluation_create();
	eval->id = prng_uuid(&s->prng);
	eval->namespace_name = text_copy(TEXT("default"));
	eval->job_id = text_copy(text_of(s->job_id));
	eval->priority = 50;
	eval->type = EVAL_SERVICE;
	eval->triggered_by = TRIGGER_JOB_REGISTER;
	s->chosen_count = 0;
	CHECK(scheduler_process(&settings, eval) == 0);
	CHECK(s->chosen_count == s->count);
	evaluation_free(eval);
}

static void sweep_caches(struct service *s)
{
	for (uint64_t i = 0; i < s->swept_bytes; i += LINE_BYTES)
		s->swept[i]++;
}

// The reference has just looked at all nodes: a look at a thousand leaves the scheduler in the caches, a look at a
// million leaves nothing of it there. Fleets are compared with equal caches: those that an evaluation before left, or
// swept ones.
static double subject(void *context)
{
	struct service *s = context;
	work_off(s);
	sweep_caches(s);
	if (s->new_kinds)
		register_job(s, s->shape);
	uint64_t began_ns = bench_ns();
	work_off(s);
	return s->count * 1e9 / (double)(bench_ns() - began_ns);
}

static double reference(void *context)
{
	struct service *s = context;
	return service_fleet_reference(&s->fleet, s->count);
}

static void check_answers(struct service *s)
{
	work_off(s);
	naive_service_reset(s->fleet.naive);
	for (uint32_t i = 0; i < s->naive_count; i++)
		CHECK(naive_service_place(s->fleet.naive) == s->chosen[i]);
}

static void measure_shape(struct service *s, const struct service_shape *shape, uint32_t count)
{
	char name[96];
	s->shape = shape;
	s->count = count;
	s->naive_count = service_fleet_reference_count(&s->fleet, count);
	s->chosen = memory_take_array(count, sizeof *s->chosen);
	register_job(s, shape);
	for (uint64_t i = 0; i < s->rounds; i++) {
		if (s->new_kinds)
			register_job(s, shape);
		work_off(s);
	}
	if (s->rounds > 0) {
		free(s->chosen);
		return;
	}
	check_answers(s);
	snprintf(name, sizeof name, "%s, %u instance%s", shape->name, count, count > 1 ? "s" : "");
	struct bench_result result = {.name = text_copy(text_of(name)),
		.nodes = s->nodes,
		.unit = "allocations/s",
		.against = "a look at all nodes for each"};
	bench_interleave(&s->bench, subject, reference, s, &result);
	bench_report(&s->bench, &result);
	free(s->chosen);
}

static void measure(struct service *s, uint32_t nodes)
{
	uint32_t many = s->bench.smoke ? 20 : 1000;
	s->nodes = nodes;
	controller_open(
		&s->controller, &(struct controller_settings){.nodes_max = nodes + NODE_BLOCK_SLOTS,
					.allocations_max = 1u << 16,
					.jobs_max = s->new_kinds ? 65536 : 64});
	(s->own_classes ? service_fleet_open_own_classes : service_fleet_open)(
		&s->fleet, &s->controller, nodes);
	s->mirror = fleet_mirror_create(s->controller.state, NULL);
	for (uint32_t i = 0; i < SERVICE_SHAPES; i++) {
		if (s->only > 0 && i + 1 != s->only)
			continue;
		if (s->instances != 1)
			measure_shape(s, &service_shapes[i], many);
		if (s->instances <= 1)
			measure_shape(s, &service_shapes[i], 1);
	}
	fleet_mirror_destroy(s->mirror);
	controller_close(&s->controller);
	service_fleet_close(&s->fleet);
}

// --nodes N measures that size alone, --shape N (from 1) that job alone, --instances 1 only evaluations of one
// instance, any other number only those of many. --rounds N runs the subject alone, unmeasured, for a profiler.
// With --own-classes 1 each node is alone in its class; with --new-kinds 1 a timed evaluation is the first of its kind.
// --sweep-mb N goes over so much other memory before each timed evaluation: with more than the caches hold, they are
// as cold as after other work.
int main(int count, char **arguments)
{
	static const uint32_t fleets[] = {1000, 10000, 100000};
	static struct service s;

	bench_begin(&s.bench, "service", count, arguments);
	prng_seed(&s.prng, 1);
	uint64_t nodes = bench_option(&s.bench, "nodes", s.bench.smoke ? 100 : 0);
	s.only = bench_option(&s.bench, "shape", 0);
	s.rounds = bench_option(&s.bench, "rounds", 0);
	s.own_classes = bench_option(&s.bench, "own-classes", 0);
	s.new_kinds = bench_option(&s.bench, "new-kinds", 0);
	s.instances = bench_option(&s.bench, "instances", 0);
	s.swept_bytes = bench_option(&s.bench, "sweep-mb", 0) << 20;
	s.swept = memory_take_array(s.swept_bytes, sizeof *s.swept);
	if (nodes > 0)
		measure(&s, (uint32_t)nodes);
	for (uint32_t i = 0; i < 3 && nodes == 0; i++)
		measure(&s, fleets[i]);
	free(s.swept);
	return bench_end(&s.bench);
}
