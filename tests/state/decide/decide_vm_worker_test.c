// Nodes that are workers of virtual machines: made and renewed by their registrations, heard as their nodes are.
#include "state/records/alloc_details.h"
#include "state/records/allocation.h"
#include "tests/state/vms.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static int setup(void **test)
{
	*test = controller_with_nodes((struct state_limits){.vms = 8, .vm_workers = 4}, 0);
	return 0;
}

static int teardown(void **test)
{
	controller_end(*test);
	return 0;
}

static const struct worker_setting plain[] = {{"vm.worker", "1"}, {0}}, none[] = {{0}};

static enum command_outcome tell(
	struct controller *c, enum command_type type, const struct node_registration *n)
{
	return controller_node(c, type, n->slot, n->generation);
}

static void a_node_that_says_so_becomes_a_worker(void **test)
{
	struct controller *c = *test;
	const struct worker_setting settings[] = {{"vm.arch", "arm64"}, {"vm.default_cpu", "2"},
		{"vm.default_memory", "4096"}, {"vm.label.site", "north"}, {"vm.machine_id", "m7"},
		{"vm.resource." VM_RESOURCE_CORES, "8"}, {"vm.resource.slots", "0"},
		{"vm.runtime", "qemu"}, {"vm.worker", "1"}, {0}};

	assert_int_equal(register_worker(c, 1, "rack-1", settings, NULL), OUTCOME_DONE);
	struct vm_worker *w = published_worker(c, "rack-1");
	assert_non_null(w);
	assert_string_equal(w->machine_id, "m7");
	assert_string_equal(w->arch, "arm64");
	assert_string_equal(w->runtime, "qemu");
	assert_int_equal(w->default_cpu, 2);
	assert_int_equal(w->default_memory_mib, 4096);
	assert_string_equal(map_get(&w->labels, "site"), "north");
	assert_int_equal(w->labels.count, 1);
	assert_int_equal(w->resources.count, 2);
	assert_int_equal(ARRAY_AT(&w->resources, struct named_count, 0)->count, 8);
	assert_int_equal(ARRAY_AT(&w->resources, struct named_count, 1)->count, 0);
	assert_true(w->beats);
	assert_int_equal(w->last_seen_ns, c->time.wall_ns);
	struct uuid id = number_uuid(1);
	assert_true(uuid_equal(&w->node, &id));
	state_read_begin();
	const struct vm_worker *of_node = state_vm_worker_of_node(c->state, &id);
	assert_string_equal(of_node ? of_node->name : "", "rack-1");
	state_read_end();
	vm_worker_free(w);
}

static void without_a_machine_id_it_is_its_node(void **test)
{
	struct controller *c = *test;
	struct uuid id = number_uuid(1);
	char text[UUID_TEXT_BYTES];

	assert_int_equal(register_worker(c, 1, "a", plain, NULL), OUTCOME_DONE);
	struct vm_worker *w = published_worker(c, "a");
	assert_string_equal(w->machine_id, uuid_format(&id, text));
	vm_worker_free(w);
}

static void others_do_not(void **test)
{
	struct controller *c = *test;
	const struct worker_setting no[] = {{"vm.label.a", "b"}, {"vm.worker", "0"}, {0}};

	assert_int_equal(register_worker(c, 1, "a", no, NULL), OUTCOME_DONE);
	assert_int_equal(register_worker(c, 2, "b", none, NULL), OUTCOME_DONE);
	assert_int_equal(worker_index(c, "a"), 0);
	assert_int_equal(worker_index(c, "b"), 0);
}

