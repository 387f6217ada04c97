// Virtual machines and their workers through the applier: what becomes of them, what is refused, and that a successor
// has them as they were.
#include "state/base/memory.h"
#include "state/records/nodes/vm.h"
#include "tests/state/vms.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static int setup(void **test)
{
	*test = controller_with_nodes((struct state_limits){.vms = 8, .vm_workers = 4}, 3);
	count_assigned(*test, false); // machines here say all that they take
	return 0;
}

static int teardown(void **test)
{
	controller_end(*test);
	return 0;
}

static void begins_as_described(void **test)
{
	struct controller *c = *test;
	assert_int_equal(create_vm(c, build_vm("a", 2)), OUTCOME_DONE);

	struct vm *vm = published_vm(c, "a");
	assert_non_null(vm);
	assert_int_equal(vm->status, VM_PENDING);
	assert_int_equal(vm->created_at_ns, c->time.wall_ns);
	assert_int_equal(strlen(vm->uid), UUID_TEXT_BYTES - 1);
	assert_true(uuid_is_zero(&vm->instance));
	assert_int_equal(vm->record.create_index, vm->record.modify_index);
	vm_free(vm);
	struct state_counts counts;
	state_counts(c->state, &counts);
	assert_int_equal(counts.vms[VM_PENDING], 1);
}

static void a_name_is_there_once(void **test)
{
	struct controller *c = *test;
	struct command_vm_create again = {.vm = build_vm("a", 2)};
	struct command command = {.type = COMMAND_VM_CREATE, .vm_create = &again};

	assert_int_equal(create_vm(c, build_vm("a", 1)), OUTCOME_DONE);
	assert_int_equal(controller_run(c, &command), OUTCOME_CONFLICT);
	assert_string_equal(again.message, "VM with this name already exists");
	assert_non_null(again.vm); // still its submitter's
	vm_free(again.vm);
	assert_int_equal(delete_vm(c, "a"), OUTCOME_DONE);
	assert_null(published_vm(c, "a"));
	assert_int_equal(delete_vm(c, "a"), OUTCOME_UNKNOWN_VM);
	assert_int_equal(create_vm(c, build_vm("a", 1)), OUTCOME_DONE);
}

static void what_lacks_an_image_is_refused(void **test)
{
	struct controller *c = *test;
	struct vm *vm = build_vm("a", 1);
	struct command_vm_create ask = {.vm = vm};
	struct command command = {.type = COMMAND_VM_CREATE, .vm_create = &ask};

	free(vm->image);
	vm->image = NULL;
	assert_int_equal(controller_run(c, &command), OUTCOME_BAD_DESCRIPTION);
	assert_string_equal(ask.message, "VM image is empty");
	vm_free(vm);
}

static void there_is_an_end_of_room(void **test)
{
	struct controller *c = *test;
	char name[8];

	for (int i = 0; i < 8; i++) {
		snprintf(name, sizeof name, "vm%d", i);
		assert_int_equal(create_vm(c, build_vm(name, 1)), OUTCOME_DONE);
	}
	assert_int_equal(create_vm(c, build_vm("one-more", 1)), OUTCOME_TABLE_FULL);
	assert_int_equal(delete_vm(c, "vm3"), OUTCOME_DONE);
	settle(c);
	assert_int_equal(create_vm(c, build_vm("one-more", 1)), OUTCOME_DONE);
}

static void power_goes_one_way(void **test)
{
	struct controller *c = *test;

	assert_int_equal(create_vm(c, build_vm("a", 1)), OUTCOME_DONE);
	assert_int_equal(set_power(c, "b", VM_POWER_STOPPED), OUTCOME_UNKNOWN_VM);
	assert_int_equal(set_power(c, "a", VM_POWER_SUSPENDED), OUTCOME_NOT_NOW);
	assert_int_equal(set_power(c, "a", VM_POWER_STOPPED), OUTCOME_DONE);
	assert_int_equal(set_power(c, "a", VM_POWER_RUNNING), OUTCOME_NOT_NOW);
	struct vm *vm = published_vm(c, "a");
	assert_int_equal(vm->power_state, VM_POWER_STOPPED);
	assert_int_equal(vm->generation, 1);
	vm_free(vm);
}

