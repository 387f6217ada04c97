// A virtual machine as its worker runs it: an allocation of one task, whose driver is named by the image: "mock:…" is
// only pretended, every other one is qemu's.
#pragma once
#include "tools/agent/spec.h"

#define MACHINE_TASK "machine"
#define MACHINE_KILL_TIMEOUT_NS 30000000000ll // from being told to power down to being cut off

// From the JSON that the controller gives of an instance (docs/wire.md, ALLOC_SPEC). NULL, and a sentence, when it is
// not what was expected. Caller frees.
struct alloc_spec *machine_spec_read(const char *json, size_t size, const struct uuid *instance,
	char *message, uint32_t message_size);
