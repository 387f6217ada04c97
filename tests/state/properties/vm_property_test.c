// Random commands about virtual machines, workers and the nodes that they are, through the applier: after every command
// everything is what a naive model makes of the rows; and the log, and a snapshot, lead to the same state.
#include "state/base/memory.h"
#include "state/base/prng.h"
#include "state/records/alloc_details.h"
#include "state/records/allocation.h"
#include "tests/state/properties/vm_model.h"
#include "tests/support/core/slowness.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SEEDS = 1 + 9 / BUILD_SLOWNESS, STEPS = 5000, MACHINES = 2 };

static const char *const vm_names[MODEL_VMS] = {"v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7"};
static const char *const worker_names[MODEL_WORKERS] = {"w0", "w1", "w2", "w3", "w4"};
static const char *const machine_ids[MACHINES] = {"m0", "m1"};

struct life {
	struct controller c;
	struct prng prng;
	struct vm_model *model;
	uint64_t sequence, request;
	uint32_t assigned, failed_over, restarted, heard, conflicts, held_up;
};

static uint32_t below(struct life *l, uint32_t bound)
{
	return (uint32_t)prng_below(&l->prng, bound);
}

static bool chance(struct life *l, uint32_t in)
{
	return below(l, in) == 0;
}

static int any_vm(struct life *l)
{
	return (int)below(l, MODEL_VMS);
}

// Rather one that is on a worker, or that waits for one.
static int vm_that_is(struct life *l, bool is_scheduled)
{
	int vm = any_vm(l);

	for (int tries = 0; tries < MODEL_VMS; tries++, vm = any_vm(l)) {
		const struct model_vm *v = &l->model->vms[vm];
		if (v->is_there && v->is_scheduled == is_scheduled && v->status != VM_FAILED)
			break;
	}
	return vm;
}

static int any_worker(struct life *l)
{
	return (int)below(l, MODEL_WORKERS);
}

static int any_node(struct life *l)
{
	return (int)below(l, MODEL_NODES);
}

static void create(struct life *l)
{
	int vm = any_vm(l);
	struct vm *asked = build_vm(vm_names[vm], below(l, 3));
	struct named_count *memory =
		map_item(&asked->resources, sizeof *memory, VM_RESOURCE_MEMORY);

	memory->count = below(l, 3) * 1500;
	asked->restart_policy = chance(l, 2) ? VM_RESTART_ON_FAILURE : VM_RESTART_NEVER;
	asked->suspendable = chance(l, 2);
	enum command_outcome expected = model_create(l->model, vm, asked);
	assert_int_equal(create_vm(&l->c, asked), expected);
}

static void delete (struct life *l)
{
	int vm = any_vm(l);
	assert_int_equal(delete_vm(&l->c, vm_names[vm]), model_delete(l->model, vm));
}

static void change_power(struct life *l)
{
	int vm = any_vm(l);
	enum vm_power power = (enum vm_power)below(l, VM_POWER_SUSPENDED + 1);
	assert_int_equal(
		set_power(&l->c, vm_names[vm], power), model_power(l->model, vm, (int)power));
}

static void assign(struct life *l)
{
	int vm = vm_that_is(l, false), worker = any_worker(l);
	enum vm_assign_result expected = model_assign(l->model, vm, worker);

	l->assigned += expected == VM_ASSIGNED;
	l->held_up += expected == VM_WORKER_SKIPPED;
	assert_int_equal(assign_vm(&l->c, vm_names[vm], worker_names[worker]), expected);
}

static void judge(struct life *l)
{
	int vm = any_vm(l);
	const struct model_vm *v = &l->model->vms[vm];
	uint64_t restarts = v->restarts_done;
	int status = v->status;
	uint32_t expected = model_judge(l->model, vm);

	l->failed_over += v->status == VM_FAILED && status != VM_FAILED;
	l->restarted += v->restarts_done > restarts;
	assert_int_equal(judge_vm(&l->c, vm_names[vm]), expected);
}

static void report_by_hand(struct life *l)
{
	int vm = any_vm(l), status = chance(l, 2) ? NO_ONE : (int)below(l, VM_FAILED + 1);
	int running = chance(l, 2) ? NO_ONE : (int)below(l, 2);
	struct vm_condition condition = {VM_CONDITION_RUNNING, running};
	struct command_vm_report report = {.status = {status != NO_ONE, status},
		.conditions = {&condition, running != NO_ONE}};

	enum command_outcome expected = model_report(l->model, vm, status, running);
	assert_int_equal(report_vm(&l->c, vm_names[vm], NULL, &report), expected);
}

