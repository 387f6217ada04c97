// Driver qemu: virtual machines on x86-64, with KVM where the worker has it and in software elsewhere. The process
// works in the task's secrets folder, beside its disk and its monitor's socket, and outlives the agent like any other.
#pragma once
#include "tools/agent/task/task.h"

// Path of the program on this machine, valid as long as the process lives; NULL: not installed, or the machine is of
// another architecture.
const char *qemu_program(void);

extern const struct driver driver_qemu;