static bool count_vm(const struct vm *vm, void *context)
{
	(void)vm;
	++*(uint32_t *)context;
	return true;
}

static uint32_t listed_on(const struct controller *c, const char *worker, uint64_t *index)
{
	uint32_t count = 0;

	state_read_begin();
	state_worker_vms(c->state, text_of(worker), index, count_vm, &count);
	state_read_end();
	return count;
}

static void an_assignment_is_what_its_worker_runs(void **test)
{
	struct controller *c = *test;
	uint64_t before, after;

	assert_int_equal(put_worker(c, build_worker("w", "m", 4)), OUTCOME_DONE);
	assert_int_equal(create_vm(c, build_vm("a", 3)), OUTCOME_DONE);
	assert_int_equal(listed_on(c, "w", &before), 0);
	assert_int_equal(assign_vm(c, "a", "w"), VM_ASSIGNED);
	assert_int_equal(listed_on(c, "w", &after), 1);
	assert_true(after > before);
	struct vm *vm = published_vm(c, "a");
	assert_string_equal(vm->worker, "w");
	assert_int_equal(vm->scheduled_at_ns, c->time.wall_ns);
	assert_int_equal(vm->assigned_cpu, VM_DEFAULT_CPU);
	assert_false(uuid_is_zero(&vm->instance));
	state_read_begin();
	const struct vm *found = state_vm_by_instance(c->state, &vm->instance);
	assert_string_equal(found ? found->name : "", "a");
	state_read_end();
	vm_free(vm);
	assert_int_equal(assign_vm(c, "a", "w"), VM_SKIPPED); // it has one
}

static void what_does_not_fit_is_tried_elsewhere(void **test)
{
	struct controller *c = *test;

	assert_int_equal(put_worker(c, build_worker("w", "m", 4)), OUTCOME_DONE);
	assert_int_equal(create_vm(c, build_vm("a", 3)), OUTCOME_DONE);
	assert_int_equal(create_vm(c, build_vm("b", 2)), OUTCOME_DONE);
	assert_int_equal(assign_vm(c, "b", "nobody"), VM_WORKER_SKIPPED);
	assert_int_equal(assign_vm(c, "a", "w"), VM_ASSIGNED);
	assert_int_equal(assign_vm(c, "b", "w"), VM_WORKER_SKIPPED);
	assert_int_equal(delete_vm(c, "a"), OUTCOME_DONE);
	assert_int_equal(listed_on(c, "w", NULL), 0);
	assert_int_equal(pause_worker(c, "w", true), OUTCOME_DONE);
	assert_int_equal(assign_vm(c, "b", "w"), VM_WORKER_SKIPPED);
	assert_int_equal(pause_worker(c, "w", false), OUTCOME_DONE);
	advance_ms(c, 3 * 60 * 1000 + 1);
	assert_int_equal(assign_vm(c, "b", "w"), VM_WORKER_SKIPPED); // not seen for too long
	assert_int_equal(see_worker(c, "w"), OUTCOME_DONE);
	assert_int_equal(assign_vm(c, "b", "w"), VM_ASSIGNED);
}

static void a_worker_that_changed_is_looked_at_again(void **test)
{
	struct controller *c = *test;

	assert_int_equal(put_worker(c, build_worker("w", "m", 4)), OUTCOME_DONE);
	assert_int_equal(create_vm(c, build_vm("a", 1)), OUTCOME_DONE);
	uint64_t chosen_by = worker_index(c, "w");
	assert_int_equal(pause_worker(c, "w", true), OUTCOME_DONE);
	assert_int_equal(pause_worker(c, "w", false), OUTCOME_DONE);
	assert_int_equal(put_worker(c, build_worker("w", "m", 5)), OUTCOME_DONE);
	assert_int_equal(assign_chosen(c, "a", "w", chosen_by), VM_WORKER_SKIPPED);
	chosen_by = worker_index(c, "w");
	assert_int_equal(see_worker(c, "w"), OUTCOME_DONE); // of no matter
	assert_int_equal(assign_chosen(c, "a", "w", chosen_by), VM_ASSIGNED);
}

