// Instances of a service job per second that find room only where less important work makes it, through the generic
// scheduler in process: from an evaluation to the plan that it hands in, over the state of a real applier in which one
// allocation fills each node, of one of three priorities. The reference is the same scheduler without an index of the
// fleet, which gathers all nodes in each attempt; both must choose the same nodes and victims, which is checked before
// anything is timed. The allocations hold the static port and all devices, too, that some jobs ask for.
#include "bench/harness/bench.h"
#include "bench/harness/controller.h"
#include "bench/harness/service_fleet.h"
#include "placement/direct/fleet_mirror.h"
#include "placement/scheduler/scheduler.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/records/scheduler_config.h"
#include <stdio.h>
#include <stdlib.h>

#define LOW_JOBS 3u
#define PLACED_AT_ONCE 4096u

struct evict {
	struct bench bench;
	struct controller controller;
	struct service_fleet fleet;
	struct fleet_mirror *mirror;
	bool is_indexed; // the newest evaluation has the fleet's index
	const struct service_shape *shape;
	uint32_t nodes, count;
	uint64_t rounds; // of the subject alone; 0: measure
	struct prng prng;
	uint32_t *chosen, chosen_count; // slots, of the newest plan
	struct uuid *victims;
	uint32_t victim_count;
};

static int begin_view(void *context, uint64_t index, struct scheduler_view *view)
{
	struct evict *e = context;
	*view = state_view_begin(e->controller.state);
	if (e->is_indexed) {
		view->fleet = fleet_mirror_fleet(e->mirror);
		fleet_begin_view(view->fleet);
	}
	return 0;
}

static void end_view(void *context)
{
	state_view_end();
}

// Accepts a plan as a whole without carrying it out: every round begins with the same fleet.
static int take_plan(void *context, struct plan *plan, struct plan_result *result)
{
	struct evict *e = context;

	e->chosen_count = plan->placements.count;
	e->victim_count = plan->preemptions.count;
	CHECK(e->chosen_count <= e->count && e->victim_count <= e->count);
	for (uint32_t i = 0; i < e->chosen_count; i++)
		e->chosen[i] = ARRAY_AT(&plan->placements, struct plan_placement, i)->slot;
	for (uint32_t i = 0; i < e->victim_count; i++)
		e->victims[i] = ARRAY_AT(&plan->preemptions, struct plan_stop, i)->id;
	*result = (struct plan_result){.alloc_index = 1,
		.placements_planned = e->chosen_count,
		.placements_committed = e->chosen_count,
		.stops_committed = e->victim_count};
	return 0;
}

static int take_eval(void *context, const struct evaluation *eval)
{
	return 0;
}

static void work_off(struct evict *e, bool is_indexed)
{
	struct scheduler_settings settings = {
		.planner = {e, begin_view, end_view, take_plan, take_eval, take_eval, take_eval},
		.prng = &e->prng,
		.now_ns = 1};
	struct evaluation *eval = evaluation_create();

	e->is_indexed = is_indexed;
	prng_seed(&e->prng, 1);
	eval->id = prng_uuid(&e->prng);
	eval->namespace_name = text_copy(TEXT("default"));
	eval->job_id = text_copy(TEXT("high"));
	eval->priority = 90;
	eval->type = EVAL_SERVICE;
	eval->triggered_by = TRIGGER_JOB_REGISTER;
	CHECK(scheduler_process(&settings, eval) == 0);
	CHECK(e->chosen_count == e->count && e->victim_count > 0);
	evaluation_free(eval);
}

static double subject(void *context)
{
	struct evict *e = context;
	uint64_t began_ns = bench_ns();
	work_off(e, true);
	return e->count * 1e9 / (double)(bench_ns() - began_ns);
}

static double reference(void *context)
{
	struct evict *e = context;
	uint64_t began_ns = bench_ns();
	work_off(e, false);
	return e->count * 1e9 / (double)(bench_ns() - began_ns);
}

static struct command register_job(struct evict *e, const struct service_shape *shape,
	const char *id, uint32_t count, int64_t priority)
{
	struct command command = {.type = COMMAND_JOB_REGISTER,
		.job_register = {
			.job = service_fleet_job(&e->fleet, shape, id, JOB_SERVICE, count)}};
	command.job_register.job->priority = priority;
	controller_run(&e->controller, &command, 1);
	return command;
}

static uint64_t version_of(const struct evict *e, const char *id)
{
	state_read_begin();
	uint64_t version =
		state_job(e->controller.state, TEXT("default"), text_of(id))->record.modify_index;
	state_read_end();
	return version;
}

static struct alloc_details *hold_port(const struct node *n)
{
	struct alloc_details *details = alloc_details_create();
	struct allocated_port *port = array_append(&details->ports, sizeof *port);

	port->label = text_copy(TEXT("http"));
	port->host_ip = text_copy(text_of(node_fittings(n)->networks[0].addresses[0].address));
	port->value = SERVICE_PORT;
	return details;
}

static struct device_set all_devices(const struct node *n)
{
	struct device_set all = {0};
	for (uint32_t i = 0; i < n->node_class->device_count; i++)
		all.groups[i] = (1ull << n->node_class->devices[i].instances) - 1;
	return all;
}

