// Virtual machines are placed at once, also after refusals and restarts, and fail when their worker is silent. A test
// pushes what happens during a pass before it: the applier takes that before the pass's proposals.
#include "placement/watch/jobs/peers.h"
#include "state/applier/command_queue.h"
#include "state/base/limits.h"
#include "state/base/memory.h"
#include "tests/placement/watch/scene.h"
#include "tests/placement/watch/vm_scene.h"
#include "tests/state/vms.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void choose_profile(struct scene *s, const char *profile)
{
	struct cluster_settings *settings = record_create(&cluster_settings_description);
	settings->scheduler_profile = text_copy(text_of(profile));
	settings->count_assigned = false;
	struct command c = {
		.type = COMMAND_CLUSTER_SETTINGS, .cluster_settings = {.settings = settings}};
	assert_int_equal(controller_run(&s->controller, &c), OUTCOME_DONE);
}

static void a_machine_is_placed_at_once(void **state)
{
	struct scene s;
	vm_scene_begin(&s);
	vm_scene_worker(&s, "w1", 1);
	vm_scene_worker(&s, "w2", 1);
	vm_scene_ask(&s, "a");
	scene_settle(&s);
	vm_scene_expect(&s, "a", "w1", VM_PENDING);
	vm_scene_ask(&s, "b");
	vm_scene_ask(&s, "c");
	scene_settle(&s);
	vm_scene_expect(&s, "b", "w2", VM_PENDING);
	vm_scene_expect(&s, "c", "", VM_PENDING);
	vm_scene_worker(&s, "w3", 1);
	scene_settle(&s);
	vm_scene_expect(&s, "c", "w3", VM_PENDING);
	assert_int_equal(scene_stats(&s).vms_assigned, 3);
	scene_free(&s);
}

static void what_was_on_a_silent_worker_goes_to_another(void **state)
{
	struct scene s;
	vm_scene_begin(&s);
	vm_scene_worker(&s, "w1", 1);
	vm_scene_ask(&s, "a");
	scene_settle(&s);
	vm_scene_expect(&s, "a", "w1", VM_PENDING);
	scene_jump(&s, 180 * 1000);
	vm_scene_expect(&s, "a", "w1", VM_PENDING);
	vm_scene_worker(&s, "w2", 1);
	scene_advance(&s, 12 * 1000);
	vm_scene_expect(&s, "a", "w2", VM_PENDING);
	scene_free(&s);
}

// A worker that returns or reports more resources is used at once; one that is merely seen can wait.
static void a_worker_that_changes_is_looked_at(void **state)
{
	struct scene s;
	vm_scene_begin(&s);
	vm_scene_worker(&s, "w1", 1);
	scene_jump(&s, 181 * 1000);
	vm_scene_ask(&s, "a");
	scene_settle(&s);
	vm_scene_expect(&s, "a", "", VM_PENDING);
	assert_int_equal(see_worker(&s.controller, "w1"), OUTCOME_DONE);
	scene_settle(&s);
	vm_scene_expect(&s, "a", "w1", VM_PENDING);
	vm_scene_ask(&s, "b");
	scene_settle(&s);
	uint64_t turns = scene_stats(&s).vm_turns;
	s.controller.time.wall_ns += 1000000;
	assert_int_equal(see_worker(&s.controller, "w1"), OUTCOME_DONE);
	scene_settle(&s);
	assert_int_equal(scene_stats(&s).vm_turns, turns);
	s.controller.time.wall_ns += 1000000;
	vm_scene_worker(&s, "w1", 2);
	scene_settle(&s);
	vm_scene_expect(&s, "b", "w1", VM_PENDING);
	vm_scene_worker(&s, "w2", 1);
	assert_int_equal(delete_worker(&s.controller, "w2"), OUTCOME_DONE);
	vm_scene_ask(&s, "c");
	scene_settle(&s);
	vm_scene_worker(&s, "w2", 1); // unchanged
	scene_settle(&s);
	vm_scene_expect(&s, "c", "w2", VM_PENDING);
	scene_free(&s);
}

