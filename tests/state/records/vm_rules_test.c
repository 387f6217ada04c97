// What a virtual machine is, fits and becomes, row by row (D6, D10, D11, D14 to D16, D20 to D26, D28, D29).
#include "state/base/limits.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "state/records/nodes/vm.h"
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define NOW (1000000 * NS_PER_S)
#define OFFLINE_AFTER (180 * NS_PER_S)

struct fixture {
	struct vm *vm;
	struct vm_worker *worker;
	char message[160];
};

static int set_up(void **state)
{
	struct fixture *f = memory_take(sizeof *f);
	f->vm = vm_create();
	f->worker = vm_worker_create();
	f->vm->name = text_copy(TEXT("web"));
	f->vm->uid = text_copy(TEXT("u1"));
	f->vm->image = text_copy(TEXT("debian"));
	f->worker->name = text_copy(TEXT("w1"));
	f->worker->last_seen_ns = NOW;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	vm_free(f->vm);
	vm_worker_free(f->worker);
	free(f);
	return 0;
}

static void put_count(struct array *map, const char *name, int64_t count)
{
	((struct named_count *)map_item(map, sizeof(struct named_count), name))->count = count;
}

static void counts_release(struct array *map)
{
	for (uint32_t i = 0; i < map->count; i++)
		free(ARRAY_AT(map, struct named_count, i)->name);
	free(map->items);
}

static void put_label(struct array *map, const char *name, const char *value)
{
	struct string_pair *pair = map_item(map, sizeof *pair, name);
	free(pair->value);
	pair->value = text_copy(text_of(value));
}

static void set_text(char **to, const char *text)
{
	free(*to);
	*to = text_copy(text_of(text));
}

static void assert_condition(const struct vm *vm, int type, int state)
{
	const struct vm_condition *c = vm_condition(vm, type);
	assert_non_null(c);
	assert_int_equal(c->state, state);
}

static void schedule(struct fixture *f)
{
	vm_assign(f->vm, f->worker, NOW - 100 * NS_PER_S);
}

static enum vm_verdict health(struct fixture *f)
{
	return vm_health(f->vm, f->worker, NOW, OFFLINE_AFTER);
}

static void a_condition_decides_before_the_worker(void **state)
{
	struct fixture *f = *state;
	assert_false(vm_is_scheduled(f->vm));
	set_text(&f->vm->worker, "w1");
	assert_true(vm_is_scheduled(f->vm));
	vm_set_condition(f->vm, VM_CONDITION_SCHEDULED, false);
	assert_false(vm_is_scheduled(f->vm));
	set_text(&f->vm->worker, "");
	vm_set_condition(f->vm, VM_CONDITION_SCHEDULED, true);
	assert_true(vm_is_scheduled(f->vm));
	assert_int_equal(f->vm->conditions.count, 1);
	assert_null(vm_condition(f->vm, VM_CONDITION_RUNNING));
}

static void only_what_is_to_run_wants_a_worker(void **state)
{
	struct fixture *f = *state;
	assert_true(vm_wants_worker(f->vm));
	f->vm->status = VM_RUNNING; // an old report: it is not scheduled all the same
	assert_true(vm_wants_worker(f->vm));
	f->vm->status = VM_FAILED;
	assert_false(vm_wants_worker(f->vm));
	f->vm->status = VM_PENDING;
	f->vm->power_state = VM_POWER_STOPPED;
	assert_false(vm_wants_worker(f->vm));
	f->vm->power_state = VM_POWER_SUSPENDED;
	assert_false(vm_wants_worker(f->vm));
	f->vm->power_state = VM_POWER_RUNNING;
	schedule(f);
	assert_false(vm_wants_worker(f->vm));
}

static void offline_is_strictly_longer(void **state)
{
	struct fixture *f = *state;
	f->worker->last_seen_ns = NOW - OFFLINE_AFTER;
	assert_false(vm_worker_is_offline(f->worker, NOW, OFFLINE_AFTER));
	f->worker->last_seen_ns--;
	assert_true(vm_worker_is_offline(f->worker, NOW, OFFLINE_AFTER));
	f->worker->beats = true;
	assert_false(vm_worker_is_offline(f->worker, NOW, OFFLINE_AFTER));
	f->worker->beats = false;
	f->worker->last_seen_ns = INT64_MIN; // no number says how long ago
	assert_true(vm_worker_is_offline(f->worker, NOW, OFFLINE_AFTER));
	f->worker->last_seen_ns = NOW + 5 * NS_PER_S;
	assert_false(vm_worker_is_offline(f->worker, NOW, OFFLINE_AFTER));
}

