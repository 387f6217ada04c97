// Random plans, reports and stops on a small fleet that changes under them, against a naive model; every invariant
// after every command, and everything that must be able to stand in for the controller: its log and its snapshot.
#include "state/base/memory.h"
#include "state/records/alloc_details.h"
#include "tests/state/properties/model_plan.h"
#include "tests/support/core/slowness.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SEEDS = 1 + 5 / BUILD_SLOWNESS, STEPS = 3000, ITEMS_MAX = 6, FIRST_ID = 1000 };

static const enum job_type types[PLAN_JOBS] = {JOB_SYSTEM, JOB_BATCH, JOB_SYSBATCH};
static const char *const names[PLAN_JOBS] = {"everywhere", "some", "once"};

struct life {
	struct controller controller;
	struct plan_model *model;
	struct prng prng;
	uint32_t next_id;
	uint64_t sequence;
};

static uint32_t below(struct life *l, uint32_t bound)
{
	return (uint32_t)prng_below(&l->prng, bound);
}

static void follow_node(struct life *l, uint32_t number)
{
	struct plan_model_node *own = &l->model->nodes[number];
	struct uuid id = number_uuid(number);

	state_read_begin();
	const struct node *n = state_node_by_id(l->controller.state, &id);
	own->exists = n != NULL;
	if (n) {
		if (own->slot != n->slot || own->generation != n->generation)
			own->report_sequence = 0;
		own->slot = n->slot;
		own->generation = n->generation;
		own->status = n->status;
		own->is_eligible = n->eligibility == NODE_ELIGIBLE && !n->drain;
		own->total = n->total;
	}
	state_read_end();
}

static void register_one(struct life *l, uint32_t number)
{
	static const uint32_t cpus[] = {2000, 4000, 8000};
	static const char *const cores[] = {"0", "0-1", "0-2", "0-3"};
	struct plan_model_node *own = &l->model->nodes[number];
	struct node_registration n;
	struct command command = {.type = COMMAND_NODE_REGISTER, .node_register = &n};
	uint32_t gpus = 1 + below(l, 3), core_count = 1 + below(l, 4);

	build_node(&n, number, ++l->sequence);
	n.total.cpu_mhz = cpus[below(l, 3)];
	n.device_group_count = 1;
	n.device_groups[0] = (struct node_device_group){
		TEXT("nvidia"), TEXT("gpu"), TEXT("a100"), (uint8_t)gpus};
	n.pairs[n.pair_count++] = (struct node_pair){
		PAIR_SETTING, TEXT("cores.reservable"), text_of(cores[core_count - 1])};
	assert_int_equal(controller_run(&l->controller, &command), OUTCOME_DONE);
	plan_model_devices(l->model, number, gpus);
	own->gpus = gpus;
	own->cores = core_count;
	follow_node(l, number);
}

static void change_node(struct life *l)
{
	static const enum command_type events[] = {
		COMMAND_NODE_EXPIRED, COMMAND_NODE_RETURNED, COMMAND_NODE_RETURNED};
	uint32_t number = below(l, PLAN_NODES), what = below(l, 10);
	struct plan_model_node *own = &l->model->nodes[number];
	struct command command = {.type = COMMAND_NODE_ELIGIBILITY,
		.node_eligibility = {.node = number_uuid(number), .eligible = below(l, 2)}};

	if (what < 3 || !own->exists) {
		register_one(l, number);
		return;
	}
	if (what < 7) {
		controller_node(&l->controller, events[below(l, 3)], own->slot, own->generation);
	} else if (what < 9) {
		controller_run(&l->controller, &command);
	} else {
		command = (struct command){
			.type = COMMAND_NODE_PURGE, .node_named = {.node = number_uuid(number)}};
		assert_int_equal(controller_run(&l->controller, &command), OUTCOME_DONE);
		plan_model_forget(l->model, number);
	}
	follow_node(l, number);
}

