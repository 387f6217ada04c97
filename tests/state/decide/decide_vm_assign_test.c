// What machines hold of the nodes that their workers are: not there for allocations, and the other way round.
#include "tests/state/vms.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

// A node of 4000 MHz and 8192 MB, which the worker "w" has as four cores and all of the memory.
static const struct worker_setting whole[] = {{"vm.resource." VM_RESOURCE_CORES, "4"},
	{"vm.resource." VM_RESOURCE_MEMORY, "8192"}, {"vm.resource.slots", "9"}, {"vm.worker", "1"},
	{0}},
				   none[] = {{0}};

struct world {
	struct controller *c;
	struct node_registration node;
	struct planned_job job;
};

static int setup(void **test)
{
	struct world *w = calloc(1, sizeof *w);

	w->c = controller_with_nodes((struct state_limits){.vms = 8, .vm_workers = 4}, 0);
	assert_int_equal(register_worker(w->c, 7, "w", whole, &w->node), OUTCOME_DONE);
	count_assigned(w->c, false); // machines here say all that they take
	w->job = plan_job(w->c, "web", JOB_SERVICE);
	*test = w;
	return 0;
}

static int teardown(void **test)
{
	struct world *w = *test;

	controller_end(w->c);
	free(w);
	return 0;
}

static struct vm *build(const char *name, int64_t cores, int64_t memory_mib)
{
	struct vm *vm = build_vm(name, cores);
	struct named_count *memory = map_item(&vm->resources, sizeof *memory, VM_RESOURCE_MEMORY);

	memory->count = memory_mib;
	return vm;
}

static void add(struct world *w, const char *name, int64_t cores, int64_t memory_mib)
{
	assert_int_equal(create_vm(w->c, build(name, cores, memory_mib)), OUTCOME_DONE);
	assert_int_equal(assign_vm(w->c, name, "w"), VM_ASSIGNED);
}

static void expect_use(const struct world *w, uint32_t cpu_mhz, uint32_t memory_mb)
{
	struct node_use use = use_of(w->c, w->node.slot);

	assert_int_equal(use.used.cpu_mhz, cpu_mhz);
	assert_int_equal(use.used.memory_mb, memory_mb);
	assert_int_equal(use.used.disk_mb, 0);
}

// A quarter of the node; whether it was committed.
static bool place(struct world *w, uint32_t id)
{
	struct plan *plan = build_plan(&w->job);
	struct plan_result result;

	struct plan_placement *p = plan_place(plan, id, 7, w->node.slot);
	p->generation = w->node.generation;
	p->name_index = id;
	p->resources.disk_mb = 0;
	assert_int_equal(run_plan(w->c, plan, &result), OUTCOME_DONE);
	bool is_placed = result.placements_committed == 1;
	plan_result_release(&result);
	return is_placed;
}

static void what_a_machine_holds_is_not_placed(void **test)
{
	struct world *w = *test;

	add(w, "a", 3, 5000);
	expect_use(w, 3000, 5000);
	assert_true(place(w, 1));
	expect_use(w, 4000, 7048);
	assert_int_equal(use_of(w->c, w->node.slot).machines.cpu_mhz, 3000);
	assert_int_equal(use_of(w->c, w->node.slot).machines.memory_mb, 5000);
	assert_false(place(w, 2)); // no cpu is left
	assert_int_equal(delete_vm(w->c, "a"), OUTCOME_DONE);
	expect_use(w, 1000, 2048);
	assert_true(place(w, 2));
	assert_true(place(w, 3));
	assert_true(place(w, 4));
	assert_false(place(w, 5));
}

static void clients_get_what_is_left(void **test)
{
	static const struct resources half = {2000, 2000, 10};
	struct world *w = *test;
	struct command_place result;

	assert_int_equal(controller_job(w->c, build_job("direct", &half, 1)), OUTCOME_DONE);
	add(w, "a", 1, 1000);
	assert_int_equal(controller_place(w->c, "client", "direct", 1, 1, &result), OUTCOME_DONE);
	assert_int_equal(
		controller_place(w->c, "client", "direct", 2, 1, &result), OUTCOME_NO_NODE);
	assert_int_equal(delete_vm(w->c, "a"), OUTCOME_DONE);
	assert_int_equal(controller_place(w->c, "client", "direct", 3, 1, &result), OUTCOME_DONE);
}