static void labels_and_kind_have_to_be_there(void **state)
{
	struct fixture *f = *state;
	put_label(&f->worker->labels, "zone", "a");
	put_label(&f->worker->labels, "disk", "");
	assert_true(vm_suits_worker(f->vm, f->worker));
	put_label(&f->vm->labels, "zone", "a");
	assert_true(vm_suits_worker(f->vm, f->worker));
	put_label(&f->vm->labels, "disk", "");
	assert_true(vm_suits_worker(f->vm, f->worker));
	put_label(&f->vm->labels, "gpu", "");
	assert_false(vm_suits_worker(f->vm, f->worker));
	put_label(&f->worker->labels, "gpu", "");
	assert_true(vm_suits_worker(f->vm, f->worker));
	put_label(&f->vm->labels, "zone", "b");
	assert_false(vm_suits_worker(f->vm, f->worker));
	put_label(&f->vm->labels, "zone", "a");
	set_text(&f->vm->arch, "arm64");
	assert_false(vm_suits_worker(f->vm, f->worker)); // it did not say what it is
	set_text(&f->worker->arch, "arm64");
	set_text(&f->worker->runtime, "tart");
	assert_true(vm_suits_worker(f->vm, f->worker)); // any runtime will do
	set_text(&f->vm->runtime, "vetu");
	assert_false(vm_suits_worker(f->vm, f->worker));
}

static void what_is_over_committed_fits_nothing(void **state)
{
	(void)state;
	struct array request = {0}, total = {0}, used = {0};
	assert_true(vm_fits(&request, &total, &used));
	put_count(&request, "cores", 0);
	assert_true(vm_fits(&request, &total, &used)); // nothing of what is not there
	put_count(&request, "cores", 2);
	assert_false(vm_fits(&request, &total, &used));
	put_count(&total, "cores", 4);
	put_count(&used, "cores", 2);
	assert_true(vm_fits(&request, &total, &used));
	put_count(&used, "cores", 3);
	assert_false(vm_fits(&request, &total, &used));
	put_count(&used, "cores", 9); // 4 - 9 is no huge number
	assert_false(vm_fits(&request, &total, &used));
	put_count(&request, "cores", 0);
	assert_true(vm_fits(&request, &total, &used));
	counts_release(&request);
	counts_release(&total);
	counts_release(&used);
}

static void use_is_added_and_taken_off(void **state)
{
	(void)state;
	struct array used = {0}, a = {0}, b = {0};
	put_count(&a, "cores", 2);
	put_count(&b, "cores", 3);
	put_count(&b, "memory", 7);
	vm_resources_add(&used, &a);
	vm_resources_add(&used, &b);
	assert_int_equal(ARRAY_AT(&used, struct named_count, 0)->count, 5);
	assert_int_equal(ARRAY_AT(&used, struct named_count, 1)->count, 7);
	vm_resources_remove(&used, &b);
	assert_int_equal(ARRAY_AT(&used, struct named_count, 0)->count, 2);
	vm_resources_remove(&used, &b);
	assert_int_equal(used.count, 0); // what is not used takes no memory
	put_count(&b, "cores", INT64_MAX);
	vm_resources_add(&used, &b);
	vm_resources_add(&used, &b);
	assert_int_equal(ARRAY_AT(&used, struct named_count, 0)->count, INT64_MAX);
	counts_release(&used);
	counts_release(&a);
	counts_release(&b);
}