static void what_is_not_of_the_form_is_refused(void **test)
{
	struct controller *c = *test;
	const struct {
		const char *name, *value;
	} wrong[] = {{"vm.worker", "yes"}, {"vm.worker", ""}, {"vm.cores", "4"},
		{"vm.resource.", "1"}, {"vm.resource.a", ""}, {"vm.resource.a", "-1"},
		{"vm.resource.a", "1.5"}, {"vm.resource.a", "1000000000000000000"},
		{"vm.label.", "x"}, {"vm.default_cpu", "many"},
		{"vm.default_memory", "4294967296"}};

	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		const struct worker_setting settings[] = {{wrong[i].name, wrong[i].value}, {0}};
		assert_int_equal(
			register_worker(c, 1, "a", settings, NULL), OUTCOME_BAD_DESCRIPTION);
	}
	assert_int_equal(register_worker(c, 1, "", plain, NULL), OUTCOME_BAD_DESCRIPTION);
	const struct worker_setting most[] = {
		{"vm.resource.a", "999999999999999999"}, {"vm.worker", "1"}, {0}};
	assert_int_equal(register_worker(c, 1, "a", most, NULL), OUTCOME_DONE);
}

// So many settings of a prefix, and that it is a worker.
static enum command_outcome register_many(struct controller *c, const char *prefix, uint32_t count)
{
	static char names[70][32];
	struct worker_setting settings[72] = {{"vm.worker", "1"}};

	for (uint32_t i = 0; i < count; i++) {
		snprintf(names[i], sizeof names[i], "%s%u", prefix, i);
		settings[1 + i] = (struct worker_setting){names[i], "7"};
	}
	return register_worker(c, 1, "a", settings, NULL);
}

static void what_is_too_much_is_refused(void **test)
{
	struct controller *c = *test;

	assert_int_equal(register_many(c, "vm.resource.", VM_RESOURCES_MAX), OUTCOME_DONE);
	assert_int_equal(
		register_many(c, "vm.resource.", VM_RESOURCES_MAX + 1), OUTCOME_BAD_DESCRIPTION);
	assert_int_equal(register_many(c, "vm.label.", VM_LABELS_MAX), OUTCOME_DONE);
	assert_int_equal(register_many(c, "vm.label.", VM_LABELS_MAX + 1), OUTCOME_BAD_DESCRIPTION);
	struct vm_worker *w = published_worker(c, "a");
	assert_int_equal(w->labels.count, VM_LABELS_MAX);
	vm_worker_free(w);
}

static uint64_t worker_claims(const struct controller *c)
{
	return atomic_load(&applier_counters(c->applier)->worker_claims);
}

static void another_machine_under_a_known_name_is_refused(void **test)
{
	struct controller *c = *test;
	const struct worker_setting m1[] = {{"vm.machine_id", "m1"}, {"vm.worker", "1"}, {0}};
	const struct worker_setting m2[] = {{"vm.machine_id", "m2"}, {"vm.worker", "1"}, {0}};
	struct node_registration n;

	assert_int_equal(register_worker(c, 1, "a", m1, NULL), OUTCOME_DONE);
	uint64_t index = state_index(c->state);
	assert_int_equal(register_worker(c, 2, "a", m2, &n), OUTCOME_CONFLICT);
	assert_int_equal(state_index(c->state), index); // nor is the node registered
	assert_int_equal(register_worker(c, 1, "a", m2, &n), OUTCOME_CONFLICT);
	assert_int_equal(worker_claims(c), 2);
}

static void expect_node(const struct controller *c, const char *worker, uint32_t number)
{
	struct vm_worker *w = published_worker(c, worker);
	struct uuid node = number ? number_uuid(number) : (struct uuid){0};

	assert_true(uuid_equal(&w->node, &node));
	vm_worker_free(w);
}

