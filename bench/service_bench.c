// Instances of a service job per second through the generic scheduler in process: from an evaluation to the plan that
// is handed in, over the state of a real applier. Jobs with nothing but resources, with an affinity, an even spread,
// a distinct_property, and with all of them. The reference looks at every node for every instance
// (bench/naive_service.h); both must choose the same nodes, which is checked before anything is timed.
#include "bench/bench.h"
#include "bench/controller.h"
#include "bench/naive_service.h"
#include "placement/scheduler/scheduler.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdio.h>
#include <stdlib.h>

#define RACK_NODES 40u
#define STORAGES 8u
#define REGISTERED_AT_ONCE 256u
#define NODE_TEXT_BYTES 64u
// Looked at by the reference in one round, so that it ends.
#define LOOKS_MOST 20000000u

struct shape {
	const char *name;
	bool affinity, spread, distinct;
};
static const struct shape shapes[] = {
	{"plain", false, false, false},
	{"affinity", true, false, false},
	{"spread", false, true, false},
	{"distinct_property", false, false, true},
	{"affinity, spread and distinct_property", true, true, true},
};
#define SHAPES (sizeof shapes / sizeof shapes[0])

static const struct resources sizes[] = {{8000, 16384, 200000}, {16000, 32768, 200000},
	{32000, 65536, 200000}, {64000, 262144, 200000}};

struct service {
	struct bench bench;
	struct controller controller;
	uint32_t nodes, racks, count;
	uint64_t rounds;    // of the subject alone, for a profiler; 0: measure
	uint64_t only;      // this shape, counted from 1; 0: all
	uint64_t instances; // 1: evaluations of one alone; more: the others alone
	struct naive_service *naive;
	uint32_t naive_count; // instances in a round of the reference
	struct prng prng;
	const char *job_id;
	uint32_t *chosen, chosen_count; // slots, by the newest plan
};

// --- Nodes ---------------------------------------------------------------------------------------

static struct resources size_of_node(uint32_t number)
{
	return sizes[number % 7 % (sizeof sizes / sizeof sizes[0])];
}

static void add_pair(struct command_node_register *d, uint8_t kind, const char *name, char *value)
{
	d->pairs[d->pair_count++] =
		(struct command_pair){.kind = kind, .name = text_of(name), .value = text_of(value)};
}

static void describe_node(
	struct command_node_register *d, uint32_t number, char texts[4][NODE_TEXT_BYTES])
{
	struct prng prng;
	prng_seed(&prng, number + 1);
	*d = (struct command_node_register){.node = prng_uuid(&prng),
		.sequence = 1,
		.parts = 1,
		.total = size_of_node(number),
		.datacenter = TEXT("dc1"),
		.class_name = TEXT("general"),
		.pool = TEXT("default"),
		.version = TEXT("1")};
	snprintf(texts[0], NODE_TEXT_BYTES, "node-%08u", number);
	snprintf(texts[1], NODE_TEXT_BYTES, "r%u", number / RACK_NODES);
	snprintf(texts[2], NODE_TEXT_BYTES, "nvme%u", number % STORAGES);
	snprintf(texts[3], NODE_TEXT_BYTES, "1");
	d->name = text_of(texts[0]);
	add_pair(d, PAIR_ATTRIBUTE, "platform.rack", texts[1]);
	add_pair(d, PAIR_ATTRIBUTE, "storage.class", texts[2]);
	add_pair(d, PAIR_ATTRIBUTE, "unique.hostname", texts[0]);
	add_pair(d, PAIR_DRIVER, "raw_exec", texts[3]);
}

static void register_nodes(struct service *s)
{
	static struct command_node_register nodes[REGISTERED_AT_ONCE];
	static char texts[REGISTERED_AT_ONCE][4][NODE_TEXT_BYTES];
	static struct command commands[REGISTERED_AT_ONCE];

	for (uint32_t from = 0; from < s->nodes; from += REGISTERED_AT_ONCE) {
		uint32_t count =
			s->nodes - from < REGISTERED_AT_ONCE ? s->nodes - from : REGISTERED_AT_ONCE;
		for (uint32_t i = 0; i < count; i++) {
			describe_node(&nodes[i], from + i, texts[i]);
			commands[i] = (struct command){
				.type = COMMAND_NODE_REGISTER, .node_register = &nodes[i]};
		}
		controller_run(&s->controller, commands, count);
		for (uint32_t i = 0; i < count; i++) {
			struct naive_service_node *n = &s->naive->nodes[nodes[i].slot];
			CHECK(nodes[i].slot < s->nodes);
			n->capacity = size_of_node(from + i);
			n->rack = (from + i) / RACK_NODES;
			n->preferred = (from + i) % STORAGES == 1;
		}
	}
}

// --- Jobs ----------------------------------------------------------------------------------------

static uint32_t rack_limit(const struct service *s)
{
	return 2 * s->count / s->racks + 1;
}

static void add_preferences(
	const struct service *s, const struct shape *shape, struct task_group *group)
{
	char limit[16];
	snprintf(limit, sizeof limit, "%u", rack_limit(s));
	if (shape->affinity)
		*(struct affinity *)array_append(&group->affinities, sizeof(struct affinity)) =
			(struct affinity){text_copy(TEXT("${attr.storage.class}")),
				text_copy(TEXT("nvme1")), text_copy(TEXT("=")), 50};
	if (shape->spread)
		*(struct spread *)array_append(&group->spreads, sizeof(struct spread)) =
			(struct spread){.attribute = text_copy(TEXT("${attr.platform.rack}")),
				.weight = 100};
	if (shape->distinct)
		*(struct constraint *)array_append(&group->constraints, sizeof(struct constraint)) =
			(struct constraint){text_copy(TEXT("${attr.platform.rack}")),
				text_copy(text_of(limit)), text_copy(TEXT("distinct_property"))};
}