static void how_long_it_waits_is_a_setting(void **state)
{
	const struct watchers_settings often = {
		.vm_interval_ns = 1000000000, .vm_offline_after_ns = 7000000000};
	struct scene s;
	scene_init_with(&s, &often);
	count_assigned(&s.controller, false);
	vm_scene_worker(&s, "w1", 1);
	vm_scene_ask_for(&s, "a", VM_RESTART_NEVER);
	scene_settle(&s);
	uint64_t turns = scene_stats(&s).vm_turns;
	scene_advance(&s, 7000);
	vm_scene_expect(&s, "a", "w1", VM_PENDING);
	assert_int_equal(scene_stats(&s).vm_turns - turns, 7);
	assert_int_equal(scene_stats(&s).vm_workers_online, 1);
	scene_advance(&s, 2000);
	struct vm *vm = published_vm(&s.controller, "a");
	assert_int_equal(vm->status, VM_FAILED);
	assert_string_equal(vm->status_message, VM_TEXT_WORKER_LOST);
	vm_free(vm);
	assert_int_equal(scene_stats(&s).vm_workers_online, 0);
	assert_int_equal(scene_stats(&s).vm_workers_offline, 1);
	scene_free(&s);
}

static void make_eligible(struct scene *s, uint32_t node, bool eligible)
{
	struct command c = {.type = COMMAND_NODE_ELIGIBILITY,
		.node_eligibility = {number_uuid(node), eligible}};
	assert_int_equal(scene_run(s, &c), OUTCOME_DONE);
}

// A node that takes no new work gets none, and is used at once when it takes work again.
static void a_node_that_takes_no_new_work_is_left_out(void **state)
{
	static const struct worker_setting one[] = {
		{"vm.resource." VM_RESOURCE_CORES, "1"}, {"vm.worker", "1"}, {0}};
	struct scene s;
	vm_scene_begin(&s);
	assert_int_equal(register_worker(&s.controller, 7, "n1", one, NULL), OUTCOME_DONE);
	assert_int_equal(register_worker(&s.controller, 8, "n2", one, NULL), OUTCOME_DONE);
	scene_settle(&s);
	make_eligible(&s, 7, false);
	vm_scene_ask(&s, "a");
	vm_scene_ask(&s, "b");
	scene_settle(&s);
	vm_scene_expect(&s, "a", "n2", VM_PENDING);
	vm_scene_expect(&s, "b", "", VM_PENDING);
	make_eligible(&s, 7, true);
	scene_settle(&s);
	vm_scene_expect(&s, "b", "n1", VM_PENDING);
	scene_free(&s);
}

// Row D1: one turn, in which a machine fails and another one gets its worker.
static void both_passes_are_of_one_turn(void **state)
{
	struct scene s;
	vm_scene_begin(&s);
	vm_scene_worker(&s, "w1", 1);
	vm_scene_ask_for(&s, "a", VM_RESTART_NEVER);
	scene_settle(&s);
	vm_scene_ask(&s, "b");
	scene_settle(&s);
	vm_scene_expect(&s, "b", "", VM_PENDING);
	assert_int_equal(delete_worker(&s.controller, "w1"), OUTCOME_DONE);
	vm_scene_worker(&s, "w2", 1);
	assert_true(watchers_turn(s.watchers));
	vm_scene_expect(&s, "b", "w2", VM_PENDING);
	struct vm *vm = published_vm(&s.controller, "a");
	assert_int_equal(vm->status, VM_FAILED);
	assert_string_equal(vm->status_message, VM_TEXT_WORKER_GONE);
	vm_free(vm);
	scene_free(&s);
}

static void hand_in(struct scene *s, struct command *c)
{
	controller_push(&s->controller, c, NULL);
}