static void register_version(struct life *l, uint32_t i)
{
	struct plan_model_job *job = &l->model->jobs[i];
	struct job *built = build_scheduled_job(names[i], types[i]);

	built->priority = 1 + below(l, 99);
	assert_int_equal(register_job(&l->controller, built, NULL), OUTCOME_DONE);
	state_read_begin();
	job->version = state_job(l->controller.state, TEXT("default"), text_of(names[i]))
			       ->record.modify_index;
	state_read_end();
	job->exists = true;
	job->shares_names = types[i] == JOB_BATCH;
	job->planned.id = names[i];
	job->planned.version = job->version;
}

static void change_job(struct life *l)
{
	uint32_t i = below(l, PLAN_JOBS);

	if (below(l, 4) || !l->model->jobs[i].exists) {
		register_version(l, i);
		return;
	}
	assert_int_equal(controller_stop_job(&l->controller, names[i], true), OUTCOME_DONE);
	l->model->jobs[i].exists = false;
}

static struct uuid some_allocation(struct life *l)
{
	const struct plan_model *m = l->model;

	if (m->count == 0 || below(l, 12) == 0)
		return number_uuid(900000 + below(l, 1000));
	uint32_t window = m->count < 80 ? m->count : 80;
	return m->allocations[m->count - 1 - below(l, window)].id;
}

// Of the plan's job, so that it goes on under its newest version.
static void add_update(struct life *l, struct plan *plan, uint32_t job)
{
	struct uuid id = some_allocation(l);
	const struct plan_model_alloc *a = plan_model_find(l->model, &id);

	if (!a || a->job != job || !l->model->jobs[job].exists)
		return;
	struct plan_update *u = plan_update(plan, 0);
	u->id = id;
	u->resources = a->resources;
	u->devices.groups[0] = a->gpus;
	if (below(l, 4) == 0)
		u->resources.cpu_mhz += 300;
	if (below(l, 5) == 0)
		u->client_status = ALLOC_UNKNOWN;
}

static void add_end(struct life *l, struct plan *plan)
{
	static const enum stop_cause causes[] = {STOP_NOT_NEEDED, STOP_LOST, STOP_UPDATING};
	uint32_t what = below(l, 4);

	if (what == 3)
		plan_preempt(plan, 0, l->next_id)->id = some_allocation(l);
	else
		plan_stop(plan, 0, causes[what])->id = some_allocation(l);
}

static void add_placement(struct life *l, struct plan *plan, int64_t *port, int64_t *core)
{
	static const uint32_t cpus[] = {100, 300, 900};
	uint32_t number = below(l, PLAN_NODES);
	const struct plan_model_node *n = &l->model->nodes[number];
	bool is_again = below(l, 40) == 0;
	struct plan_placement *p = plan_place(plan, l->next_id, number, n->slot);

	l->next_id += !is_again;
	if (is_again)
		p->id = some_allocation(l);
	if (below(l, 60) == 0)
		p->slot += 1 + below(l, 100000);
	p->name_index = below(l, 12);
	p->resources.cpu_mhz = cpus[below(l, 3)];
	p->resources.memory_mb = 300;
	p->devices.groups[0] = below(l, 6) ? 0 : 1ull << below(l, 3);
	*port = below(l, 4) ? -1 : (int64_t)below(l, 12);
	*core = below(l, 10) ? -1 : (int64_t)below(l, 4);
	p->details = plan_model_details(*port, *core);
	if (below(l, 4) == 0) {
		p->details = p->details ? p->details : alloc_details_create();
		p->details->previous_allocation = some_allocation(l);
	}
}

static void run_one_plan(struct life *l)
{
	uint32_t job = below(l, PLAN_JOBS);
	struct plan *plan = build_plan(&l->model->jobs[job].planned);
	int64_t ports[ITEMS_MAX], cores[ITEMS_MAX];
	uint32_t placements = below(l, ITEMS_MAX), ends = below(l, 4), updates = below(l, 4);
	struct plan_result result;
	struct command command = {.type = COMMAND_PLAN, .plan = {plan, &result}};

	plan->all_at_once = below(l, 12) == 0;
	for (uint32_t i = 0; i < ends; i++)
		add_end(l, plan);
	for (uint32_t i = 0; i < updates; i++)
		add_update(l, plan, job);
	for (uint32_t i = 0; i < placements; i++)
		add_placement(l, plan, &ports[i], &cores[i]);
	assert_int_equal(controller_run(&l->controller, &command), OUTCOME_DONE);
	plan_model_decide(l->model, plan, job, ports, cores, &result);
	plan_result_release(&result);
	plan_free(plan);
}