static struct job *describe_job(const struct service *s, const struct shape *shape, const char *id)
{
	struct job *job = job_create();
	job->namespace_name = text_copy(TEXT("default"));
	job->id = text_copy(text_of(id));
	job->name = text_copy(text_of(id));
	job->type = JOB_SERVICE;
	job->node_pool = text_copy(TEXT("default"));
	*(char **)array_append(&job->datacenters, sizeof(char *)) = text_copy(TEXT("dc1"));
	struct task_group *group = array_append(&job->task_groups, sizeof *group);
	record_init(&task_group_description, group);
	group->name = text_copy(TEXT("g"));
	group->count = s->count;
	group->disk.size_mb = 10;
	add_preferences(s, shape, group);
	struct task *task = array_append(&group->tasks, sizeof *task);
	record_init(&task_description, task);
	task->name = text_copy(TEXT("t"));
	task->driver = text_copy(TEXT("raw_exec"));
	task->resources.cpu = 100;
	task->resources.memory_mb = 64;
	CHECK(job_derive(job));
	return job;
}

static void register_job(struct service *s, const struct shape *shape)
{
	static char id[32];
	static uint32_t jobs;
	snprintf(id, sizeof id, "service-%u", jobs++);
	struct command command = {
		.type = COMMAND_JOB_REGISTER, .job_register = {.job = describe_job(s, shape, id)}};
	controller_run(&s->controller, &command, 1);
	s->job_id = id;
	s->naive->count = s->count;
	s->naive->ask = (struct resources){100, 64, 10};
	s->naive->affinity = shape->affinity;
	s->naive->spread = shape->spread;
	s->naive->rack_limit = shape->distinct ? rack_limit(s) : 0;
}

// --- The subject ---------------------------------------------------------------------------------

static int begin_view(void *context, uint64_t index, struct scheduler_view *view)
{
	struct service *s = context;
	*view = state_view_begin(s->controller.state);
	return 0;
}

static void end_view(void *context)
{
	state_view_end();
}

// Handed in whole, and not carried out: every round begins with the same fleet.
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

static double subject(void *context)
{
	struct service *s = context;
	uint64_t began_ns = bench_ns();
	work_off(s);
	return s->count * 1e9 / (double)(bench_ns() - began_ns);
}

static double reference(void *context)
{
	struct service *s = context;
	naive_service_reset(s->naive);
	uint64_t began_ns = bench_ns();
	for (uint32_t i = 0; i < s->naive_count; i++)
		CHECK(naive_service_place(s->naive) < s->nodes);
	return s->naive_count * 1e9 / (double)(bench_ns() - began_ns);
}

static void check_answers(struct service *s)
{
	work_off(s);
	naive_service_reset(s->naive);
	for (uint32_t i = 0; i < s->naive_count; i++)
		CHECK(naive_service_place(s->naive) == s->chosen[i]);
}

// --- One size ------------------------------------------------------------------------------------

static void measure_shape(struct service *s, const struct shape *shape, uint32_t count)
{
	char name[96];
	s->count = count;
	s->naive_count = LOOKS_MOST / s->nodes < count ? LOOKS_MOST / s->nodes : count;
	s->chosen = memory_take_array(count, sizeof *s->chosen);
	register_job(s, shape);
	for (uint64_t i = 0; i < s->rounds; i++)
		work_off(s);
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
	s->racks = (nodes + RACK_NODES - 1) / RACK_NODES;
	s->naive = naive_service_create(nodes, s->racks);
	controller_open(
		&s->controller, &(struct controller_settings){.nodes_max = nodes + NODE_BLOCK_SLOTS,
					.allocations_max = 1u << 16,
					.jobs_max = 64});
	register_nodes(s);
	for (uint32_t i = 0; i < SHAPES; i++) {
		if (s->only > 0 && i + 1 != s->only)
			continue;
		if (s->instances != 1)
			measure_shape(s, &shapes[i], many);
		if (s->instances <= 1)
			measure_shape(s, &shapes[i], 1);
	}
	controller_close(&s->controller);
	naive_service_destroy(s->naive);
}

// With --nodes N that size alone, with --shape N (from 1) that job alone, with --instances 1 only evaluations of one
// instance, or else with any other number those of many. With --rounds N the subject alone, unmeasured, for a profiler.
int main(int count, char **arguments)
{
	static const uint32_t fleets[] = {1000, 10000, 100000};
	static struct service s;

	bench_begin(&s.bench, "service", count, arguments);
	prng_seed(&s.prng, 1);
	uint64_t nodes = bench_option(&s.bench, "nodes", s.bench.smoke ? 100 : 0);
	s.only = bench_option(&s.bench, "shape", 0);
	s.rounds = bench_option(&s.bench, "rounds", 0);
	s.instances = bench_option(&s.bench, "instances", 0);
	if (nodes > 0)
		measure(&s, (uint32_t)nodes);
	for (uint32_t i = 0; i < 3 && nodes == 0; i++)
		measure(&s, fleets[i]);
	return bench_end(&s.bench);
}