static void assignment_fills_what_was_not_said(void **state)
{
	struct fixture *f = *state;
	vm_assign(f->vm, f->worker, NOW);
	assert_string_equal(f->vm->worker, "w1");
	assert_int_equal(f->vm->scheduled_at_ns, NOW);
	assert_condition(f->vm, VM_CONDITION_SCHEDULED, 1);
	assert_int_equal(f->vm->assigned_cpu, 4);
	assert_int_equal(f->vm->assigned_memory_mib, 8192);
	f->worker->default_cpu = 6;
	f->worker->default_memory_mib = 1000;
	vm_assign(f->vm, f->worker, NOW);
	assert_int_equal(f->vm->assigned_cpu, 6);
	assert_int_equal(f->vm->assigned_memory_mib, 1000);
	f->vm->cpu = 1;
	f->vm->memory_mib = 512;
	vm_assign(f->vm, f->worker, NOW);
	assert_int_equal(f->vm->assigned_cpu, 1);
	assert_int_equal(f->vm->assigned_memory_mib, 512);
}

static void what_is_well_stays_as_it_is(void **state)
{
	struct fixture *f = *state;
	schedule(f);
	assert_int_equal(health(f), VM_HEALTHY);
	struct vm *before = vm_copy(f->vm);
	vm_apply_verdict(f->vm, VM_HEALTHY, NOW);
	assert_true(record_equal(&vm_description, before, f->vm));
	vm_free(before);
}

static void fail_now(struct fixture *f)
{
	f->vm->status = VM_FAILED;
	set_text(&f->vm->status_message, "boot failed");
}

static void assert_restarted(const struct vm *vm, uint64_t count)
{
	char name[64];
	snprintf(name, sizeof name, "orchard-web-u1-%" PRIu64, count);
	assert_int_equal(vm->status, VM_PENDING);
	assert_null(vm->status_message);
	assert_null(vm->worker);
	assert_int_equal(vm->assigned_cpu, 0);
	assert_int_equal(vm->assigned_memory_mib, 0);
	assert_int_equal(vm->restart_count, count);
	assert_int_equal(vm->scheduled_at_ns, 0);
	assert_int_equal(vm->started_at_ns, 0);
	assert_int_equal(vm->power_state, VM_POWER_RUNNING);
	assert_string_equal(vm->local_name, name);
	assert_int_equal(vm->conditions.count, 1);
	assert_condition(vm, VM_CONDITION_SCHEDULED, 0);
	assert_true(vm_wants_worker(vm));
}

static void a_failed_one_is_restarted_at_once_and_then_after_a_while(void **state)
{
	struct fixture *f = *state;
	f->vm->restart_policy = VM_RESTART_ON_FAILURE;
	schedule(f);
	vm_set_condition(f->vm, VM_CONDITION_RUNNING, true);
	f->vm->started_at_ns = NOW - 50 * NS_PER_S;
	fail_now(f);
	assert_int_equal(health(f), VM_RESTART); // also when its worker is gone or lost
	assert_int_equal(vm_health(f->vm, NULL, NOW, OFFLINE_AFTER), VM_RESTART);
	vm_apply_verdict(f->vm, VM_RESTART, NOW);
	assert_restarted(f->vm, 1);
	assert_int_equal(f->vm->restarted_at_ns, NOW);
	assert_int_equal(f->vm->events.count, 1);
	const struct vm_event *event = ARRAY_AT(&f->vm->events, struct vm_event, 0);
	assert_string_equal(event->message, "VM restarted");
	assert_int_equal(event->time_ns, NOW);

	vm_assign(f->vm, f->worker, NOW + NS_PER_S);
	fail_now(f);
	int64_t due = NOW + 15 * NS_PER_S;
	assert_int_equal(vm_health(f->vm, f->worker, due, OFFLINE_AFTER), VM_FAILED_FREED);
	vm_apply_verdict(f->vm, VM_FAILED_FREED, due);
	assert_false(vm_is_scheduled(f->vm));
	assert_false(vm_wants_worker(f->vm));
	// It is not forgotten although nothing looks at what is not scheduled (row D21).
	assert_int_equal(vm_health(f->vm, f->worker, due, OFFLINE_AFTER), VM_HEALTHY);
	assert_int_equal(vm_health(f->vm, f->worker, due + 1, OFFLINE_AFTER), VM_RESTART);
	vm_apply_verdict(f->vm, VM_RESTART, due + 1);
	assert_restarted(f->vm, 2);
}