static void what_allocations_hold_is_not_given_to_machines(void **test)
{
	struct world *w = *test;

	assert_true(place(w, 1));
	assert_true(place(w, 2));
	assert_int_equal(create_vm(w->c, build("cores", 3, 0)), OUTCOME_DONE);
	assert_int_equal(create_vm(w->c, build("memory", 0, 4097)), OUTCOME_DONE);
	assert_int_equal(assign_vm(w->c, "cores", "w"), VM_WORKER_SKIPPED);
	assert_int_equal(assign_vm(w->c, "memory", "w"), VM_WORKER_SKIPPED);
	add(w, "fits", 2, 4096);
	expect_use(w, 4000, 8192);
	struct plan *plan = build_plan(&w->job);
	plan_stop(plan, 1, STOP_NOT_NEEDED)->slot = w->node.slot;
	commit_plan(w->c, plan);
	expect_use(w, 4000, 8192);
	assert_int_equal(assign_vm(w->c, "memory", "w"), VM_WORKER_SKIPPED);
	assert_int_equal(
		report_status(w->c, w->node.slot, w->node.generation, 1, 1, ALLOC_COMPLETE, NULL),
		OUTCOME_DONE);
	expect_use(w, 3000, 6144);
	assert_int_equal(assign_vm(w->c, "cores", "w"), VM_WORKER_SKIPPED);
}

static void one_that_asks_for_neither_holds_nothing(void **test)
{
	struct world *w = *test;
	struct vm *vm = vm_create();
	struct named_count *slots = map_item(&vm->resources, sizeof *slots, "slots");

	slots->count = 9;
	vm->name = strdup("a");
	vm->image = strdup("image");
	vm->cpu = 4;
	assert_int_equal(create_vm(w->c, vm), OUTCOME_DONE);
	assert_int_equal(assign_vm(w->c, "a", "w"), VM_ASSIGNED);
	expect_use(w, 0, 0);
}

static void it_holds_until_its_worker_is_free_of_it(void **test)
{
	struct world *w = *test;

	add(w, "a", 2, 1024);
	struct command silent = {
		.type = COMMAND_NODE_EXPIRED, .node = {w->node.slot, w->node.generation, false, 0}};
	assert_int_equal(controller_run(w->c, &silent), OUTCOME_DONE);
	expect_use(w, 2000, 1024);
	advance_ms(w->c, 3 * 60 * 1000 + 1);
	assert_int_equal(judge_vm(w->c, "a"), 1); // lost
	expect_use(w, 2000, 1024);
	assert_int_equal(judge_vm(w->c, "a"), 1); // and free
	expect_use(w, 0, 0);
}

// What runs goes on, though it is more than there is.
static void a_node_may_come_back_with_less(void **test)
{
	struct world *w = *test;
	struct node_registration *node = calloc(1, sizeof *node);

	add(w, "a", 4, 8192);
	advance_ms(w->c, 1);
	build_node(node, 7, (uint64_t)controller_now_ms(w->c));
	node->total = (struct resources){2000, 4096, 100000};
	node->name = TEXT("w");
	for (const struct worker_setting *s = whole; s->name; s++)
		node->pairs[node->pair_count++] =
			(struct node_pair){PAIR_SETTING, text_of(s->name), text_of(s->value)};
	struct command command = {.type = COMMAND_NODE_REGISTER, .node_register = node};
	assert_int_equal(controller_run(w->c, &command), OUTCOME_DONE);
	free(node);
	expect_use(w, 4000, 8192);
	assert_false(place(w, 1));
	controller_verify(w->c);
	assert_int_equal(delete_vm(w->c, "a"), OUTCOME_DONE);
	expect_use(w, 0, 0);
}

static void a_worker_that_leaves_its_node_gives_all_back(void **test)
{
	struct world *w = *test;

	add(w, "a", 2, 1024);
	assert_int_equal(register_worker(w->c, 7, "w", none, NULL), OUTCOME_DONE);
	expect_use(w, 0, 0);
	struct vm *vm = published_vm(w->c, "a");
	assert_true(vm_is_scheduled(vm));
	vm_free(vm);
}

static void so_does_one_that_is_deleted(void **test)
{
	struct world *w = *test;

	add(w, "a", 2, 1024);
	add(w, "nothing", 0, 0);
	struct vm *before = published_vm(w->c, "nothing");
	assert_int_equal(delete_worker(w->c, "w"), OUTCOME_DONE);
	expect_use(w, 0, 0);
	struct vm *after = published_vm(w->c, "nothing");
	assert_int_equal(after->record.modify_index, before->record.modify_index);
	vm_free(before);
	vm_free(after);
}