static void report(struct life *l)
{
	static const uint8_t statuses[] = {
		ALLOC_RUNNING, ALLOC_RUNNING, ALLOC_COMPLETE, ALLOC_FAILED, ALLOC_PENDING};
	uint32_t number = below(l, PLAN_NODES), count = 1 + below(l, 4);
	const struct plan_model_node *n = &l->model->nodes[number];
	struct alloc_update_item items[4] = {0};
	struct command_alloc_update update = {n->slot, n->generation - (below(l, 20) == 0),
		n->report_sequence + below(l, 3), count, items};
	struct command command = {.type = COMMAND_ALLOC_UPDATE, .alloc_update = &update};

	if (!n->exists)
		update.slot = 1000000;
	for (uint32_t i = 0; i < count; i++) {
		items[i].client_status = statuses[below(l, 5)];
		bool is_again;
		do { // each once
			items[i].allocation = some_allocation(l);
			is_again = false;
			for (uint32_t j = 0; j < i; j++)
				is_again |= uuid_equal(&items[i].allocation, &items[j].allocation);
		} while (is_again);
	}
	controller_run(&l->controller, &command);
	plan_model_report(l->model, number, &command);
}

static void migrate_some(struct life *l)
{
	struct uuid id = some_allocation(l);
	struct plan_model_alloc *a = plan_model_find(l->model, &id);
	struct command command = {.type = COMMAND_ALLOC_STOP, .alloc_stop = {.allocation = id}};

	assert_int_equal(controller_run(&l->controller, &command),
		a ? OUTCOME_DONE : OUTCOME_UNKNOWN_ALLOCATION);
	if (a)
		a->migrate = true;
}

static void step(struct life *l)
{
	uint32_t what = below(l, 100);

	advance_ms(&l->controller, below(l, 50));
	if (what < 50)
		run_one_plan(l);
	else if (what < 85)
		report(l);
	else if (what < 93)
		change_node(l);
	else if (what < 96)
		change_job(l);
	else
		migrate_some(l);
}

static void begin(struct life *l, uint64_t seed)
{
	memset(l, 0, sizeof *l);
	prng_seed(&l->prng, seed);
	l->model = memory_take(sizeof *l->model);
	l->next_id = FIRST_ID;
	controller_init(&l->controller, (struct state_limits){0});
	controller_open(&l->controller);
	for (uint32_t i = 0; i < PLAN_NODES - 1; i++)
		register_one(l, i);
	for (uint32_t i = 0; i < PLAN_JOBS; i++) {
		struct evaluation *e = build_evaluation(i, names[i], EVAL_PENDING);
		register_version(l, i);
		l->model->jobs[i].planned.eval = e->id;
		assert_int_equal(store_evaluation(&l->controller, e), OUTCOME_DONE);
	}
}

static void plans_do_what_the_model_does(void **unused)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct life l;
		print_message("seed %lu\n", (unsigned long)seed);
		begin(&l, seed);
		for (uint32_t i = 0; i < STEPS; i++) {
			step(&l);
			controller_verify(&l.controller);
			if (i % 20 == 0)
				plan_model_compare(l.model, l.controller.state);
			if (i % 500 == 499)
				expect_restores(&l.controller);
		}
		plan_model_compare(l.model, l.controller.state);
		print_message("%lu placed, %lu nodes rejected, %lu evicted\n",
			(unsigned long)l.model->committed, (unsigned long)l.model->rejected,
			(unsigned long)l.model->preempted);
		assert_true(l.model->committed > 200);
		assert_true(l.model->rejected > 100);
		assert_true(l.model->preempted > 20);
		controller_free(&l.controller);
		free(l.model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(plans_do_what_the_model_does)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