// Whoever has a key of any node may say any machine id: it speaks for its own uuid alone.
static void another_node_gets_no_worker_by_naming_its_machine(void **test)
{
	struct controller *c = *test;
	const struct worker_setting m1[] = {{"vm.machine_id", "m1"}, {"vm.worker", "1"}, {0}};

	assert_int_equal(register_worker(c, 1, "a", m1, NULL), OUTCOME_DONE);
	assert_int_equal(create_vm(c, build_vm("vm", 0)), OUTCOME_DONE);
	assert_int_equal(assign_vm(c, "vm", "a"), VM_ASSIGNED);
	uint64_t index = state_index(c->state);
	assert_int_equal(register_worker(c, 2, "a", m1, NULL), OUTCOME_CONFLICT);
	assert_int_equal(state_index(c->state), index);
	assert_int_equal(worker_claims(c), 1);
	expect_node(c, "a", 1);
	// Nor while the node is another worker, or none.
	assert_int_equal(register_worker(c, 1, "b", m1, NULL), OUTCOME_DONE);
	expect_node(c, "a", 0);
	assert_int_equal(register_worker(c, 2, "a", m1, NULL), OUTCOME_CONFLICT);
	assert_int_equal(worker_claims(c), 2);
	assert_int_equal(register_worker(c, 1, "a", m1, NULL), OUTCOME_DONE);
	expect_node(c, "a", 1);
	// Whoever keeps it by hand too changes nothing of that.
	assert_int_equal(put_worker(c, build_worker("a", "m1", 3)), OUTCOME_DONE);
	assert_int_equal(register_worker(c, 2, "a", m1, NULL), OUTCOME_CONFLICT);
	assert_int_equal(register_worker(c, 1, "a", m1, NULL), OUTCOME_DONE);
}

static void a_node_gets_no_worker_that_is_kept_by_hand(void **test)
{
	struct controller *c = *test;
	const struct worker_setting m1[] = {{"vm.machine_id", "m1"}, {"vm.worker", "1"}, {0}};

	assert_int_equal(put_worker(c, build_worker("a", "m1", 3)), OUTCOME_DONE);
	assert_int_equal(register_worker(c, 1, "a", m1, NULL), OUTCOME_CONFLICT);
	assert_int_equal(worker_claims(c), 1);
	assert_int_equal(delete_worker(c, "a"), OUTCOME_DONE);
	assert_int_equal(register_worker(c, 1, "a", m1, NULL), OUTCOME_DONE);
}

// Its state directory is new, so it is another node: an operator says that the former one is no more.
static void a_machine_that_was_set_up_anew_waits_for_an_operator(void **test)
{
	struct controller *c = *test;
	const struct worker_setting m1[] = {{"vm.machine_id", "m1"}, {"vm.worker", "1"}, {0}};
	struct command purge = {.type = COMMAND_NODE_PURGE, .node_named = {.node = number_uuid(1)}};

	assert_int_equal(register_worker(c, 1, "a", m1, NULL), OUTCOME_DONE);
	assert_int_equal(register_worker(c, 2, "a", m1, NULL), OUTCOME_CONFLICT);
	assert_int_equal(controller_run(c, &purge), OUTCOME_DONE);
	assert_int_equal(register_worker(c, 2, "a", m1, NULL), OUTCOME_DONE);
	expect_node(c, "a", 2);
	assert_int_equal(register_worker(c, 3, "a", m1, NULL), OUTCOME_CONFLICT);
	assert_int_equal(delete_worker(c, "a"), OUTCOME_DONE);
	assert_int_equal(register_worker(c, 3, "a", m1, NULL), OUTCOME_DONE);
	expect_node(c, "a", 3);
	assert_int_equal(register_worker(c, 2, "a", m1, NULL), OUTCOME_CONFLICT);
}

static void there_is_an_end_of_room(void **test)
{
	struct controller *c = *test;
	const char *names[] = {"a", "b", "c", "d"};

	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(register_worker(c, 1 + i, names[i], plain, NULL), OUTCOME_DONE);
	assert_int_equal(register_worker(c, 5, "e", plain, NULL), OUTCOME_TABLE_FULL);
	assert_int_equal(register_worker(c, 1, "a", plain, NULL), OUTCOME_DONE);
}