// Row D2: one turn serves all requests from before it, and the next turn those from during it.
static void requests_of_a_turn_are_one(void **state)
{
	struct command_vm_create late = {.vm = build_vm("late", 1)};
	struct command create = {.type = COMMAND_VM_CREATE, .vm_create = &late};
	struct scene s;
	vm_scene_begin(&s);
	vm_scene_worker(&s, "w1", 8);
	scene_settle(&s);
	uint64_t turns = scene_stats(&s).vm_turns;
	vm_scene_ask(&s, "a");
	vm_scene_ask(&s, "b");
	vm_scene_ask(&s, "c");
	hand_in(&s, &create);
	assert_true(watchers_turn(s.watchers));
	assert_int_equal(scene_stats(&s).vm_turns - turns, 1);
	vm_scene_expect(&s, "a", "w1", VM_PENDING);
	vm_scene_expect(&s, "b", "w1", VM_PENDING);
	vm_scene_expect(&s, "c", "w1", VM_PENDING);
	vm_scene_expect(&s, "late", "", VM_PENDING);
	assert_true(watchers_turn(s.watchers));
	vm_scene_expect(&s, "late", "w1", VM_PENDING);
	assert_int_equal(scene_stats(&s).vm_turns - turns, 2);
	// Assignments are no requests.
	assert_false(watchers_turn(s.watchers));
	assert_int_equal(scene_stats(&s).vm_turns - turns, 2);
	scene_free(&s);
}

// Row D3: the watchers of multiregion rollouts have a thread of their own, and leave machines alone.
static void one_of_them_schedules(void **state)
{
	const struct peers peers = {.region = "home", .poll_ns = 1000000000};
	struct scene s;
	vm_scene_begin(&s);
	struct watchers *others = watchers_create(&(struct watchers_settings){
		.state = s.controller.state,
		.queue = s.controller.queue,
		.time = &s.controller.source,
		.seed = 1,
		.peers = &peers,
	});
	vm_scene_worker(&s, "w1", 1);
	vm_scene_ask(&s, "a");
	assert_false(watchers_turn(others));
	vm_scene_expect(&s, "a", "", VM_PENDING);
	struct watchers_stats stats;
	watchers_stats(others, &stats);
	assert_int_equal(stats.vm_turns, 0);
	scene_settle(&s);
	vm_scene_expect(&s, "a", "w1", VM_PENDING);
	watchers_destroy(others);
	scene_free(&s);
}

// Row D4: the pass keeps its view, also when it has to try again.
static void a_pass_keeps_its_view(void **state)
{
	struct cluster_settings *settings = record_create(&cluster_settings_description);
	settings->scheduler_profile = text_copy(TEXT(VM_PROFILE_DISTRIBUTE));
	settings->count_assigned = false;
	struct command meanwhile[] = {
		{.type = COMMAND_VM_WORKER_PAUSE, .vm_named = {TEXT("w2"), true}},
		{.type = COMMAND_CLUSTER_SETTINGS, .cluster_settings = {.settings = settings}},
		{.type = COMMAND_VM_WORKER, .vm_worker = {.worker = build_worker("w0", "w0", 9)}},
	};
	struct scene s;
	vm_scene_begin(&s);
	vm_scene_worker(&s, "w1", 1);
	vm_scene_ask(&s, "one");
	scene_settle(&s);
	vm_scene_expect(&s, "one", "w1", VM_PENDING);
	vm_scene_worker(&s, "w1", 9);
	vm_scene_worker(&s, "w2", 2);
	assert_int_equal(pause_worker(&s.controller, "w1", true), OUTCOME_DONE);
	vm_scene_ask(&s, "two");
	vm_scene_ask(&s, "three");
	scene_settle(&s);
	vm_scene_expect(&s, "two", "w2", VM_PENDING);
	vm_scene_expect(&s, "three", "w2", VM_PENDING);
	vm_scene_worker(&s, "w2", 9);
	vm_scene_worker(&s, "w3", 9);
	assert_int_equal(pause_worker(&s.controller, "w1", false), OUTCOME_DONE);
	scene_settle(&s);
	// w2 has the most machines, then w1; w3 has none.
	vm_scene_ask(&s, "four");
	for (size_t i = 0; i < sizeof meanwhile / sizeof meanwhile[0]; i++)
		hand_in(&s, &meanwhile[i]);
	assert_true(watchers_turn(s.watchers));
	vm_scene_expect(&s, "four", "w1", VM_PENDING);
	vm_scene_ask(&s, "five");
	assert_true(watchers_turn(s.watchers));
	vm_scene_expect(&s, "five", "w0", VM_PENDING);
	scene_free(&s);
}

