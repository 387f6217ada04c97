// A virtual machine as its worker runs it: an allocation of one task. Its driver is qemu, or mock where there is no
// qemu, and for images "mock:…".
#pragma once
#include "state/base/time_units.h"
#include "tools/agent/task/spec.h"

#define MACHINE_TASK "machine"
#define MACHINE_KILL_TIMEOUT_NS (30 * NS_PER_S) // from being told to power down to being cut off
#define MACHINE_SUSPEND_TIMEOUT_NS (5 * NS_PER_MIN)
#define MACHINE_SUSPEND_SIGNAL "SIGTSTP"

struct machine_settings {
	const char *qemu;   // the program; NULL: machines are only pretended
	const char *images; // folder
	const char *user;   // of the processes, "": ours
	bool has_network;   // by way of the worker's own
	bool is_emulated;   // in software, also where the worker has KVM
};

// A number in a machine's JSON; 0 when it is missing, negative or no number.
uint64_t machine_number(const json_t *machine, const char *key);
// From the JSON that the controller gives of an instance (docs/wire.md, ALLOC_SPEC). NULL, and a sentence, when it is
// not what was expected. Caller frees.
struct alloc_spec *machine_spec_read(const char *json, size_t size, const struct uuid *instance,
	const struct machine_settings *, char *message, uint32_t message_size);
// Makes the machine suspend when it is told to end.
void machine_spec_suspend(struct alloc_spec *);