static void what_its_worker_lost_fails_and_begins_again(void **test)
{
	struct controller *c = *test;
	struct vm *vm = build_vm("a", 1);

	vm->restart_policy = VM_RESTART_ON_FAILURE;
	assert_int_equal(put_worker(c, build_worker("w", "m", 1)), OUTCOME_DONE);
	assert_int_equal(create_vm(c, vm), OUTCOME_DONE);
	assert_int_equal(assign_vm(c, "a", "w"), VM_ASSIGNED);
	struct vm *first = published_vm(c, "a");
	assert_int_equal(judge_vm(c, "a"), 0); // healthy
	advance_ms(c, 3 * 60 * 1000 + 1);
	assert_int_equal(judge_vm(c, "a"), 1);
	vm = published_vm(c, "a");
	assert_int_equal(vm->status, VM_FAILED);
	assert_string_equal(vm->status_message, VM_TEXT_WORKER_LOST);
	vm_free(vm);
	assert_int_equal(listed_on(c, "w", NULL), 1);
	assert_int_equal(judge_vm(c, "a"), 1);
	vm = published_vm(c, "a");
	assert_int_equal(vm->status, VM_PENDING);
	assert_int_equal(vm->restart_count, 1);
	assert_true(uuid_is_zero(&vm->instance));
	vm_free(vm);
	assert_int_equal(listed_on(c, "w", NULL), 0);
	assert_int_equal(judge_vm(c, "a"), 0);
	assert_int_equal(see_worker(c, "w"), OUTCOME_DONE);
	assert_int_equal(assign_vm(c, "a", "w"), VM_ASSIGNED);
	vm = published_vm(c, "a");
	assert_false(uuid_equal(&vm->instance, &first->instance));
	vm_free(vm);
	vm_free(first);
}

static void what_its_worker_says_is_noted(void **test)
{
	struct controller *c = *test;
	struct vm_condition runs[] = {{VM_CONDITION_RUNNING, 1}, {VM_CONDITION_SCHEDULED, 0}};
	struct command_vm_report report = {.status = {true, VM_RUNNING},
		.status_message = "up",
		.observed_generation = {true, 3},
		.conditions = {runs, 2}};

	assert_int_equal(put_worker(c, build_worker("w", "m", 1)), OUTCOME_DONE);
	assert_int_equal(create_vm(c, build_vm("a", 1)), OUTCOME_DONE);
	assert_int_equal(assign_vm(c, "a", "w"), VM_ASSIGNED);
	assert_int_equal(report_vm(c, "a", "another", &report), OUTCOME_CONFLICT);
	assert_int_equal(report_vm(c, "b", NULL, &report), OUTCOME_UNKNOWN_VM);
	assert_int_equal(report_vm(c, "a", NULL, &report), OUTCOME_DONE);
	struct vm *vm = published_vm(c, "a");
	assert_int_equal(vm->status, VM_RUNNING);
	assert_string_equal(vm->status_message, "up");
	assert_int_equal(vm->observed_generation, 3);
	assert_int_equal(vm->started_at_ns, c->time.wall_ns);
	assert_true(vm_is_scheduled(vm)); // not the worker's to say
	vm_free(vm);
	assert_int_equal(set_power(c, "a", VM_POWER_STOPPED), OUTCOME_DONE);
	assert_int_equal(judge_vm(c, "a"), 0); // it runs still
	runs[0].state = 0;
	assert_int_equal(report_vm(c, "a", NULL, &report), OUTCOME_DONE);
	assert_int_equal(judge_vm(c, "a"), 1);
	assert_int_equal(listed_on(c, "w", NULL), 0);
	assert_int_equal(judge_vm(c, "a"), 0);
}