static void a_pause_outlives_registrations(void **test)
{
	struct controller *c = *test;
	const struct worker_setting more[] = {{"vm.label.a", "b"}, {"vm.worker", "1"}, {0}};

	assert_int_equal(register_worker(c, 1, "a", plain, NULL), OUTCOME_DONE);
	uint64_t began_ns = c->time.wall_ns;
	assert_int_equal(pause_worker(c, "a", true), OUTCOME_DONE);
	uint64_t index = worker_index(c, "a");
	assert_int_equal(register_worker(c, 1, "a", plain, NULL), OUTCOME_DONE);
	assert_int_equal(worker_index(c, "a"), index); // nothing is new
	assert_int_equal(register_worker(c, 1, "a", more, NULL), OUTCOME_DONE);
	struct vm_worker *w = published_worker(c, "a");
	assert_true(w->scheduling_paused);
	assert_int_equal(w->labels.count, 1);
	assert_int_equal(w->last_seen_ns, began_ns);
	vm_worker_free(w);
}

static void a_node_of_another_name_leaves_its_worker(void **test)
{
	struct controller *c = *test;

	assert_int_equal(register_worker(c, 1, "a", plain, NULL), OUTCOME_DONE);
	advance_ms(c, 1000);
	assert_int_equal(register_worker(c, 1, "b", plain, NULL), OUTCOME_DONE);
	struct vm_worker *a = published_worker(c, "a"), *b = published_worker(c, "b");
	assert_false(a->beats);
	assert_true(uuid_is_zero(&a->node));
	assert_int_equal(a->last_seen_ns, c->time.wall_ns);
	assert_true(b->beats);
	vm_worker_free(a);
	vm_worker_free(b);
	assert_int_equal(register_worker(c, 1, "b", none, NULL), OUTCOME_DONE);
	b = published_worker(c, "b");
	assert_false(b->beats);
	assert_true(uuid_is_zero(&b->node));
	vm_worker_free(b);
}

static void expect_heard(const struct controller *c, bool beats, uint64_t last_seen_ns)
{
	struct vm_worker *w = published_worker(c, "a");

	assert_int_equal(w->beats, beats);
	assert_int_equal(w->last_seen_ns, last_seen_ns);
	vm_worker_free(w);
}

static void it_beats_as_long_as_its_node_does(void **test)
{
	struct controller *c = *test;
	struct node_registration n;

	assert_int_equal(register_worker(c, 1, "a", plain, &n), OUTCOME_DONE);
	advance_ms(c, 60000);
	struct command silent = {.type = COMMAND_NODE_EXPIRED,
		.node = {.slot = n.slot, .generation = n.generation, .silent_ms = 30000}};
	assert_int_equal(controller_run(c, &silent), OUTCOME_DONE);
	expect_heard(c, false, c->time.wall_ns - 30000000000);
	advance_ms(c, 1000);
	assert_int_equal(tell(c, COMMAND_NODE_RETURNED, &n), OUTCOME_DONE);
	expect_heard(c, true, c->time.wall_ns);
	advance_ms(c, 1000);
	assert_int_equal(tell(c, COMMAND_NODE_GOODBYE, &n), OUTCOME_DONE);
	expect_heard(c, false, c->time.wall_ns);
	advance_ms(c, 1000);
	assert_int_equal(register_worker(c, 1, "a", plain, NULL), OUTCOME_DONE);
	expect_heard(c, true, c->time.wall_ns);
}

static uint8_t status_of(const struct controller *c, const struct node_registration *n)
{
	state_read_begin();
	uint8_t status = state_node_by_id(c->state, &n->node)->status;
	state_read_end();
	return status;
}

// Whoever chose it before need not look at it again.
static void one_that_was_away_is_what_it_was(void **test)
{
	struct controller *c = *test;
	struct node_registration n;

	assert_int_equal(register_worker(c, 1, "a", plain, &n), OUTCOME_DONE);
	assert_int_equal(create_vm(c, build_vm("vm", 0)), OUTCOME_DONE);
	uint64_t chosen_by = worker_index(c, "a");
	assert_int_equal(tell(c, COMMAND_NODE_GOODBYE, &n), OUTCOME_DONE);
	assert_int_equal(register_worker(c, 1, "a", plain, NULL), OUTCOME_DONE);
	assert_true(worker_index(c, "a") > chosen_by);
	assert_int_equal(assign_chosen(c, "vm", "a", chosen_by), VM_ASSIGNED);
}

