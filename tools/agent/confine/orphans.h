// What a task leaves behind comes to its shim, which asked for it, and ends with the task. For the shim, which has one
// child of its own: the task.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

// Makes this process the parent of all that its descendants leave behind, from now on. 0, or -1 with errno.
int orphans_adopt(void);
// A descriptor that is readable when a child has ended, or -1 with errno. All signals are blocked already.
int orphans_watch(void);
// Reaps ended children but the task. True: the task has ended; it is not reaped.
bool orphans_reap(int fd, pid_t task);
// Kills all children but the task, and what comes of them, for up to wait_ms. False: one is left.
bool orphans_kill(pid_t task, uint32_t wait_ms);