static void cores_are_those_that_the_node_says(void **test)
{
	struct world *w = *test;
	const struct worker_setting many[] = {
		{"vm.resource." VM_RESOURCE_CORES, "64"}, {"vm.worker", "1"}, {0}};
	const struct worker_setting said[] = {{"cpu.numcores", "8"},
		{"vm.resource." VM_RESOURCE_CORES, "64"}, {"vm.worker", "1"}, {0}};

	assert_int_equal(register_worker(w->c, 7, "w", many, NULL), OUTCOME_DONE);
	assert_int_equal(create_vm(w->c, build_vm("a", 16)), OUTCOME_DONE);
	assert_int_equal(assign_vm(w->c, "a", "w"), VM_ASSIGNED);
	expect_use(w, 1000, 0); // 16 of 64
	assert_int_equal(delete_vm(w->c, "a"), OUTCOME_DONE);
	assert_int_equal(register_worker(w->c, 7, "w", said, NULL), OUTCOME_DONE);
	assert_int_equal(create_vm(w->c, build_vm("b", 2)), OUTCOME_DONE);
	assert_int_equal(assign_vm(w->c, "b", "w"), VM_ASSIGNED);
	expect_use(w, 1000, 0); // 2 of 8
}

static uint32_t told;

static void count_told(void *context, uint32_t slot)
{
	(void)context;
	(void)slot;
	told++;
}

static void placement_is_told(void **test)
{
	struct controller c;

	(void)test;
	controller_init(&c, (struct state_limits){0});
	c.placer.node_changed = count_told;
	controller_seed(&c, 1); // with that placer
	controller_open(&c);
	count_assigned(&c, false);
	assert_int_equal(register_worker(&c, 7, "w", whole, NULL), OUTCOME_DONE);
	assert_int_equal(create_vm(&c, build("a", 1, 0)), OUTCOME_DONE);
	uint32_t before = told;
	assert_int_equal(assign_vm(&c, "a", "w"), VM_ASSIGNED);
	assert_int_equal(told, before + 1);
	assert_int_equal(delete_vm(&c, "a"), OUTCOME_DONE);
	assert_int_equal(told, before + 2);
	controller_free(&c);
}

static void add_many(struct controller *c, uint32_t from, uint32_t count)
{
	static char names[VM_ASSIGN_MAX][16], uids[VM_ASSIGN_MAX][UUID_TEXT_BYTES];
	static struct vm_assign_item items[VM_ASSIGN_MAX];
	uint64_t index = worker_index(c, "w");

	for (uint32_t i = 0; i < count; i++) {
		snprintf(names[i], sizeof names[i], "vm%u", from + i);
		assert_int_equal(create_vm(c, build_vm(names[i], 0)), OUTCOME_DONE);
		state_read_begin();
		snprintf(uids[i], sizeof uids[i], "%s", state_vm(c->state, text_of(names[i]))->uid);
		state_read_end();
		items[i] = (struct vm_assign_item){
			text_of(names[i]), text_of(uids[i]), TEXT("w"), index, 0};
	}
	struct command command = {
		.type = COMMAND_VM_ASSIGN, .vm_assign = {.items = items, .count = count}};
	assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
	assert_int_equal(command.vm_assign.assigned, count);
}

static void there_is_an_end_of_machines_on_one_worker(void **test)
{
	struct controller *c = controller_with_nodes(
		(struct state_limits){.vms = WORKER_VMS_MAX + 1, .vm_workers = 4}, 0);

	(void)test;
	count_assigned(c, false);
	assert_int_equal(put_worker(c, build_worker("w", "m", 0)), OUTCOME_DONE);
	for (uint32_t from = 0; from < WORKER_VMS_MAX; from += VM_ASSIGN_MAX)
		add_many(c, from,
			WORKER_VMS_MAX - from < VM_ASSIGN_MAX ? WORKER_VMS_MAX - from
							      : VM_ASSIGN_MAX);
	assert_int_equal(create_vm(c, build_vm("one-more", 0)), OUTCOME_DONE);
	assert_int_equal(assign_vm(c, "one-more", "w"), VM_WORKER_SKIPPED);
	assert_int_equal(delete_vm(c, "vm7"), OUTCOME_DONE);
	assert_int_equal(assign_vm(c, "one-more", "w"), VM_ASSIGNED);
	controller_verify(c);
	controller_free(c);
	free(c);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(what_a_machine_holds_is_not_placed),
		TEST(clients_get_what_is_left),
		TEST(what_allocations_hold_is_not_given_to_machines),
		TEST(one_that_asks_for_neither_holds_nothing),
		TEST(it_holds_until_its_worker_is_free_of_it),
		TEST(a_node_may_come_back_with_less),
		TEST(a_worker_that_leaves_its_node_gives_all_back),
		TEST(so_does_one_that_is_deleted),
		TEST(cores_are_those_that_the_node_says),
		cmocka_unit_test(placement_is_told),
		cmocka_unit_test(there_is_an_end_of_machines_on_one_worker),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