static void it_goes_with_its_node(void **test)
{
	struct controller *c = *test;
	struct command purge = {.type = COMMAND_NODE_PURGE, .node_named = {.node = number_uuid(1)}};

	assert_int_equal(register_worker(c, 1, "a", plain, NULL), OUTCOME_DONE);
	assert_int_equal(create_vm(c, build_vm("vm", 0)), OUTCOME_DONE);
	assert_int_equal(assign_vm(c, "vm", "a"), VM_ASSIGNED);
	assert_int_equal(controller_run(c, &purge), OUTCOME_DONE);
	assert_int_equal(worker_index(c, "a"), 0);
	assert_int_equal(judge_vm(c, "vm"), 1);
	struct vm *vm = published_vm(c, "vm");
	assert_string_equal(vm->status_message, VM_TEXT_WORKER_GONE);
	vm_free(vm);
}

static void its_node_is_told_at_once(void **test)
{
	struct controller *c = *test;
	struct node_registration n;

	assert_int_equal(register_worker(c, 1, "a", plain, &n), OUTCOME_DONE);
	assert_int_equal(create_vm(c, build_vm("vm", 0)), OUTCOME_DONE);
	uint64_t before = alloc_index_of(c, n.slot);
	assert_int_equal(assign_vm(c, "vm", "a"), VM_ASSIGNED);
	assert_int_equal(alloc_index_of(c, n.slot), state_index(c->state));
	assert_true(alloc_index_of(c, n.slot) > before);
	before = alloc_index_of(c, n.slot);
	assert_int_equal(set_power(c, "vm", VM_POWER_STOPPED), OUTCOME_DONE);
	assert_true(alloc_index_of(c, n.slot) > before);
	before = alloc_index_of(c, n.slot);
	assert_int_equal(delete_vm(c, "vm"), OUTCOME_DONE);
	assert_true(alloc_index_of(c, n.slot) > before);
}

// Whoever takes over tells it again, also one that knows the machines from a snapshot alone.
static void a_successor_tells_it_again(void **test)
{
	struct controller *c = *test, next;
	struct node_registration n;

	assert_int_equal(register_worker(c, 1, "a", plain, &n), OUTCOME_DONE);
	assert_int_equal(create_vm(c, build_vm("vm", 0)), OUTCOME_DONE);
	assert_int_equal(assign_vm(c, "vm", "a"), VM_ASSIGNED);
	struct bytes_writer image = controller_image(c);
	controller_init(&next, (struct state_limits){.vms = 8, .vm_workers = 4});
	assert_int_equal(controller_load(&next, &image), 0);
	controller_open(&next);
	assert_int_equal(alloc_index_of(&next, n.slot), alloc_index_of(c, n.slot));
	bytes_writer_free(&image);
	controller_free(&next);
}

struct machine {
	struct node_registration node;
	struct uuid instance;
};

// "vm" on worker "a", which is node 1.
static void open_machine(struct controller *c, struct machine *m)
{
	assert_int_equal(register_worker(c, 1, "a", plain, &m->node), OUTCOME_DONE);
	assert_int_equal(create_vm(c, build_vm("vm", 0)), OUTCOME_DONE);
	assert_int_equal(assign_vm(c, "vm", "a"), VM_ASSIGNED);
	struct vm *vm = published_vm(c, "vm");
	m->instance = vm->instance;
	vm_free(vm);
}

static enum command_outcome say(struct controller *c, const struct machine *m, uint64_t sequence,
	enum alloc_client status, const char *why, bool *known)
{
	struct alloc_update_item item = {
		.allocation = m->instance, .client_status = (uint8_t)status};
	struct command_alloc_update update = {.slot = m->node.slot,
		.generation = m->node.generation,
		.sequence = sequence,
		.count = 1,
		.items = &item};
	struct command command = {.type = COMMAND_ALLOC_UPDATE, .alloc_update = &update};

