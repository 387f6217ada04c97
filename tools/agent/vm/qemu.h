// Driver qemu: virtual machines on x86-64, with KVM where the worker has it and in software elsewhere. Its process
// stands in the task's secrets folder, beside its disk and the socket of its monitor, and outlives the agent like any
// other.
#pragma once
#include "tools/agent/task/task.h"
#include "tools/agent/vm/vm_image.h"

// Path of the program on this machine, as long as the process lives; NULL: it is not installed, or the machine is of
// another architecture.
const char *qemu_program(void);
// Of the machine as it was given to this worker.
struct vm_shape qemu_shape(const json_t *machine, const struct machine_settings *);

// qemu_talk.c: what a machine is told, and what comes of it, from its monitor.
//
//	SIGTERM   it is told to power down
//	SIGTSTP   it is suspended: memory and disk are put aside, then it ends
bool qemu_turn(struct task *, const struct task_start *);
void qemu_forget(struct task *);
