#include "tests/state/vms.h"
#include "state/base/memory.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void ask_cores(struct array *resources, int64_t cores)
{
	struct named_count *count = map_item(resources, sizeof *count, VM_RESOURCE_CORES);
	count->count = cores;
}

struct vm *build_vm(const char *name, int64_t cores)
{
	struct vm *vm = vm_create();

	vm->name = text_copy(text_of(name));
	vm->image = text_copy(TEXT("image"));
	ask_cores(&vm->resources, cores);
	return vm;
}

struct vm_worker *build_worker(const char *name, const char *machine_id, int64_t cores)
{
	struct vm_worker *worker = vm_worker_create();

	worker->name = text_copy(text_of(name));
	worker->machine_id = text_copy(text_of(machine_id));
	ask_cores(&worker->resources, cores);
	return worker;
}

void count_assigned(struct controller *c, bool counts)
{
	struct cluster_settings *settings = record_create(&cluster_settings_description);
	struct command command = {.type = COMMAND_CLUSTER_SETTINGS, .cluster_settings = {settings}};

	settings->count_assigned = counts;
	assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
}

enum command_outcome create_vm(struct controller *c, struct vm *vm)
{
	struct command_vm_create ask = {.vm = vm};
	struct command command = {.type = COMMAND_VM_CREATE, .vm_create = &ask};
	enum command_outcome outcome = controller_run(c, &command);

	assert_int_equal(ask.vm == NULL, outcome == OUTCOME_DONE);
	vm_free(ask.vm);
	return outcome;
}

static enum command_outcome ask_named(
	struct controller *c, enum command_type type, const char *name, bool paused)
{
	struct command command = {.type = type, .vm_named = {text_of(name), paused}};
	return controller_run(c, &command);
}

enum command_outcome delete_vm(struct controller *c, const char *name)
{
	return ask_named(c, COMMAND_VM_DELETE, name, false);
}

enum command_outcome set_power(struct controller *c, const char *name, enum vm_power power)
{
	struct command_vm_power ask = {.name = text_of(name), .power_state = (int)power};
	struct command command = {.type = COMMAND_VM_POWER, .vm_power = &ask};
	enum command_outcome outcome = controller_run(c, &command);

	assert_int_equal(ask.message[0] != 0, outcome == OUTCOME_NOT_NOW);
	return outcome;
}

enum command_outcome report_vm(
	struct controller *c, const char *name, const char *uid, struct command_vm_report *report)
{
	struct command command = {.type = COMMAND_VM_REPORT, .vm_report = report};
	struct vm *vm = published_vm(c, name);

	report->name = text_of(name);
	report->uid = text_of(uid || !vm ? uid : vm->uid);
	enum command_outcome outcome = controller_run(c, &command);
	vm_free(vm);
	return outcome;
}

uint32_t judge_vm(struct controller *c, const char *name)
{
	struct text names[] = {text_of(name), TEXT("nobody")};
	struct command command = {
		.type = COMMAND_VM_HEALTH, .vm_health = {.names = names, .count = 2}};

	assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
	return command.vm_health.changed;
}

struct vm *published_vm(const struct controller *c, const char *name)
{
	state_read_begin();
	const struct vm *vm = state_vm(c->state, text_of(name));
	struct vm *copy = vm ? vm_copy(vm) : NULL;
	state_read_end();
	return copy;
}

enum vm_assign_result assign_chosen(
	struct controller *c, const char *name, const char *worker, uint64_t worker_modify_index)
{
	struct vm *vm = published_vm(c, name);
	struct vm_assign_item item = {.vm = text_of(name),
		.uid = text_of(vm ? vm->uid : NULL),
		.worker = text_of(worker),
		.worker_modify_index = worker_modify_index};
	struct command command = {
		.type = COMMAND_VM_ASSIGN, .vm_assign = {.items = &item, .count = 1}};

	assert_int_equal(controller_run(c, &command), OUTCOME_DONE);
	assert_int_equal(command.vm_assign.assigned, item.result == VM_ASSIGNED);
	vm_free(vm);
	return item.result;
}

enum vm_assign_result assign_vm(struct controller *c, const char *name, const char *worker)
{
	return assign_chosen(c, name, worker, worker_index(c, worker));
}

enum command_outcome put_worker(struct controller *c, struct vm_worker *worker)
{
	struct command command = {.type = COMMAND_VM_WORKER, .vm_worker = {.worker = worker}};
	enum command_outcome outcome = controller_run(c, &command);

	assert_int_equal(command.vm_worker.worker == NULL, outcome == OUTCOME_DONE);
	vm_worker_free(command.vm_worker.worker);
	return outcome;
}

enum command_outcome see_worker(struct controller *c, const char *name)
{
	struct vm_worker *worker = build_worker(name, "", 0);
	struct command command = {
		.type = COMMAND_VM_WORKER, .vm_worker = {.worker = worker, .only_seen = true}};
	enum command_outcome outcome = controller_run(c, &command);

	vm_worker_free(command.vm_worker.worker);
	return outcome;
}

enum command_outcome pause_worker(struct controller *c, const char *name, bool paused)
{
	return ask_named(c, COMMAND_VM_WORKER_PAUSE, name, paused);
}

enum command_outcome delete_worker(struct controller *c, const char *name)
{
	return ask_named(c, COMMAND_VM_WORKER_DELETE, name, false);
}

uint64_t worker_index(const struct controller *c, const char *name)
{
	state_read_begin();
	const struct vm_worker *worker = state_vm_worker(c->state, text_of(name));
	uint64_t index = worker ? worker->record.modify_index : 0;
	state_read_end();
	return index;
}

void settle(struct controller *c)
{
	for (int i = 0; i < 3; i++)
		(void)controller_collect(c);
}

enum command_outcome register_worker(struct controller *c, uint32_t number, const char *name,
	const struct worker_setting *settings, struct node_registration *result)
{
	struct node_registration *node = memory_take(sizeof *node);

	c->time.wall_ns += 1000000;
	build_node(node, number, (uint64_t)controller_now_ms(c));
	node->name = text_of(name);
	for (; settings->name; settings++) {
		bool is_setting = strncmp(settings->name, "vm.", 3) == 0;
		node->pairs[node->pair_count++] =
			(struct node_pair){is_setting ? PAIR_SETTING : PAIR_ATTRIBUTE,
				text_of(settings->name), text_of(settings->value)};
	}
	enum command_outcome outcome = core_join(&c->core, node);
	if (result)
		*result = *node;
	free(node);
	return outcome;
}

struct vm_worker *published_worker(const struct controller *c, const char *name)
{
	state_read_begin();
	const struct vm_worker *worker = state_vm_worker(c->state, text_of(name));
	struct vm_worker *copy = worker ? vm_worker_copy(worker) : NULL;
	state_read_end();
	return copy;
}