struct meanwhile {
	struct command commands[2];
	struct command_vm_create create;
	struct command_vm_power power;
	struct command_vm_report report;
	struct vm_assign_item item;
	char uid[64];
};

static struct command goes(struct meanwhile *m)
{
	return (struct command){.type = COMMAND_VM_DELETE, .vm_named = {.name = TEXT("a")}};
}

static struct command comes_again(struct meanwhile *m)
{
	m->create.vm = build_vm("a", 1);
	return (struct command){.type = COMMAND_VM_CREATE, .vm_create = &m->create};
}

static struct command is_stopped(struct meanwhile *m)
{
	m->power = (struct command_vm_power){TEXT("a"), VM_POWER_STOPPED, ""};
	return (struct command){.type = COMMAND_VM_POWER, .vm_power = &m->power};
}

static struct command fails(struct meanwhile *m)
{
	m->report = (struct command_vm_report){
		.name = TEXT("a"), .uid = text_of(m->uid), .status = {true, VM_FAILED}};
	return (struct command){.type = COMMAND_VM_REPORT, .vm_report = &m->report};
}

static struct command is_assigned(struct meanwhile *m)
{
	m->item = (struct vm_assign_item){.vm = TEXT("a"),
		.uid = text_of(m->uid),
		.worker = TEXT("w2"),
		.worker_modify_index = UINT64_MAX};
	return (struct command){
		.type = COMMAND_VM_ASSIGN, .vm_assign = {.items = &m->item, .count = 1}};
}

typedef struct command happens(struct meanwhile *);

static void note_uid(struct scene *s, struct meanwhile *m)
{
	struct vm *vm = published_vm(&s->controller, "a");

	snprintf(m->uid, sizeof m->uid, "%s", vm->uid);
	vm_free(vm);
}

static void turn_while(struct scene *s, happens *first, happens *second)
{
	struct meanwhile m = {0};

	note_uid(s, &m);
	m.commands[0] = first(&m);
	hand_in(s, &m.commands[0]);
	if (second) {
		m.commands[1] = second(&m);
		hand_in(s, &m.commands[1]);
	}
	(void)watchers_turn(s->watchers);
	assert_int_equal(m.commands[0].outcome, OUTCOME_DONE);
	assert_int_equal(m.commands[1].outcome, OUTCOME_DONE);
	vm_free(m.create.vm);
}

static uint64_t assign_commands(const struct scene *s)
{
	const struct applier_counters *c = applier_counters(s->controller.applier);
	return atomic_load(&c->outcomes[COMMAND_VM_ASSIGN][OUTCOME_DONE]);
}

static void a_machine_that_changed_is_left_out_of_the_pass(void **state)
{
	static const struct {
		happens *first, *second;
		const char *worker, *later; // NULL: there is no such machine
		int status;
	} rows[] = {
		{goes, NULL, NULL, NULL, 0},
		{goes, comes_again, "", "w1", VM_PENDING},
		{is_stopped, NULL, "", "", VM_PENDING},
		{fails, NULL, "", "", VM_FAILED},
		{is_assigned, NULL, "w2", "w2", VM_PENDING},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct scene s;
		vm_scene_begin(&s);
		vm_scene_worker(&s, "w1", 2);
		vm_scene_worker(&s, "w2", 2);
		vm_scene_ask_for(&s, "a", VM_RESTART_NEVER);
		vm_scene_ask(&s, "b");
		turn_while(&s, rows[i].first, rows[i].second);
		vm_scene_expect(&s, "b", "w1", VM_PENDING);
		// The pass tries no other worker for it.
		assert_int_equal(assign_commands(&s), rows[i].first == is_assigned ? 2 : 1);
		if (rows[i].worker)
			vm_scene_expect(&s, "a", rows[i].worker, rows[i].status);
		assert_int_equal(scene_stats(&s).vms_assigned, 1);
		assert_int_equal(scene_stats(&s).commands_refused, 0);
		scene_settle(&s);
		if (rows[i].later)
			vm_scene_expect(&s, "a", rows[i].later, rows[i].status);
		else
			assert_null(published_vm(&s.controller, "a"));
		scene_free(&s);
	}
}