static void fill_node(struct evict *e, struct plan *plan, uint64_t version, uint32_t slot)
{
	state_read_begin();
	const struct node *n = state_node_at(e->controller.state, slot);
	*(struct plan_placement *)array_append(&plan->placements, sizeof(struct plan_placement)) =
		(struct plan_placement){.id = prng_uuid(&e->prng),
			.node_id = n->id,
			.slot = slot,
			.name_index = slot,
			.job_version = version,
			.resources = node_capacity(n),
			.devices = all_devices(n),
			.details = hold_port(n),
			.metrics = PLAN_NO_METRICS};
	state_read_end();
}

// Every third node, from the number of the job on.
static void fill_nodes(struct evict *e, uint32_t number)
{
	char id[16];

	snprintf(id, sizeof id, "low-%u", number);
	struct command job =
		register_job(e, &service_shapes[0], id, e->nodes / LOW_JOBS, 10 * (1 + number));
	uint64_t version = version_of(e, id);
	for (uint32_t slot = number; slot < e->nodes;) {
		struct plan_result result;
		struct plan *plan = plan_create();
		plan->eval_id = job.job_register.made.id;
		for (uint32_t i = 0; i < PLACED_AT_ONCE && slot < e->nodes; i++, slot += LOW_JOBS)
			fill_node(e, plan, version, slot);
		struct command command = {.type = COMMAND_PLAN, .plan = {plan, &result}};
		controller_run(&e->controller, &command, 1);
		CHECK(result.placements_committed == plan->placements.count);
		plan_result_release(&result);
		plan_free(plan);
	}
}

static void let_services_preempt(struct evict *e)
{
	struct scheduler_config config = {.preemption = {.service = true}};
	struct command command = {
		.type = COMMAND_SCHEDULER_CONFIG, .scheduler_config = {.config = &config}};
	controller_run(&e->controller, &command, 1);
}

static void check_answers(struct evict *e)
{
	uint32_t *chosen = memory_take_array(e->count, sizeof *chosen);
	struct uuid *victims = memory_take_array(e->count, sizeof *victims);

	work_off(e, false);
	uint32_t victim_count = e->victim_count;
	memcpy(chosen, e->chosen, e->count * sizeof *chosen);
	memcpy(victims, e->victims, victim_count * sizeof *victims);
	work_off(e, true);
	CHECK(memcmp(chosen, e->chosen, e->count * sizeof *chosen) == 0);
	CHECK(e->victim_count == victim_count);
	CHECK(memcmp(victims, e->victims, victim_count * sizeof *victims) == 0);
	free(chosen);
	free(victims);
}

static void measure(struct evict *e, uint32_t count)
{
	char name[128];

	e->count = count;
	e->chosen = memory_take_array(count, sizeof *e->chosen);
	e->victims = memory_take_array(count, sizeof *e->victims);
	(void)register_job(e, e->shape, "high", count, 90);
	for (uint64_t i = 0; i < e->rounds; i++)
		work_off(e, true);
	if (e->rounds > 0)
		return;
	check_answers(e);
	snprintf(name, sizeof name, "with victims, %s, %u instance%s", e->shape->name, count,
		count > 1 ? "s" : "");
	struct bench_result result = {.name = text_copy(text_of(name)),
		.nodes = e->nodes,
		.unit = "allocations/s",
		.against = "all nodes gathered"};
	bench_interleave(&e->bench, subject, reference, e, &result);
	bench_report(&e->bench, &result);
	free(e->chosen);
	free(e->victims);
}

static void measure_shapes(struct evict *e)
{
	uint64_t shape = bench_option(&e->bench, "shape", 0);
	uint64_t instances = bench_option(&e->bench, "instances", e->rounds > 0);

	for (uint32_t i = 0; i < SERVICE_SHAPES; i++) {
		e->shape = &service_shapes[i];
		if (shape > 0 && i + 1 != shape)
			continue;
		if (instances > 0) {
			measure(e, (uint32_t)instances);
			continue;
		}
		measure(e, 1);
		measure(e, e->bench.smoke ? 5 : 100);
	}
}

static void measure_fleet(struct evict *e, uint32_t nodes)
{
	e->nodes = nodes;
	controller_open(
		&e->controller, &(struct controller_settings){.nodes_max = nodes + NODE_BLOCK_SLOTS,
					.allocations_max = nodes + 4096,
					.jobs_max = 16});
	service_fleet_open(&e->fleet, &e->controller, nodes);
	let_services_preempt(e);
	for (uint32_t i = 0; i < LOW_JOBS; i++)
		fill_nodes(e, i);
	e->mirror = fleet_mirror_create(e->controller.state, NULL);
	measure_shapes(e);
	fleet_mirror_destroy(e->mirror);
	controller_close(&e->controller);
	service_fleet_close(&e->fleet);
}

// --nodes N measures that size alone, --shape N one kind of job (1: plain, as in service_shapes), --instances N so many
// of it, --rounds N runs the subject alone, unmeasured, for a profiler.
int main(int count, char **arguments)
{
	static const uint32_t fleets[] = {1000, 10000, 100000};
	static struct evict e;

	bench_begin(&e.bench, "evict", count, arguments);
	prng_seed(&e.prng, 1);
	e.rounds = bench_option(&e.bench, "rounds", 0);
	uint64_t nodes = bench_option(&e.bench, "nodes", e.bench.smoke ? 100 : 0);
	if (nodes > 0)
		measure_fleet(&e, (uint32_t)nodes);
	for (uint32_t i = 0; i < 3 && nodes == 0; i++)
		measure_fleet(&e, fleets[i]);
	return bench_end(&e.bench);
}