static void a_worker_keeps_its_pause_and_its_machine(void **test)
{
	struct controller *c = *test;
	struct vm_worker *other = build_worker("w", "other", 4);
	struct command_vm_worker ask = {.worker = other};
	struct command command = {.type = COMMAND_VM_WORKER, .vm_worker = ask};

	assert_int_equal(see_worker(c, "w"), OUTCOME_UNKNOWN_WORKER);
	assert_int_equal(put_worker(c, build_worker("w", "m", 4)), OUTCOME_DONE);
	assert_int_equal(pause_worker(c, "w", true), OUTCOME_DONE);
	assert_int_equal(put_worker(c, build_worker("w", "m", 6)), OUTCOME_DONE);
	state_read_begin();
	assert_true(state_vm_worker(c->state, TEXT("w"))->scheduling_paused);
	state_read_end();
	assert_int_equal(controller_run(c, &command), OUTCOME_CONFLICT);
	vm_worker_free(other);
	assert_int_equal(delete_worker(c, "w"), OUTCOME_DONE);
	assert_int_equal(delete_worker(c, "w"), OUTCOME_UNKNOWN_WORKER);
	assert_int_equal(pause_worker(c, "w", true), OUTCOME_UNKNOWN_WORKER);
	assert_int_equal(put_worker(c, build_worker("w", "other", 4)), OUTCOME_DONE);
}

static void machines_outlive_their_worker(void **test)
{
	struct controller *c = *test;

	assert_int_equal(put_worker(c, build_worker("w", "m", 4)), OUTCOME_DONE);
	assert_int_equal(create_vm(c, build_vm("a", 3)), OUTCOME_DONE);
	assert_int_equal(assign_vm(c, "a", "w"), VM_ASSIGNED);
	assert_int_equal(delete_worker(c, "w"), OUTCOME_DONE);
	assert_int_equal(listed_on(c, "w", NULL), 1);
	assert_int_equal(put_worker(c, build_worker("w", "m", 4)), OUTCOME_DONE);
	assert_int_equal(create_vm(c, build_vm("b", 2)), OUTCOME_DONE);
	assert_int_equal(assign_vm(c, "b", "w"), VM_WORKER_SKIPPED); // a is there still
	assert_int_equal(delete_worker(c, "w"), OUTCOME_DONE);
	assert_int_equal(judge_vm(c, "a"), 1);
	struct vm *vm = published_vm(c, "a");
	assert_string_equal(vm->status_message, VM_TEXT_WORKER_GONE);
	vm_free(vm);
	assert_int_equal(judge_vm(c, "a"), 1);
	assert_int_equal(judge_vm(c, "a"), 0);
	assert_int_equal(listed_on(c, "w", NULL), 0);
}

static void expect_events(const struct controller *c, const char *const *texts, uint32_t count)
{
	struct vm *vm = published_vm(c, "vm");

	for (uint32_t i = 0; i < vm->events.count && i < count; i++)
		assert_string_equal(ARRAY_AT(&vm->events, struct vm_event, i)->message, texts[i]);
	assert_int_equal(vm->events.count, count);
	vm_free(vm);
}

// From its creation to its second stop, over a worker that vanishes; and the same after a restart of the controller.
static void its_events_tell_its_life(void **test)
{
	static const char *const texts[] = {"VM created", "VM assigned to worker a",
		"VM started on worker a", "VM failed: " VM_TEXT_WORKER_GONE, "VM restarted",
		"VM assigned to worker b", "VM failed: no image", "VM released by worker b",
		"VM restarted", "VM assigned to worker b", "VM is to be stopped",
		"VM released by worker b"};
	struct controller *c = *test, next;
	struct command_vm_report runs = {.status = {true, VM_RUNNING}};
	struct command_vm_report fails = {
		.status = {true, VM_FAILED}, .status_message = "no image"};
	struct vm_condition ended = {VM_CONDITION_RUNNING, 0};
	struct command_vm_report rests = {.conditions = {&ended, 1}};
	struct vm *vm = build_vm("vm", 1);

	vm->restart_policy = VM_RESTART_ON_FAILURE;
	assert_int_equal(create_vm(c, vm), OUTCOME_DONE);
	assert_int_equal(put_worker(c, build_worker("a", "m", 4)), OUTCOME_DONE);
	assert_int_equal(put_worker(c, build_worker("b", "m", 4)), OUTCOME_DONE);
	assert_int_equal(assign_vm(c, "vm", "a"), VM_ASSIGNED);
	assert_int_equal(report_vm(c, "vm", NULL, &runs), OUTCOME_DONE);
	assert_int_equal(report_vm(c, "vm", NULL, &runs), OUTCOME_DONE);
	assert_int_equal(delete_worker(c, "a"), OUTCOME_DONE);
	assert_int_equal(judge_vm(c, "vm"), 1);
	assert_int_equal(judge_vm(c, "vm"), 1);
	assert_int_equal(assign_vm(c, "vm", "b"), VM_ASSIGNED);
	assert_int_equal(report_vm(c, "vm", NULL, &fails), OUTCOME_DONE);
	assert_int_equal(judge_vm(c, "vm"), 1);
	advance_ms(c, 16000);
	assert_int_equal(judge_vm(c, "vm"), 1);
	assert_int_equal(assign_vm(c, "vm", "b"), VM_ASSIGNED);
	assert_int_equal(set_power(c, "vm", VM_POWER_STOPPED), OUTCOME_DONE);
	assert_int_equal(report_vm(c, "vm", NULL, &rests), OUTCOME_DONE);
	assert_int_equal(judge_vm(c, "vm"), 1);
	expect_events(c, texts, sizeof texts / sizeof texts[0]);
	controller_init(&next, (struct state_limits){.vms = 8, .vm_workers = 4});
	assert_int_equal(controller_replay(&next, &c->log, c->log.count), 0);
	controller_open(&next);
	expect_events(&next, texts, sizeof texts / sizeof texts[0]);
	controller_free(&next);
}