static void who_is_never_restarted_is_freed_once(void **state)
{
	struct fixture *f = *state;
	schedule(f);
	fail_now(f);
	assert_int_equal(health(f), VM_FAILED_FREED);
	vm_apply_verdict(f->vm, VM_FAILED_FREED, NOW);
	assert_condition(f->vm, VM_CONDITION_SCHEDULED, 0);
	assert_condition(f->vm, VM_CONDITION_RUNNING, 0);
	assert_string_equal(f->vm->worker, "w1");
	assert_string_equal(f->vm->status_message, "boot failed");
	assert_int_equal(health(f), VM_HEALTHY);
}

static void a_worker_that_is_gone_is_said_once(void **state)
{
	struct fixture *f = *state;
	schedule(f);
	assert_int_equal(vm_health(f->vm, NULL, NOW, OFFLINE_AFTER), VM_WORKER_GONE);
	vm_apply_verdict(f->vm, VM_WORKER_GONE, NOW);
	assert_int_equal(f->vm->status, VM_FAILED);
	assert_string_equal(
		f->vm->status_message, "VM is assigned to a worker that doesn't exist anymore");
	assert_true(vm_is_scheduled(f->vm));
	assert_int_equal(vm_health(f->vm, NULL, NOW, OFFLINE_AFTER), VM_FAILED_FREED);
	vm_apply_verdict(f->vm, VM_FAILED_FREED, NOW);
	assert_int_equal(vm_health(f->vm, NULL, NOW, OFFLINE_AFTER), VM_HEALTHY);
}

static void a_lost_worker_fails_what_runs_there(void **state)
{
	struct fixture *f = *state;
	schedule(f);
	f->worker->last_seen_ns = NOW - OFFLINE_AFTER;
	assert_int_equal(health(f), VM_HEALTHY);
	f->worker->last_seen_ns--;
	assert_int_equal(health(f), VM_WORKER_LOST);
	vm_apply_verdict(f->vm, VM_WORKER_LOST, NOW);
	assert_int_equal(f->vm->status, VM_FAILED);
	assert_string_equal(f->vm->status_message,
		"VM is assigned to a worker that lost connection with the controller");
	assert_int_equal(health(f), VM_FAILED_FREED);
}

static void what_was_stopped_is_freed_when_it_no_longer_runs(void **state)
{
	struct fixture *f = *state;
	schedule(f);
	f->vm->power_state = VM_POWER_STOPPED;
	assert_int_equal(health(f), VM_HEALTHY); // nothing was said of whether it runs
	vm_set_condition(f->vm, VM_CONDITION_RUNNING, true);
	assert_int_equal(health(f), VM_HEALTHY);
	vm_set_condition(f->vm, VM_CONDITION_RUNNING, false);
	assert_int_equal(health(f), VM_STOPPED);
	vm_apply_verdict(f->vm, VM_STOPPED, NOW);
	assert_condition(f->vm, VM_CONDITION_SCHEDULED, 0);
	assert_string_equal(f->vm->worker, "w1");
	assert_int_equal(health(f), VM_HEALTHY);
	assert_false(vm_wants_worker(f->vm));
}

static void stopped_comes_before_failed(void **state)
{
	struct fixture *f = *state;
	schedule(f);
	vm_set_condition(f->vm, VM_CONDITION_RUNNING, false);
	f->vm->power_state = VM_POWER_SUSPENDED;
	fail_now(f);
	assert_int_equal(health(f), VM_STOPPED);
	f->worker->last_seen_ns = 0; // and the lost worker before both, if it did not fail
	assert_int_equal(health(f), VM_STOPPED);
	f->vm->status = VM_RUNNING;
	assert_int_equal(health(f), VM_WORKER_LOST);
}

static bool complete(struct fixture *f)
{
	return vm_complete(f->vm, "u2", NOW, f->message, sizeof f->message);
}

static void creation_says_what_was_not_said(void **state)
{
	struct fixture *f = *state;
	f->vm->status = VM_RUNNING; // none of these are the client's to say
	f->vm->restart_count = 7;
	f->vm->power_state = VM_POWER_STOPPED;
	set_text(&f->vm->worker, "w9");
	vm_note(f->vm, "made up", 1);
	vm_set_condition(f->vm, VM_CONDITION_RUNNING, true);
	assert_true(vm_complete(f->vm, "u1", NOW, f->message, sizeof f->message));
	assert_restarted(f->vm, 0);
	assert_int_equal(f->vm->restarted_at_ns, 0);
	assert_int_equal(f->vm->events.count, 0);
	assert_int_equal(f->vm->created_at_ns, NOW);
	assert_int_equal(f->vm->restart_policy, VM_RESTART_NEVER);
	assert_string_equal(f->vm->image_pull_policy, "IfNotPresent");
	assert_int_equal(f->vm->resources.count, 0);
}

