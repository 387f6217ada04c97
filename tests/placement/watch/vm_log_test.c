// What the scheduler of virtual machines logs, and a pass of it that fails.
#include "state/applier/command_queue.h"
#include "state/base/limits.h"
#include "state/base/log.h"
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
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static char output[1u << 20];
static int captured, real_stderr;

static void start_capture(void)
{
	captured = memfd_create("log", 0);
	real_stderr = dup(STDERR_FILENO);
	assert_true(captured >= 0 && real_stderr >= 0);
	assert_true(dup2(captured, STDERR_FILENO) >= 0);
	log_configure(LOG_DEBUG, false);
}

static void end_capture(void)
{
	ssize_t size = pread(captured, output, sizeof output - 1, 0);

	log_configure(LOG_INFO, false);
	assert_true(dup2(real_stderr, STDERR_FILENO) >= 0);
	assert_int_equal(close(real_stderr), 0);
	assert_int_equal(close(captured), 0);
	assert_true(size > 0);
	output[size] = 0;
}

// Watchers of their own whose commands go through a queue that a test looks into.
struct relay {
	struct controller *controller;
	struct command_queue *queue;
	bool refuses_health;
	uint32_t refused;
};

static void relay_step(void *context)
{
	struct relay *relay = context;
	struct command *c;

	while (command_queue_take(relay->queue, &c, 1) == 1) {
		if (c->type != COMMAND_VM_HEALTH || !relay->refuses_health) {
			assert_true(command_queue_push(
				relay->controller->queue, COMMAND_PRODUCER_SHARED, c));
			continue;
		}
		relay->refused++;
		c->outcome = OUTCOME_STORE_FULL;
		c->done(c);
	}
	(void)applier_step(relay->controller->applier);
}

static struct watchers *watch_through(struct relay *relay)
{
	relay->queue = command_queue_create(1);
	struct watchers *watchers = watchers_create(&(struct watchers_settings){
		.state = relay->controller->state,
		.queue = relay->queue,
		.time = &relay->controller->source,
		.seed = 1,
		.step = relay_step,
		.step_context = relay,
	});
	assert_int_equal(watchers_start(watchers), 0);
	return watchers;
}

static bool is_logged(const char *event, const char *with)
{
	char wanted[64];

	snprintf(wanted, sizeof wanted, " event=%s ", event);
	for (const char *at = output; (at = strstr(at, wanted)); at++) {
		const char *end = strchr(at, '\n'), *found = strstr(at, with);
		if (found && found < end)
			return true;
	}
	return false;
}

// Rows D1, D19: more machines are unwell than one command takes. The first refusal ends the health pass, which is
// logged with the counts 0 and 0; machines that wait get their workers in the same turn.
static void a_health_pass_that_fails_stops_no_placement(void **state)
{
	const uint32_t lost = VM_ASSIGN_MAX + 1;
	struct watchers_stats stats;
	struct scene s;
	char name[16];

	vm_scene_begin(&s);
	vm_scene_worker(&s, "w1", lost);
	for (uint32_t i = 0; i < lost; i++) {
		snprintf(name, sizeof name, "m%u", i);
		vm_scene_ask_for(&s, name, VM_RESTART_NEVER);
	}
	scene_settle(&s);
	vm_scene_expect(&s, "m0", "w1", VM_PENDING);
	assert_int_equal(delete_worker(&s.controller, "w1"), OUTCOME_DONE);
	vm_scene_worker(&s, "w2", 1);
	vm_scene_ask(&s, "a");
	struct relay relay = {.controller = &s.controller, .refuses_health = true};
	struct watchers *watchers = watch_through(&relay);
	start_capture();
	(void)watchers_turn(watchers);
	end_capture();
	vm_scene_expect(&s, "a", "w2", VM_PENDING);
	vm_scene_expect(&s, "m0", "w1", VM_PENDING);
	assert_int_equal(relay.refused, 1);
	watchers_stats(watchers, &stats);
	assert_int_equal(stats.commands_refused, 1);
	assert_int_equal(stats.vm_turns, 1);
	assert_non_null(strstr(output, "level=error event=vms-health-failed error=\""));
	assert_true(is_logged("vms-turn", "health_workers=0 health_vms=0 "));
	assert_true(is_logged("vms-turn", " written=0 scheduling_workers=1 "));
	assert_true(is_logged("vms-turn", " assigned=1"));
	relay.refuses_health = false;
	log_configure(LOG_ERROR, false); // leaves the budgets of lines to the other tests
	manual_time_advance_ms(&s.controller.time, 5000);
	(void)watchers_turn(watchers);
	struct vm *vm = published_vm(&s.controller, "m0");
	assert_int_equal(vm->status, VM_FAILED);
	vm_free(vm);
	log_configure(LOG_INFO, false);
	watchers_stop(watchers);
	watchers_destroy(watchers);
	command_queue_destroy(relay.queue);
	scene_free(&s);
}

static void what_becomes_of_machines_is_logged(void **state)
{
	struct command_vm_report runs = {.status = {true, VM_RUNNING}};
	struct scene s;
	char uid[64];

	vm_scene_begin(&s);
	vm_scene_worker(&s, "w1", 1);
	start_capture();
	vm_scene_ask(&s, "a");
	struct vm *vm = published_vm(&s.controller, "a");
	snprintf(uid, sizeof uid, " vm=a uid=%s restarts=0 image=\"image\" ", vm->uid);
	vm_free(vm);
	scene_advance(&s, 2000);
	assert_int_equal(report_vm(&s.controller, "a", NULL, &runs), OUTCOME_DONE);
	scene_advance(&s, 3000);
	assert_int_equal(delete_worker(&s.controller, "w1"), OUTCOME_DONE);
	scene_advance(&s, 6000);
	assert_int_equal(delete_vm(&s.controller, "a"), OUTCOME_DONE);
	scene_settle(&s);
	end_capture();
	assert_true(is_logged("vm-created", uid + 1));
	assert_true(is_logged("vm-scheduled", uid + 1));
	assert_true(is_logged("vm-scheduled", " worker=\"w1\" scheduling_ms=100 run_ms=0 "));
	assert_true(is_logged("vm-started", uid + 1));
	assert_true(is_logged("vm-worker-lost", uid + 1));
	assert_true(
		is_logged("vm-worker-lost", " run_ms=3100 message=\"" VM_TEXT_WORKER_GONE "\""));
	assert_true(is_logged("vm-restarted", " restarts=1 image=\"image\" status=pending "));
	assert_true(is_logged("vm-deleted", " restarts=1 "));
	assert_non_null(strstr(output, "level=info event=vm-restarted "));
	assert_non_null(strstr(output, "level=debug event=vms-requested by=machine"));
	assert_true(is_logged("vms-turn", "health_workers=1 health_vms=1 health_us="));
	scene_free(&s);
}

static void requests_that_add_nothing_are_logged_as_such(void **state)
{
	struct scene s;

	vm_scene_begin(&s);
	start_capture();
	vm_scene_ask(&s, "a");
	vm_scene_ask(&s, "b");
	end_capture();
	assert_non_null(strstr(output, "event=vms-requested by=machine"));
	assert_non_null(strstr(output, "event=vms-requested-already by=machine"));
	scene_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_health_pass_that_fails_stops_no_placement),
		cmocka_unit_test(what_becomes_of_machines_is_logged),
		cmocka_unit_test(requests_that_add_nothing_are_logged_as_such),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