// Row D16: each machine has its share of what the worker names.
static void what_is_assigned_takes_room(void **test)
{
	struct controller *c = *test;
	struct vm_worker *worker = build_worker("w", "m", 2 * VM_DEFAULT_CPU);

	assert_int_equal(put_worker(c, worker), OUTCOME_DONE);
	for (uint32_t i = 0; i < 5; i++) {
		char name[] = {(char)('a' + i), '\0'};
		assert_int_equal(create_vm(c, build_vm(name, 0)), OUTCOME_DONE);
	}
	assert_int_equal(assign_vm(c, "a", "w"), VM_ASSIGNED);
	count_assigned(c, true);
	assert_int_equal(assign_vm(c, "b", "w"), VM_ASSIGNED);
	assert_int_equal(assign_vm(c, "c", "w"), VM_WORKER_SKIPPED);
	controller_verify(c);
	assert_int_equal(delete_vm(c, "a"), OUTCOME_DONE);
	assert_int_equal(assign_vm(c, "c", "w"), VM_ASSIGNED);
	assert_int_equal(assign_vm(c, "d", "w"), VM_WORKER_SKIPPED);
	count_assigned(c, false);
	assert_int_equal(assign_vm(c, "d", "w"), VM_ASSIGNED);
	controller_verify(c);
}

static void settings_are_kept(void **test)
{
	struct controller *c = *test;
	struct cluster_settings *settings = record_create(&cluster_settings_description);
	struct command command = {.type = COMMAND_CLUSTER_SETTINGS, .cluster_settings = {settings}};

	state_read_begin();
	assert_int_equal(text_of(state_cluster_settings(c->state)->scheduler_profile).size, 0);
	assert_false(state_cluster_settings(c->state)->count_assigned);
	state_read_end();
	settings->scheduler_profile = text_copy(TEXT(VM_PROFILE_DISTRIBUTE));
	assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
	assert_null(command.cluster_settings.settings);
	state_read_begin();
	assert_string_equal(
		state_cluster_settings(c->state)->scheduler_profile, VM_PROFILE_DISTRIBUTE);
	assert_true(state_cluster_settings(c->state)->count_assigned);
	state_read_end();
	assert_int_equal(
		state_table_index(c->state, STATE_CLUSTER_SETTINGS), state_index(c->state));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(begins_as_described),
		TEST(a_name_is_there_once),
		TEST(what_lacks_an_image_is_refused),
		TEST(there_is_an_end_of_room),
		TEST(power_goes_one_way),
		TEST(an_assignment_is_what_its_worker_runs),
		TEST(what_does_not_fit_is_tried_elsewhere),
		TEST(a_worker_that_changed_is_looked_at_again),
		TEST(what_its_worker_lost_fails_and_begins_again),
		TEST(what_its_worker_says_is_noted),
		TEST(a_worker_keeps_its_pause_and_its_machine),
		TEST(machines_outlive_their_worker),
		TEST(its_events_tell_its_life),
		TEST(what_is_assigned_takes_room),
		TEST(settings_are_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
