// What a worker is told of a machine.
#include "tools/forms/vm_spec.h"
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void set(char **field, const char *value)
{
	free(*field);
	*field = strdup(value);
	assert_non_null(*field);
}

static json_t *spec_of(const struct vm *vm)
{
	struct bytes_writer out = bytes_writer_growing(256);
	vm_spec_json(NULL, vm, &out);
	json_t *json = json_loadb((const char *)out.data, out.size, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(json);
	bytes_writer_free(&out);
	return json;
}

static struct vm *machine(void)
{
	struct vm *vm = vm_create();
	set(&vm->name, "runner-1");
	set(&vm->uid, "u-1");
	set(&vm->image, "mock:debian \"12\"");
	set(&vm->startup_script, "{\"script_content\":\"echo hi\"}");
	vm->cpu = 2;
	vm->memory_mib = 1024;
	vm->assigned_cpu = 4;
	vm->assigned_memory_mib = 8192;
	vm->generation = 3;
	vm->power_state = VM_POWER_STOPPED;
	return vm;
}

static void it_has_what_its_worker_needs(void **unused)
{
	struct vm *vm = machine();
	json_t *json = spec_of(vm);
	const char *name, *image, *power, *script;
	int cpu, memory, assigned_cpu, assigned_memory, generation;
	assert_int_equal(
		json_unpack(json, "{s:s s:s s:s s:{s:s} s:i s:i s:i s:i s:i}", "name", &name,
			"image", &image, "powerState", &power, "startup_script", "script_content",
			&script, "cpu", &cpu, "memory", &memory, "assignedCPU", &assigned_cpu,
			"assignedMemory", &assigned_memory, "generation", &generation),
		0);
	assert_string_equal(name, "runner-1");
	assert_string_equal(image, "mock:debian \"12\"");
	assert_string_equal(power, "stopped");
	assert_string_equal(script, "echo hi");
	assert_int_equal(cpu, 2);
	assert_int_equal(memory, 1024);
	assert_int_equal(assigned_cpu, 4);
	assert_int_equal(assigned_memory, 8192);
	assert_int_equal(generation, 3);
	assert_null(json_object_get(json, "hostDirs"));
	json_decref(json);
	vm_free(vm);
}

// Or pieces of one version would not fit together.
static void what_its_worker_reports_does_not_change_it(void **unused)
{
	struct vm *vm = machine();
	json_t *before = spec_of(vm);
	vm->status = VM_RUNNING;
	vm->started_at_ns = 7;
	vm->observed_generation = 3;
	set(&vm->status_message, "all is well");
	vm_set_condition(vm, VM_CONDITION_RUNNING, true);
	vm_note(vm, "it runs", 7);
	json_t *after = spec_of(vm);
	assert_true(json_equal(before, after));
	json_decref(before);
	json_decref(after);
	vm_free(vm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(it_has_what_its_worker_needs),
		cmocka_unit_test(what_its_worker_reports_does_not_change_it)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
