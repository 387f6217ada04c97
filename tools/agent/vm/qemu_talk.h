// Tells a virtual machine's monitor what a signal to its task means, and takes the answers.
//
//	SIGTERM   it is told to power down
//	SIGTSTP   it is suspended: memory and disk are put aside, then it ends
#pragma once
#include "tools/agent/task/task.h"

bool qemu_talk_turn(struct task *, const struct task_start *);
void qemu_talk_forget(struct task *);