static void one_of_macos_takes_a_place_of_its_own(void **state)
{
	struct fixture *f = *state;
	set_text(&f->vm->os, "linux");
	assert_true(complete(f));
	assert_int_equal(f->vm->resources.count, 0);
	set_text(&f->vm->os, "darwin");
	assert_true(complete(f));
	assert_int_equal(f->vm->resources.count, 1);
	const struct named_count *tart = ARRAY_AT(&f->vm->resources, struct named_count, 0);
	assert_string_equal(tart->name, "org.cirruslabs.tart-vms");
	assert_int_equal(tart->count, 1);
	put_count(&f->vm->resources, VM_RESOURCE_TART, 2);
	assert_true(complete(f));
	assert_int_equal(tart->count, 2);
}

static void assert_refused(struct fixture *f, const char *why)
{
	assert_false(complete(f));
	assert_string_equal(f->message, why);
}

static void creation_refuses_what_is_missing_or_unknown(void **state)
{
	struct fixture *f = *state;
	set_text(&f->vm->name, "");
	assert_refused(f, "VM name is empty");
	set_text(&f->vm->name, "a/b");
	assert_refused(f, "VM name may only have letters, digits, \"-\", \"_\" and \".\"");
	char long_name[NAME_BYTES_MAX + 2];
	memset(long_name, 'n', sizeof long_name - 1);
	long_name[sizeof long_name - 1] = '\0';
	set_text(&f->vm->name, long_name);
	assert_refused(f, "VM name is longer than 255 bytes");
	set_text(&f->vm->name, "a");
	set_text(&f->vm->image, "");
	assert_refused(f, "VM image is empty");
	set_text(&f->vm->image, "debian");
	set_text(&f->vm->image_pull_policy, "Sometimes");
	assert_refused(f, "unsupported image pull policy: \"Sometimes\"");
	set_text(&f->vm->image_pull_policy, "Always");
	put_count(&f->vm->resources, "cores", -1);
	assert_refused(f, "VM requests less than nothing of resource \"cores\"");
	put_count(&f->vm->resources, "cores", 1);
	assert_true(complete(f));
	assert_string_equal(f->vm->image_pull_policy, "Always");
	char name[8];
	for (unsigned i = 0; i < VM_LABELS_MAX + 1; i++) {
		assert_true(complete(f));
		snprintf(name, sizeof name, "l%u", i);
		put_label(&f->vm->labels, name, "x");
	}
	assert_refused(f, "VM has more than 64 labels");
}

static const char *repeated(char letter, uint32_t count)
{
	static char text[ATTRIBUTE_VALUE_BYTES_MAX + ATTRIBUTE_NAME_BYTES_MAX];
	memset(text, letter, count);
	text[count] = '\0';
	return text;
}

// Each alone is too much; one byte less is not.
static void names_and_values_are_bounded(void **state)
{
	struct fixture *f = *state;
	for (uint32_t more = 0; more < 2; more++) {
		put_count(&f->vm->resources, repeated('r', ATTRIBUTE_NAME_BYTES_MAX + more), 1);
		if (!more)
			assert_true(complete(f));
	}
	assert_refused(f, "the name of a resource has 1 to 128 bytes");
	counts_release(&f->vm->resources);
	f->vm->resources = (struct array){0};
	put_label(&f->vm->labels, repeated('l', ATTRIBUTE_NAME_BYTES_MAX), "");
	assert_true(complete(f));
	put_label(&f->vm->labels, "l", repeated('v', ATTRIBUTE_VALUE_BYTES_MAX));
	assert_true(complete(f));
	put_label(&f->vm->labels, "l", repeated('v', ATTRIBUTE_VALUE_BYTES_MAX + 1));
	assert_refused(f, "a label has a name of 1 to 128 bytes and a value of at most 1024");
	put_label(&f->vm->labels, "l", "");
	assert_true(complete(f));
	put_label(&f->vm->labels, repeated('m', ATTRIBUTE_NAME_BYTES_MAX + 1), "");
	assert_refused(f, "a label has a name of 1 to 128 bytes and a value of at most 1024");
}