	if (why) {
		item.report = alloc_report_create();
		item.report->client_description = text_copy(text_of(why));
		item.report = alloc_report_pack(item.report); // as those of nodes are
	}
	enum command_outcome outcome = controller_run(c, &command);
	if (item.report)
		alloc_report_release(item.report);
	*known = item.known;
	return outcome;
}

static bool runs(const struct vm *vm)
{
	const struct vm_condition *c = vm_condition(vm, VM_CONDITION_RUNNING);
	return c && c->state;
}

static void a_machine_that_its_node_runs_is_running(void **test)
{
	struct controller *c = *test;
	struct machine m;
	bool known;

	open_machine(c, &m);
	assert_int_equal(say(c, &m, 1, ALLOC_PENDING, NULL, &known), OUTCOME_DONE);
	assert_true(known);
	struct vm *vm = published_vm(c, "vm");
	assert_int_equal(vm->status, VM_PENDING);
	assert_false(runs(vm));
	vm_free(vm);
	assert_int_equal(say(c, &m, 2, ALLOC_RUNNING, "up", &known), OUTCOME_DONE);
	vm = published_vm(c, "vm");
	assert_int_equal(vm->status, VM_RUNNING);
	assert_int_equal(vm->started_at_ns, c->time.wall_ns);
	assert_true(runs(vm));
	uint64_t index = vm->record.modify_index;
	vm_free(vm);
	// Said again, and once more by a frame that came twice.
	assert_int_equal(say(c, &m, 3, ALLOC_RUNNING, "up", &known), OUTCOME_DONE);
	assert_int_equal(say(c, &m, 3, ALLOC_FAILED, "old", &known), OUTCOME_DONE);
	assert_true(known);
	vm = published_vm(c, "vm");
	assert_int_equal(vm->status, VM_RUNNING);
	assert_int_equal(vm->record.modify_index, index);
	vm_free(vm);
}

static void one_that_ends_by_itself_failed(void **test)
{
	struct controller *c = *test;
	struct machine m;
	bool known;

	open_machine(c, &m);
	assert_int_equal(say(c, &m, 1, ALLOC_RUNNING, NULL, &known), OUTCOME_DONE);
	assert_int_equal(say(c, &m, 2, ALLOC_FAILED, "no image", &known), OUTCOME_DONE);
	struct vm *vm = published_vm(c, "vm");
	assert_int_equal(vm->status, VM_FAILED);
	assert_string_equal(vm->status_message, "no image");
	uint64_t index = vm->record.modify_index;
	vm_free(vm);
	assert_int_equal(say(c, &m, 3, ALLOC_FAILED, "again", &known), OUTCOME_DONE);
	vm = published_vm(c, "vm");
	assert_int_equal(vm->record.modify_index, index);
	vm_free(vm);
	assert_int_equal(say(c, &m, 4, ALLOC_RUNNING, NULL, &known), OUTCOME_DONE);
	vm = published_vm(c, "vm");
	assert_int_equal(vm->status, VM_FAILED);
	assert_int_equal(vm->record.modify_index, index);
	vm_free(vm);
	assert_int_equal(judge_vm(c, "vm"), 1);
	assert_int_equal(say(c, &m, 5, ALLOC_RUNNING, NULL, &known), OUTCOME_DONE);
	assert_false(known); // it has to run it no more
	vm = published_vm(c, "vm");
	assert_false(vm_is_scheduled(vm));
	assert_int_equal(vm->status, VM_FAILED);
	vm_free(vm);
}

static void one_without_a_word_ended(void **test)
{
	struct controller *c = *test;
	struct machine m;
	bool known;

	open_machine(c, &m);
	assert_int_equal(say(c, &m, 1, ALLOC_COMPLETE, NULL, &known), OUTCOME_DONE);
	struct vm *vm = published_vm(c, "vm");
	assert_int_equal(vm->status, VM_FAILED);
	assert_string_equal(vm->status_message, VM_TEXT_ENDED);
	vm_free(vm);
}

