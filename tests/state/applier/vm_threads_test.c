// Virtual machines, their workers and settings on the applier's own threads, while others look them up in every way and
// take snapshots: what a reader has found stays whole until it lets go, and no list leads astray.
#include "state/base/memory.h"
#include "tests/state/vms.h"
#include "tests/support/readers.h"
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WORKERS = 3, MACHINES = 12, ROUNDS = 60, READERS = 3 };

static const char *const worker_names[WORKERS] = {"w0", "w1", "w2"};

static const char *name_of(uint32_t machine, char name[static 16])
{
	snprintf(name, 16, "vm%02u", machine);
	return name;
}

// The instance of what was found leads back to it, unless it was ended or moved meanwhile.
static bool is_whole(const struct state *state, const struct vm *vm)
{
	const struct vm *found = state_vm_by_instance(state, &vm->instance);

	if (strncmp(vm->name, "vm", 2) != 0 || vm_is_scheduled(vm) == uuid_is_zero(&vm->instance))
		return false;
	return !found ||
	       (strcmp(found->name, vm->name) == 0 && uuid_equal(&found->instance, &vm->instance));
}

static bool look_at(const struct vm *vm, void *context)
{
	struct reader *r = context;

	r->wrong += !is_whole(r->controller->state, vm) || !vm_is_scheduled(vm);
	return true;
}

static void look_at_worker(struct reader *r, const struct vm_worker *worker)
{
	const struct state *state = r->controller->state;
	const struct vm_worker *of_node = state_vm_worker_of_node(state, &worker->node);

	r->wrong += worker->name[0] != 'w' || strcmp(worker->machine_id, worker->name) != 0;
	r->wrong += of_node && !uuid_equal(&of_node->node, &worker->node);
	state_worker_vms(state, text_of(worker->name), NULL, look_at, r);
}

static void *read_all(void *argument)
{
	struct reader *r = argument;
	const struct state *state = r->controller->state;

	while (!r->stop) {
		const struct vm *vm;
		const struct vm_worker *worker;
		uint64_t cursor = 0, worker_cursor = 0;
		state_read_begin();
		while ((vm = state_next(state, STATE_VMS, &cursor)))
			r->wrong += !is_whole(state, vm);
		while ((worker = state_next(state, STATE_VM_WORKERS, &worker_cursor)))
			look_at_worker(r, worker);
		const char *profile = state_cluster_settings(state)->scheduler_profile;
		r->wrong += profile && *profile && strcmp(profile, VM_PROFILE_DISTRIBUTE) != 0;
		state_read_end();
		r->rounds++;
		sched_yield();
	}
	return NULL;
}

// The first two are nodes, and one of these says more or less of itself each time.
static void renew_worker(struct controller *c, uint32_t worker, uint32_t round)
{
	const char *name = worker_names[worker];
	const struct worker_setting settings[] = {{"vm.worker", "1"}, {"vm.machine_id", name},
		{"vm.resource." VM_RESOURCE_CORES, round % 2 ? "64" : "32"}, {NULL, NULL}};

	if (worker < 2)
		assert_int_equal(register_worker(c, worker, name, settings, NULL), OUTCOME_DONE);
	else
		assert_int_equal(put_worker(c, build_worker(name, name, 64)), OUTCOME_DONE);
}

static void choose_profile(struct controller *c, uint32_t round)
{
	struct cluster_settings *settings = record_create(&cluster_settings_description);
	struct command command = {.type = COMMAND_CLUSTER_SETTINGS, .cluster_settings = {settings}};

	if (round % 2)
		settings->scheduler_profile = text_copy(TEXT(VM_PROFILE_DISTRIBUTE));
	assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
}

static void live(struct controller *c, uint32_t machine, uint32_t round)
{
	struct command_vm_report failed = {.status = {true, VM_FAILED}, .status_message = "ended"};
	char name[16];

	name_of(machine, name);
	assert_int_equal(create_vm(c, build_vm(name, 1)), OUTCOME_DONE);
	assert_int_equal(
		assign_vm(c, name, worker_names[(machine + round) % WORKERS]), VM_ASSIGNED);
	if (machine % 3 == 0)
		assert_int_equal(set_power(c, name, VM_POWER_STOPPED), OUTCOME_DONE);
	if (machine % 3 != 1)
		return;
	assert_int_equal(report_vm(c, name, NULL, &failed), OUTCOME_DONE);
	assert_int_equal(judge_vm(c, name), 1); // its place is free again
}

static void one_round(struct controller *c, uint32_t round)
{
	char name[16];

	renew_worker(c, round % WORKERS, round);
	for (uint32_t i = 0; i < MACHINES; i++)
		live(c, i, round);
	choose_profile(c, round);
	assert_int_equal(pause_worker(c, "w1", true), OUTCOME_DONE);
	assert_int_equal(delete_worker(c, "w2"), OUTCOME_DONE); // machines are still there
	for (uint32_t i = 0; i < MACHINES; i++)
		assert_int_equal(delete_vm(c, name_of(i, name)), OUTCOME_DONE);
	assert_int_equal(pause_worker(c, "w1", false), OUTCOME_DONE);
	renew_worker(c, 2, round);
	(void)controller_collect(c);
}

static void machines_change_under_readers(void **unused)
{
	reader_body *const bodies[READERS] = {read_all, read_all, reader_of_snapshots};
	struct reader readers[READERS];
	struct controller c;

	controller_init(&c, (struct state_limits){0});
	controller_open(&c);
	c.source = time_source_real;
	controller_start(&c, -1);
	for (uint32_t i = 0; i < WORKERS; i++)
		renew_worker(&c, i, 0);
	readers_start(readers, bodies, READERS, &c);
	for (uint32_t round = 0; round < ROUNDS; round++)
		one_round(&c, round);
	readers_stop(readers, READERS);
	applier_stop(c.applier, 1000);
	controller_verify(&c);
	controller_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(machines_change_under_readers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