// What its node, or another, says of a machine.
static void hear(struct life *l)
{
	int vm = vm_that_is(l, true), node = any_node(l), worker = l->model->vms[vm].worker;
	uint8_t status = (uint8_t)below(l, ALLOC_FAILED + 1);

	if (worker != NO_ONE && l->model->workers[worker].node != NO_ONE && !chance(l, 4))
		node = l->model->workers[worker].node;
	const struct model_node *n = &l->model->nodes[node];
	struct vm *there = published_vm(&l->c, vm_names[vm]);
	struct alloc_update_item item = {.client_status = status};
	struct command_alloc_update update = {n->slot, n->generation, ++l->sequence, 1, &item};
	struct command command = {.type = COMMAND_ALLOC_UPDATE, .alloc_update = &update};

	if (there)
		item.allocation = there->instance;
	vm_free(there);
	if (!n->is_there)
		return;
	enum command_outcome outcome = controller_run(&l->c, &command);
	assert_int_equal(outcome, n->is_up ? OUTCOME_DONE : OUTCOME_NODE_NOT_ALLOWED);
	if (!n->is_up)
		return;
	bool is_known = model_hear(l->model, node, vm, status);
	assert_int_equal(item.known, is_known);
	l->heard += is_known;
}

// A worker is of one node or of nobody, so most nodes say the same name each time.
static int worker_to_be(struct life *l, int node)
{
	if (chance(l, 6))
		return NO_ONE;
	return chance(l, 4) ? any_worker(l) : node;
}

static void register_node(struct life *l)
{
	int node = any_node(l), worker = worker_to_be(l, node);
	int machine = chance(l, 3) ? (int)below(l, MACHINES) : 0;
	int64_t cores = 2 << below(l, 2);
	char count[8];
	const struct worker_setting settings[] = {{"vm.machine_id", machine_ids[machine]},
		{"vm.resource." VM_RESOURCE_CORES, count},
		{"vm.resource." VM_RESOURCE_MEMORY, "8192"},
		{"vm.worker", worker == NO_ONE ? "0" : "1"}, {0}};
	struct node_registration result;

	snprintf(count, sizeof count, "%d", (int)cores);
	enum command_outcome outcome = register_worker(&l->c, (uint32_t)node,
		worker == NO_ONE ? "" : worker_names[worker], settings, &result);
	l->model->now_ns = (int64_t)l->c.time.wall_ns;
	assert_int_equal(outcome, model_register(l->model, node, worker, machine, cores));
	l->conflicts += outcome == OUTCOME_CONFLICT;
	if (outcome != OUTCOME_DONE)
		return;
	l->model->nodes[node].slot = result.slot;
	l->model->nodes[node].generation = result.generation;
}

static void change_status(struct life *l)
{
	static const enum command_type types[] = {
		COMMAND_NODE_EXPIRED, COMMAND_NODE_RETURNED, COMMAND_NODE_GOODBYE};
	int node = any_node(l);
	const struct model_node *n = &l->model->nodes[node];
	enum command_type type = types[below(l, 3)];
	uint32_t silent_ms = type == COMMAND_NODE_EXPIRED ? below(l, 60000) : 0;
	struct command command = {.type = type,
		.node = {.slot = n->slot, .generation = n->generation, .silent_ms = silent_ms}};

	if (!n->is_there)
		return;
	assert_int_equal(controller_run(&l->c, &command), OUTCOME_DONE);
	if (type == COMMAND_NODE_RETURNED)
		model_returned(l->model, node);
	else
		model_silent(l->model, node, silent_ms * 1000000ll);
}

static void purge(struct life *l)
{
	int node = any_node(l);
	struct command command = {
		.type = COMMAND_NODE_PURGE, .node_named = {.node = number_uuid((uint32_t)node)}};

	if (!l->model->nodes[node].is_there)
		return;
	assert_int_equal(controller_run(&l->c, &command), OUTCOME_DONE);
	model_purge(l->model, node);
}

