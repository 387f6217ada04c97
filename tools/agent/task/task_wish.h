// What a person wants of a task while its allocation goes on: to begin anew, or to get a signal.
#pragma once
#include "tools/agent/task/alloc_run.h"

// Why nothing was done; 0: it was.
enum wish_refusal {
	WISH_DONE,
	WISH_NOT_RUNNING,  // the task has no process now
	WISH_NO_TASK,      // of that name
	WISH_ALLOC_IS_OVER // or is to end
};

// Ends the running task of that name, or all that run ("" or NULL), and starts them again at once. The restart policy
// does not count it.
enum wish_refusal alloc_wish_restart(struct alloc_run *, const char *task, int64_t now_ns);
// Ends all tasks and starts them in the order of their lifecycle, those too that have ended.
enum wish_refusal alloc_wish_restart_all(struct alloc_run *, int64_t now_ns);
// Signals the task's first process. A name that is no signal's means SIGINT.
enum wish_refusal task_wish_signal(struct task *, const char *signal, int64_t now_ns);
