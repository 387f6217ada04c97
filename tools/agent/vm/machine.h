// A virtual machine as its worker runs it: an allocation of one task. Its driver is qemu, or mock where there is no
// qemu, and for images "mock:…".
#pragma once
#include "state/base/time_units.h"
#include "tools/agent/task/spec.h"

#define MACHINE_TASK "machine"
#define MACHINE_KILL_TIMEOUT_NS (30 * NS_PER_S) // from the order to power down to the kill
#define MACHINE_SUSPEND_TIMEOUT_NS (5 * NS_PER_MIN)
#define MACHINE_SUSPEND_SIGNAL "SIGTSTP"

struct machine_settings {
	const char *qemu;        // the program; NULL: machines only pretend to run
	const char *images;      // folder
	const char *user;        // runs the processes; "": the agent's
	bool has_network;        // through the worker's network
	uint32_t suspended_days; // that what was suspended is kept; 0: for ever
	bool is_emulated;        // runs in software even if the worker has KVM
};

// A number in a machine's JSON; 0 when it is missing, negative or not a number.
uint64_t machine_number(const json_t *machine, const char *key);
// Reads the controller's JSON of an instance (docs/wire.md, ALLOC_SPEC). NULL, and a sentence, when it is malformed.
// Caller frees.
struct alloc_spec *machine_spec_read(const char *json, size_t size, const struct uuid *instance,
	const struct machine_settings *, char *message, uint32_t message_size);
// Makes the order to end suspend the machine.
void machine_spec_suspend(struct alloc_spec *);
