// Virtual machines are placed at once, also after refusals and restarts, and fail when their worker is silent.
#include "state/base/memory.h"
#include "state/vm.h"
#include "tests/watch/scene.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void see_worker(struct scene *s, const char *name, int64_t cores)
{
	struct vm_worker *worker = vm_worker_create();
	worker->name = text_copy(text_of(name));
	worker->machine_id = text_copy(text_of(name));
	((struct named_count *)map_item(&worker->resources, sizeof(struct named_count), "cores"))
		->count = cores;
	struct command c = {.type = COMMAND_VM_WORKER, .vm_worker = {.worker = worker}};
	assert_int_equal(scene_run(s, &c), OUTCOME_DONE);
	vm_worker_free(c.vm_worker.worker);
}

static void ask(struct scene *s, const char *name)
{
	struct vm *vm = vm_create();
	vm->name = text_copy(text_of(name));
	vm->image = text_copy(TEXT("image"));
	vm->restart_policy = VM_RESTART_ON_FAILURE;
	((struct named_count *)map_item(&vm->resources, sizeof(struct named_count), "cores"))
		->count = 1;
	struct command_vm_create create = {.vm = vm};
	struct command c = {.type = COMMAND_VM_CREATE, .vm_create = &create};
	assert_int_equal(scene_run(s, &c), OUTCOME_DONE);
	vm_free(create.vm);
}

static void expect(struct scene *s, const char *name, const char *worker, int status)
{
	state_read_begin();
	const struct vm *vm = state_vm(s->controller.state, text_of(name));
	assert_non_null(vm);
	assert_string_equal(vm->worker ? vm->worker : "", worker);
	assert_int_equal(vm->status, status);
	assert_int_equal(vm_is_scheduled(vm), worker[0] != '\0');
	state_read_end();
}

static void a_machine_is_placed_at_once(void **state)
{
	struct scene s;
	scene_init(&s);
	see_worker(&s, "w1", 1);
	see_worker(&s, "w2", 1);
	ask(&s, "a");
	scene_settle(&s);
	expect(&s, "a", "w1", VM_PENDING);
	ask(&s, "b");
	ask(&s, "c");
	scene_settle(&s);
	expect(&s, "b", "w2", VM_PENDING);
	expect(&s, "c", "", VM_PENDING);
	see_worker(&s, "w3", 1);
	scene_settle(&s);
	expect(&s, "c", "w3", VM_PENDING);
	assert_int_equal(scene_stats(&s).vms_assigned, 3);
	scene_free(&s);
}

static void what_was_on_a_silent_worker_goes_to_another(void **state)
{
	struct scene s;
	scene_init(&s);
	see_worker(&s, "w1", 1);
	ask(&s, "a");
	scene_settle(&s);
	expect(&s, "a", "w1", VM_PENDING);
	scene_jump(&s, 180 * 1000);
	expect(&s, "a", "w1", VM_PENDING);
	see_worker(&s, "w2", 1);
	scene_advance(&s, 12 * 1000);
	expect(&s, "a", "w2", VM_PENDING);
	scene_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_machine_is_placed_at_once),
		cmocka_unit_test(what_was_on_a_silent_worker_goes_to_another)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