static void one_that_was_to_stop_comes_to_rest(void **test)
{
	struct controller *c = *test;
	struct machine m;
	bool known;

	open_machine(c, &m);
	assert_int_equal(say(c, &m, 1, ALLOC_RUNNING, NULL, &known), OUTCOME_DONE);
	assert_int_equal(set_power(c, "vm", VM_POWER_STOPPED), OUTCOME_DONE);
	assert_int_equal(say(c, &m, 2, ALLOC_RUNNING, NULL, &known), OUTCOME_DONE);
	struct vm *vm = published_vm(c, "vm");
	assert_true(vm->observed_generation < vm->generation); // it has not heard of it
	vm_free(vm);
	assert_int_equal(judge_vm(c, "vm"), 0);
	assert_int_equal(say(c, &m, 3, ALLOC_FAILED, "killed", &known), OUTCOME_DONE);
	vm = published_vm(c, "vm");
	assert_int_equal(vm->status, VM_RUNNING);
	assert_string_equal(vm->status_message, "killed");
	assert_false(runs(vm));
	assert_int_equal(vm->observed_generation, vm->generation);
	vm_free(vm);
	assert_int_equal(judge_vm(c, "vm"), 1);
	vm = published_vm(c, "vm");
	assert_false(vm_is_scheduled(vm));
	vm_free(vm);
}

static void nobody_speaks_for_others(void **test)
{
	struct controller *c = *test;
	struct machine m, other;
	bool known;

	open_machine(c, &m);
	assert_int_equal(register_worker(c, 2, "b", plain, &other.node), OUTCOME_DONE);
	other.instance = m.instance;
	assert_int_equal(say(c, &other, 1, ALLOC_FAILED, "mine", &known), OUTCOME_DONE);
	assert_false(known);
	assert_int_equal(register_worker(c, 1, "a", none, &m.node), OUTCOME_DONE);
	assert_int_equal(say(c, &m, 1, ALLOC_FAILED, "no worker", &known), OUTCOME_DONE);
	assert_false(known);
	struct vm *vm = published_vm(c, "vm");
	assert_int_equal(vm->status, VM_PENDING);
	vm_free(vm);
}

// It is heard again, but what is known of its allocations is old, whatever it tells of its machine.
static void it_beats_before_it_is_ready_again(void **test)
{
	struct controller *c = *test;
	struct job *job = build_scheduled_job("web", JOB_SERVICE);
	struct command_job_register result = {0};
	struct machine m;
	bool known;

	ARRAY_AT(&job->task_groups, struct task_group, 0)->max_client_disconnect_ns =
		(struct optional_i64){true, 1000000000000};
	open_machine(c, &m);
	assert_int_equal(register_job(c, job, &result), OUTCOME_DONE);
	assert_int_equal(place_one(c, &result.made.id, "web", &m.node, 1), OUTCOME_DONE);
	assert_int_equal(tell(c, COMMAND_NODE_EXPIRED, &m.node), OUTCOME_DONE);
	assert_int_equal(status_of(c, &m.node), NODE_DISCONNECTED);
	expect_heard(c, false, c->time.wall_ns);
	advance_ms(c, 1000);
	assert_int_equal(tell(c, COMMAND_NODE_RETURNED, &m.node), OUTCOME_DONE);
	assert_int_equal(status_of(c, &m.node), NODE_INITIALIZING);
	expect_heard(c, true, c->time.wall_ns);
	assert_int_equal(say(c, &m, 1, ALLOC_RUNNING, NULL, &known), OUTCOME_DONE);
	assert_true(known);
	assert_int_equal(status_of(c, &m.node), NODE_INITIALIZING);
	assert_int_equal(say(c, &m, 2, ALLOC_RUNNING, NULL, &known), OUTCOME_DONE);
	assert_int_equal(status_of(c, &m.node), NODE_INITIALIZING);
	m.instance = placed_id(1);
	assert_int_equal(say(c, &m, 3, ALLOC_RUNNING, NULL, &known), OUTCOME_DONE);
	assert_true(known);
	assert_int_equal(status_of(c, &m.node), NODE_READY);
}