static struct command worker_goes(struct meanwhile *m)
{
	return (struct command){.type = COMMAND_VM_WORKER_DELETE, .vm_named = {.name = TEXT("w1")}};
}

static struct command worker_pauses(struct meanwhile *m)
{
	return (struct command){.type = COMMAND_VM_WORKER_PAUSE, .vm_named = {TEXT("w1"), true}};
}

static struct command describe(struct vm_worker *worker)
{
	return (struct command){.type = COMMAND_VM_WORKER, .vm_worker = {.worker = worker}};
}

static struct command another_machine_comes(struct meanwhile *m)
{
	return describe(build_worker("w1", "another", 2));
}

static struct command worker_grows(struct meanwhile *m)
{
	return describe(build_worker("w1", "w1", 3));
}

static struct command worker_is_labelled(struct meanwhile *m)
{
	struct vm_worker *worker = build_worker("w1", "w1", 2);

	((struct string_pair *)map_item(&worker->labels, sizeof(struct string_pair), "k"))->value =
		text_copy(TEXT("v"));
	return describe(worker);
}

static struct command worker_is_seen(struct meanwhile *m)
{
	return describe(build_worker("w1", "w1", 2));
}

static void after_a_worker_that_changed_the_next_is_tried(void **state)
{
	static const struct {
		happens *first, *second;
		const char *worker;
	} rows[] = {
		{worker_goes, NULL, "w2"},
		{worker_pauses, NULL, "w2"},
		{worker_goes, another_machine_comes, "w2"},
		{worker_grows, NULL, "w2"},
		{worker_is_labelled, NULL, "w2"},
		{worker_is_seen, NULL, "w1"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct scene s;
		vm_scene_begin(&s);
		vm_scene_worker(&s, "w1", 2);
		vm_scene_worker(&s, "w2", 2);
		vm_scene_ask(&s, "a");
		turn_while(&s, rows[i].first, rows[i].second);
		vm_scene_expect(&s, "a", rows[i].worker, VM_PENDING);
		assert_int_equal(scene_stats(&s).vms_assigned, 1);
		scene_free(&s);
	}
}

static void fill_log(struct command *c)
{
	atomic_store(&((struct memory_log *)c->context)->room_bytes, 0);
}

// "a" gets its worker in the round that refuses "b"; then the disk is full.
static void a_full_disk_ends_the_pass(void **state)
{
	struct scene s;
	vm_scene_begin(&s);
	choose_profile(&s, VM_PROFILE_DISTRIBUTE);
	vm_scene_worker(&s, "w1", 2);
	vm_scene_worker(&s, "w2", 2);
	vm_scene_worker(&s, "w3", 0);
	vm_scene_ask(&s, "a");
	vm_scene_ask(&s, "b");
	struct command pause = {
		.type = COMMAND_VM_WORKER_PAUSE,
		.vm_named = {TEXT("w2"), true},
		.done = fill_log,
		.context = &s.controller.log,
	};
	assert_true(command_queue_push(s.controller.queue, COMMAND_PRODUCER_SHARED, &pause));
	assert_true(watchers_turn(s.watchers));
	vm_scene_expect(&s, "a", "w1", VM_PENDING);
	vm_scene_expect(&s, "b", "", VM_PENDING);
	assert_int_equal(scene_stats(&s).vms_assigned, 1);
	assert_int_equal(scene_stats(&s).commands_refused, 1);
	// The next turns fail the same, until there is room.
	scene_advance(&s, 5000);
	vm_scene_expect(&s, "b", "", VM_PENDING);
	assert_true(scene_stats(&s).commands_refused > 1);
	atomic_store(&s.controller.log.room_bytes, INT64_MAX);
	scene_advance(&s, 5000);
	vm_scene_expect(&s, "b", "w1", VM_PENDING);
	assert_int_equal(scene_stats(&s).vms_assigned, 2);
	scene_free(&s);
}

// More than one round: the disk is full before the first one, so that there is no second.
static void a_round_that_is_refused_is_the_last(void **state)
{
	const uint32_t rounds = 16, count = rounds * VM_ASSIGN_MAX + 1;
	char name[16];
	struct scene s;
	vm_scene_begin(&s);
	vm_scene_worker(&s, "w1", count);
	for (uint32_t i = 0; i < count; i++) {
		snprintf(name, sizeof name, "m%u", i);
		vm_scene_ask(&s, name);
	}
	atomic_store(&s.controller.log.room_bytes, 0);
	(void)watchers_turn(s.watchers);
	assert_int_equal(scene_stats(&s).commands_refused, rounds);
	atomic_store(&s.controller.log.room_bytes, INT64_MAX);
	scene_jump(&s, 5000);
	assert_int_equal(scene_stats(&s).vms_assigned, count);
	vm_scene_expect(&s, name, "w1", VM_PENDING);
	scene_free(&s);
}

static void the_time_to_an_assignment_is_measured(void **state)
{
	struct scene s;
	vm_scene_begin(&s);
	vm_scene_ask(&s, "a");
	scene_advance(&s, 3000);
	assert_int_equal(scene_stats(&s).vm_scheduling.us_sum, 0);
	vm_scene_worker(&s, "w1", 2);
	vm_scene_ask(&s, "b");
	scene_settle(&s);
	struct pipeline_timing timing = scene_stats(&s).vm_scheduling;
	assert_int_equal(timing.us_sum, 3000000);
	assert_int_equal(timing.us[timing_bucket(0)], 1);
	assert_int_equal(timing.us[timing_bucket(3000000)], 1);
	scene_free(&s);
}

// More machines than one command takes, all running: when their worker goes all of them fail, the last one, too.
static void a_look_is_at_all_of_them(void **state)
{
	struct command_vm_report runs = {.status = {true, VM_RUNNING}};
	struct state_counts counts;
	struct scene s;
	char name[16];

	vm_scene_begin(&s);
	vm_scene_worker(&s, "w1", VM_ASSIGN_MAX + 10);
	for (uint32_t i = 0; i < VM_ASSIGN_MAX + 10; i++) {
		snprintf(name, sizeof name, "vm%u", i);
		vm_scene_ask_for(&s, name, VM_RESTART_NEVER);
	}
	scene_settle(&s);
	for (uint32_t i = 0; i < VM_ASSIGN_MAX + 10; i++) {
		snprintf(name, sizeof name, "vm%u", i);
		assert_int_equal(report_vm(&s.controller, name, NULL, &runs), OUTCOME_DONE);
	}
	state_counts(s.controller.state, &counts);
	assert_int_equal(counts.vms[VM_RUNNING], VM_ASSIGN_MAX + 10);
	assert_int_equal(delete_worker(&s.controller, "w1"), OUTCOME_DONE);
	scene_advance(&s, 10000);
	state_counts(s.controller.state, &counts);
	assert_int_equal(counts.vms[VM_FAILED], VM_ASSIGN_MAX + 10);
	scene_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_look_is_at_all_of_them),
		cmocka_unit_test(a_machine_is_placed_at_once),
		cmocka_unit_test(what_was_on_a_silent_worker_goes_to_another),
		cmocka_unit_test(a_worker_that_changes_is_looked_at),
		cmocka_unit_test(how_long_it_waits_is_a_setting),
		cmocka_unit_test(a_node_that_takes_no_new_work_is_left_out),
		cmocka_unit_test(both_passes_are_of_one_turn),
		cmocka_unit_test(requests_of_a_turn_are_one),
		cmocka_unit_test(one_of_them_schedules),
		cmocka_unit_test(a_pass_keeps_its_view),
		cmocka_unit_test(a_machine_that_changed_is_left_out_of_the_pass),
		cmocka_unit_test(after_a_worker_that_changed_the_next_is_tried),
		cmocka_unit_test(a_full_disk_ends_the_pass),
		cmocka_unit_test(a_round_that_is_refused_is_the_last),
		cmocka_unit_test(the_time_to_an_assignment_is_measured),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
