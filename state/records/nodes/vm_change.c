// What the user of a virtual machine may ask for and change (row D29), beside what suits its workers.
#include "state/records/nodes/vm.h"
#include "state/records/nodes/vm_private.h"
#include <string.h>

// Of JSON that is kept as given.
static bool is_nothing(const char *json)
{
	json = vm_text(json);
	return !*json || strcmp(json, "null") == 0 || strcmp(json, "[]") == 0;
}

bool vm_has_softnet(const struct vm *vm)
{
	return vm->net_softnet || !is_nothing(vm->net_softnet_allow) ||
	       !is_nothing(vm->net_softnet_block);
}

// Vetu has no Softnet, no directories of its host and no suspension; qemu none of what Tart has beside suspension.
bool vm_runtime_is_able(const struct vm *vm, char *message, uint32_t size)
{
	const char *runtime = vm_text(vm->runtime), *field = NULL;
	bool is_vetu = strcmp(runtime, "vetu") == 0, is_qemu = strcmp(runtime, "qemu") == 0;

	if (!is_vetu && !is_qemu)
		return true;
	if (vm->net_softnet)
		field = "netSoftnet";
	else if (!is_nothing(vm->net_softnet_allow))
		field = "netSoftnetAllow";
	else if (!is_nothing(vm->net_softnet_block))
		field = "netSoftnetBlock";
	else if (!is_nothing(vm->host_dirs))
		field = "hostDirs";
	else if (is_vetu && vm->suspendable)
		field = "suspendable";
	else if (is_qemu && *vm_text(vm->net_bridged))
		field = "net-bridged";
	else if (is_qemu && vm->random_serial)
		field = "randomSerial";
	return !field || vm_refuse(message, size, "runtime \"%s\" does not support field \"%s\"",
				 runtime, field);
}

bool vm_set_power(struct vm *vm, int power_state, char *message, uint32_t size)
{
	if (vm_is_failed(vm))
		return vm_refuse(message, size, "cannot update VM in a terminal state");
	if (vm->power_state != VM_POWER_RUNNING)
		return vm_refuse(message, size,
			"invalid \"powerState\" transition: cannot transition from a terminal "
			"power state");
	if (power_state == VM_POWER_SUSPENDED && !vm->suspendable)
		return vm_refuse(message, size,
			"invalid \"powerState\" transition: only suspendable VMs can be suspended");
	if (power_state == vm->power_state)
		return true;
	vm->power_state = power_state;
	vm->generation++;
	return true;
}

struct vm_spec vm_spec_of(const struct vm *vm)
{
	return (struct vm_spec){vm->power_state, vm->suspendable, vm->net_softnet,
		vm_text(vm->net_softnet_allow), vm_text(vm->net_softnet_block)};
}

static bool spec_equal(const struct vm_spec *a, const struct vm_spec *b)
{
	return a->power_state == b->power_state && a->suspendable == b->suspendable &&
	       a->net_softnet == b->net_softnet &&
	       strcmp(vm_text(a->net_softnet_allow), vm_text(b->net_softnet_allow)) == 0 &&
	       strcmp(vm_text(a->net_softnet_block), vm_text(b->net_softnet_block)) == 0;
}

// What is suspended goes on with the devices that it had.
static bool spec_may_follow(
	const struct vm *vm, const struct vm_spec *spec, char *message, uint32_t size)
{
	struct vm changed = *vm;

	changed.suspendable = spec->suspendable;
	changed.net_softnet = spec->net_softnet;
	changed.net_softnet_allow = (char *)spec->net_softnet_allow;
	changed.net_softnet_block = (char *)spec->net_softnet_block;
	if (vm->suspendable && !spec->suspendable)
		return vm_refuse(
			message, size, "\"suspendable\" cannot be toggled for suspendable VMs");
	if (vm->suspendable && vm->net_softnet != vm_has_softnet(&changed))
		return vm_refuse(
			message, size, "\"netSoftnet\" cannot be toggled for suspendable VMs");
	return vm_runtime_is_able(&changed, message, size);
}

bool vm_set_spec(struct vm *vm, const struct vm_spec *spec, char *message, uint32_t size)
{
	struct vm_spec before = vm_spec_of(vm);
	uint64_t generation = vm->generation;

	if (!vm_is_failed(vm) && !spec_may_follow(vm, spec, message, size))
		return false;
	if (!vm_set_power(vm, spec->power_state, message, size))
		return false;
	if (spec_equal(&before, spec))
		return true;
	vm->suspendable = spec->suspendable;
	vm_put(&vm->net_softnet_allow, vm_text(spec->net_softnet_allow));
	vm_put(&vm->net_softnet_block, vm_text(spec->net_softnet_block));
	vm->net_softnet = spec->net_softnet;
	vm->net_softnet = vm_has_softnet(vm);
	vm->generation = generation + 1;
	return true;
}