static void put_by_hand(struct life *l)
{
	int worker = chance(l, 4) ? any_worker(l) : MODEL_WORKERS - 1;
	int machine = chance(l, 3) ? (int)below(l, MACHINES) : 0;
	int64_t cores = 2 << below(l, 2);
	struct vm_worker *w = build_worker(worker_names[worker], machine_ids[machine], cores);
	struct named_count *memory = map_item(&w->resources, sizeof *memory, VM_RESOURCE_MEMORY);

	memory->count = model_node_total.memory_mb;
	assert_int_equal(put_worker(&l->c, w), model_put_worker(l->model, worker, machine, cores));
}

static void see(struct life *l)
{
	int worker = any_worker(l);
	assert_int_equal(see_worker(&l->c, worker_names[worker]), model_see(l->model, worker));
}

static void pause(struct life *l)
{
	int worker = any_worker(l);
	bool paused = chance(l, 3);
	assert_int_equal(pause_worker(&l->c, worker_names[worker], paused),
		model_pause(l->model, worker, paused));
}

static void forget(struct life *l)
{
	int worker = any_worker(l);
	assert_int_equal(
		delete_worker(&l->c, worker_names[worker]), model_forget_worker(l->model, worker));
}

static int node_at(const struct life *l, uint32_t slot)
{
	for (int i = 0; i < MODEL_NODES; i++)
		if (l->model->nodes[i].is_there && l->model->nodes[i].slot == slot)
			return i;
	return NO_ONE;
}

static void place(struct life *l)
{
	struct command_place result;
	enum command_outcome outcome =
		controller_place(&l->c, "client", "direct", ++l->request, 1, &result);

	if (outcome == OUTCOME_DONE) {
		int node = node_at(l, result.items[0].node_slot);
		assert_true(node != NO_ONE && l->model->nodes[node].is_up);
		assert_true(model_has_room(l->model, node, model_ask));
		assert_true(l->model->placed_count < MODEL_PLACED);
		l->model->placed[l->model->placed_count++] =
			(struct model_placed){result.items[0].allocation, node};
		return;
	}
	assert_int_equal(outcome, OUTCOME_NO_NODE);
	for (int i = 0; i < MODEL_NODES; i++)
		assert_false(l->model->nodes[i].is_up && model_has_room(l->model, i, model_ask));
}

static void release(struct life *l)
{
	if (l->model->placed_count == 0)
		return;
	struct model_placed *p = &l->model->placed[below(l, l->model->placed_count)];
	assert_int_equal(controller_release(&l->c, &p->id, 1, NULL), OUTCOME_DONE);
	p->node = NO_ONE;
}

static int running_of(const struct vm *vm)
{
	const struct vm_condition *c = vm_condition(vm, VM_CONDITION_RUNNING);
	return c ? c->state : NO_ONE;
}

static void expect_vm(const struct life *l, int number)
{
	const struct model_vm *v = &l->model->vms[number];
	const struct vm *vm = state_vm(l->c.state, text_of(vm_names[number]));

	assert_int_equal(vm != NULL, v->is_there);
	if (!vm)
		return;
	assert_int_equal(vm->status, v->status);
	assert_int_equal(vm->power_state, v->power);
	assert_int_equal(vm_is_scheduled(vm), v->is_scheduled);
	assert_int_equal(!uuid_is_zero(&vm->instance), v->is_scheduled);
	struct text worker = text_of(v->worker == NO_ONE ? "" : worker_names[v->worker]);
	assert_true(text_equal(text_of(vm->worker), worker));
	assert_int_equal(running_of(vm), v->running);
	assert_int_equal(vm->restart_count, v->restarts_done);
	assert_int_equal(vm->restarted_at_ns, v->restarted_ns);
	assert_int_equal(vm->generation, v->generation);
	assert_int_equal(vm->observed_generation, v->observed);
	assert_int_equal(vm->holds.cpu_mhz, v->holds_cpu_mhz);
	assert_int_equal(vm->holds.memory_mb, v->holds_memory_mb);
}