static void labels_have_names(void **state)
{
	struct fixture *f = *state;
	put_label(&f->vm->labels, "", "x");
	assert_refused(f, "a label has a name of 1 to 128 bytes and a value of at most 1024");
}

static void resources_have_names(void **state)
{
	struct fixture *f = *state;
	put_count(&f->vm->resources, "", 1);
	assert_refused(f, "the name of a resource has 1 to 128 bytes");
}

static void what_is_added_to_a_request_counts_as_well(void **state)
{
	struct fixture *f = *state;
	char name[8];
	for (unsigned i = 0; i < VM_RESOURCES_MAX; i++) {
		snprintf(name, sizeof name, "r%u", i);
		put_count(&f->vm->resources, name, 1);
	}
	assert_true(complete(f));
	set_text(&f->vm->os, "darwin");
	assert_refused(f, "VM requests more than 32 resources");
}

static bool power(struct fixture *f, int to)
{
	return vm_set_power(f->vm, to, f->message, sizeof f->message);
}

static void power_goes_one_way(void **state)
{
	struct fixture *f = *state;
	assert_true(power(f, VM_POWER_RUNNING));
	assert_int_equal(f->vm->generation, 0);
	assert_false(power(f, VM_POWER_SUSPENDED));
	assert_string_equal(f->message,
		"invalid \"powerState\" transition: only suspendable VMs can be suspended");
	f->vm->suspendable = true;
	assert_true(power(f, VM_POWER_SUSPENDED));
	assert_int_equal(f->vm->power_state, VM_POWER_SUSPENDED);
	assert_int_equal(f->vm->generation, 1);
	assert_false(power(f, VM_POWER_RUNNING));
	assert_string_equal(f->message,
		"invalid \"powerState\" transition: cannot transition from a terminal power state");
	f->vm->power_state = VM_POWER_RUNNING;
	f->vm->status = VM_FAILED;
	assert_false(power(f, VM_POWER_STOPPED));
	assert_string_equal(f->message, "cannot update VM in a terminal state");
}

static void only_the_newest_events_are_kept(void **state)
{
	struct fixture *f = *state;
	char text[16];
	for (unsigned i = 0; i < VM_EVENTS_MAX + 3; i++) {
		snprintf(text, sizeof text, "event %u", i);
		vm_note(f->vm, text, i);
	}
	assert_int_equal(f->vm->events.count, VM_EVENTS_MAX);
	assert_string_equal(ARRAY_AT(&f->vm->events, struct vm_event, 0)->message, "event 3");
	assert_string_equal(
		ARRAY_AT(&f->vm->events, struct vm_event, VM_EVENTS_MAX - 1)->message, "event 34");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_condition_decides_before_the_worker),
		TEST(only_what_is_to_run_wants_a_worker),
		TEST(offline_is_strictly_longer),
		TEST(labels_and_kind_have_to_be_there),
		cmocka_unit_test(what_is_over_committed_fits_nothing),
		cmocka_unit_test(use_is_added_and_taken_off),
		TEST(assignment_fills_what_was_not_said),
		TEST(what_is_well_stays_as_it_is),
		TEST(a_failed_one_is_restarted_at_once_and_then_after_a_while),
		TEST(who_is_never_restarted_is_freed_once),
		TEST(a_worker_that_is_gone_is_said_once),
		TEST(a_lost_worker_fails_what_runs_there),
		TEST(what_was_stopped_is_freed_when_it_no_longer_runs),
		TEST(stopped_comes_before_failed),
		TEST(creation_says_what_was_not_said),
		TEST(one_of_macos_takes_a_place_of_its_own),
		TEST(creation_refuses_what_is_missing_or_unknown),
		TEST(what_is_added_to_a_request_counts_as_well),
		TEST(names_and_values_are_bounded),
		TEST(labels_have_names),
		TEST(resources_have_names),
		TEST(power_goes_one_way),
		TEST(only_the_newest_events_are_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