// One model: what takes no new work takes no machines either.
static void a_node_that_takes_no_new_work_takes_no_machines(void **test)
{
	struct controller *c = *test;
	struct node_registration node;

	assert_int_equal(register_worker(c, 1, "a", plain, &node), OUTCOME_DONE);
	assert_int_equal(create_vm(c, build_vm("vm", 0)), OUTCOME_DONE);
	struct command eligibility = {
		.type = COMMAND_NODE_ELIGIBILITY, .node_eligibility = {number_uuid(1), false}};
	assert_int_equal(controller_run(c, &eligibility), OUTCOME_DONE);
	assert_int_equal(assign_vm(c, "vm", "a"), VM_WORKER_SKIPPED);
	eligibility.node_eligibility.eligible = true;
	assert_int_equal(controller_run(c, &eligibility), OUTCOME_DONE);
	assert_int_equal(assign_vm(c, "vm", "a"), VM_ASSIGNED);
}

static enum command_outcome change_softnet(struct controller *c, bool softnet, char *message)
{
	struct command_vm_power ask = {.name = TEXT("vm"), .net_softnet = {true, softnet}};
	struct command command = {.type = COMMAND_VM_POWER, .vm_power = &ask};
	enum command_outcome outcome = controller_run(c, &command);

	snprintf(message, sizeof ask.message, "%s", ask.message);
	return outcome;
}

// Its agent runs machines with qemu, and is told at once of what it can do.
static void what_its_agent_cannot_do_is_refused(void **test)
{
	struct controller *c = *test;
	struct machine m;
	char message[160];

	open_machine(c, &m);
	uint64_t before = alloc_index_of(c, m.node.slot);
	assert_int_equal(change_softnet(c, true, message), OUTCOME_NOT_NOW);
	assert_string_equal(message, "its worker runs machines with qemu, which has no netSoftnet");
	assert_int_equal(alloc_index_of(c, m.node.slot), before);
	struct command_vm_power ask = {.name = TEXT("vm"), .suspendable = {true, true}};
	struct command command = {.type = COMMAND_VM_POWER, .vm_power = &ask};
	assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
	assert_true(alloc_index_of(c, m.node.slot) > before);
	struct vm *vm = published_vm(c, "vm");
	assert_true(vm->suspendable);
	assert_int_equal(vm->generation, 1);
	vm_free(vm);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_node_that_says_so_becomes_a_worker),
		TEST(without_a_machine_id_it_is_its_node),
		TEST(others_do_not),
		TEST(what_is_not_of_the_form_is_refused),
		TEST(what_is_too_much_is_refused),
		TEST(another_machine_under_a_known_name_is_refused),
		TEST(another_node_gets_no_worker_by_naming_its_machine),
		TEST(a_node_gets_no_worker_that_is_kept_by_hand),
		TEST(a_machine_that_was_set_up_anew_waits_for_an_operator),
		TEST(there_is_an_end_of_room),
		TEST(a_pause_outlives_registrations),
		TEST(a_node_of_another_name_leaves_its_worker),
		TEST(it_beats_as_long_as_its_node_does),
		TEST(it_beats_before_it_is_ready_again),
		TEST(one_that_was_away_is_what_it_was),
		TEST(it_goes_with_its_node),
		TEST(its_node_is_told_at_once),
		TEST(a_successor_tells_it_again),
		TEST(a_machine_that_its_node_runs_is_running),
		TEST(one_that_ends_by_itself_failed),
		TEST(one_without_a_word_ended),
		TEST(one_that_was_to_stop_comes_to_rest),
		TEST(nobody_speaks_for_others),
		TEST(what_its_agent_cannot_do_is_refused),
		TEST(a_node_that_takes_no_new_work_takes_no_machines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