static void expect_worker(const struct life *l, int number)
{
	const struct model_worker *w = &l->model->workers[number];
	const struct vm_worker *worker = state_vm_worker(l->c.state, text_of(worker_names[number]));

	assert_int_equal(worker != NULL, w->is_there);
	if (!worker)
		return;
	assert_int_equal(worker->beats, w->beats);
	assert_int_equal(worker->last_seen_ns, w->last_seen_ns);
	assert_int_equal(worker->scheduling_paused, w->paused);
	assert_string_equal(worker->machine_id, machine_ids[w->machine]);
	struct uuid node = w->node == NO_ONE ? (struct uuid){0} : number_uuid((uint32_t)w->node);
	assert_true(uuid_equal(&worker->node, &node));
}

static void expect_node(const struct life *l, int number)
{
	const struct model_node *n = &l->model->nodes[number];
	struct uuid id = number_uuid((uint32_t)number);
	const struct node *node = state_node_by_id(l->c.state, &id);

	assert_int_equal(node != NULL, n->is_there);
	if (!node)
		return;
	struct resources use = model_use(l->model, number);
	struct node_use seen = state_node_use(l->c.state, node->slot);
	assert_int_equal(node->status, n->is_up ? NODE_READY : NODE_DOWN);
	assert_int_equal(seen.used.cpu_mhz, use.cpu_mhz);
	assert_int_equal(seen.used.memory_mb, use.memory_mb);
	assert_int_equal(seen.used.disk_mb, use.disk_mb);
}

static void expect_all(const struct life *l)
{
	state_read_begin();
	for (int i = 0; i < MODEL_VMS; i++)
		expect_vm(l, i);
	for (int i = 0; i < MODEL_WORKERS; i++)
		expect_worker(l, i);
	for (int i = 0; i < MODEL_NODES; i++)
		expect_node(l, i);
	state_read_end();
}

static const struct {
	uint32_t often;
	void (*act)(struct life *);
} actions[] = {
	{20, create},
	{9, delete},
	{4, change_power},
	{60, assign},
	{20, judge},
	{4, report_by_hand},
	{30, hear},
	{8, register_node},
	{8, change_status},
	{1, purge},
	{3, put_by_hand},
	{3, see},
	{3, pause},
	{1, forget},
	{8, place},
	{10, release},
};

static void step(struct life *l)
{
	uint32_t all = 0;

	for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
		all += actions[i].often;
	uint32_t chosen = below(l, all);
	size_t at = 0;
	while (chosen >= actions[at].often)
		chosen -= actions[at++].often;
	advance_ms(&l->c, chance(l, 100) ? below(l, 300000) : below(l, 2000));
	l->model->now_ns = (int64_t)l->c.time.wall_ns;
	actions[at].act(l);
	expect_all(l);
}

static void begin(struct life *l, uint64_t seed)
{
	*l = (struct life){.model = memory_take(sizeof *l->model)};
	prng_seed(&l->prng, seed);
	for (int i = 0; i < MODEL_WORKERS; i++)
		l->model->workers[i].node = NO_ONE;
	for (int i = 0; i < MODEL_VMS; i++)
		l->model->vms[i].holds_node = l->model->vms[i].worker = NO_ONE;
	controller_init(&l->c, (struct state_limits){.vms = 64, .vm_workers = 64});
	controller_open(&l->c);
	count_assigned(&l->c, false); // the model knows what machines ask for
	assert_int_equal(controller_job(&l->c, build_job("direct", &model_ask, 1)), OUTCOME_DONE);
}

static void expect_much(const struct life *l, uint64_t seed)
{
	print_message(
		"seed %lu: %u assigned, %u not, %u failed, %u restarted, %u heard, %u refused\n",
		(unsigned long)seed, l->assigned, l->held_up, l->failed_over, l->restarted,
		l->heard, l->conflicts);
	assert_true(l->assigned > STEPS / 50 && l->held_up > STEPS / 50);
	assert_true(l->failed_over > 5 && l->restarted > 5 && l->heard > STEPS / 100);
	assert_true(l->conflicts > 5);
}

static void machines_are_what_the_rows_say_and_again_after_a_restart(void **unused)
{
	(void)unused;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct life l;

		begin(&l, seed);
		for (uint32_t i = 0; i < STEPS; i++) {
			step(&l);
			if (i % 10 == 0)
				controller_verify(&l.c);
			if (i % 1000 == 999)
				expect_restores(&l.c);
		}
		expect_much(&l, seed);
		controller_free(&l.c);
		free(l.model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(machines_are_what_the_rows_say_and_again_after_a_restart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
