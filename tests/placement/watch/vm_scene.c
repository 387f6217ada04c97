#include "tests/placement/watch/vm_scene.h"
#include "tests/state/vms.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

void vm_scene_worker(struct scene *s, const char *worker, int64_t cores)
{
	assert_int_equal(
		put_worker(&s->controller, build_worker(worker, worker, cores)), OUTCOME_DONE);
}

void vm_scene_ask_for(struct scene *s, const char *name, enum vm_restart policy)
{
	struct vm *vm = build_vm(name, 1);

	vm->restart_policy = policy;
	assert_int_equal(create_vm(&s->controller, vm), OUTCOME_DONE);
}

void vm_scene_ask(struct scene *s, const char *name)
{
	vm_scene_ask_for(s, name, VM_RESTART_ON_FAILURE);
}

void vm_scene_expect(struct scene *s, const char *name, const char *worker, int status)
{
	struct vm *vm = published_vm(&s->controller, name);

	assert_non_null(vm);
	assert_string_equal(vm->worker ? vm->worker : "", worker);
	assert_int_equal(vm->status, status);
	assert_int_equal(vm_is_scheduled(vm), worker[0] != '\0');
	vm_free(vm);
}

// Machines here say all that they take.
void vm_scene_begin(struct scene *s)
{
	scene_init(s);
	count_assigned(&s->controller, false);
}
