#include "tools/agent/task/task_wish.h"
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void mark_wished(struct alloc_run *a)
{
	a->change++;
	a->is_unsaved = true;
}

// What is left of an allocation whose other tasks are over is to clean up after them, and does so once.
static bool alloc_ends(const struct alloc_run *a)
{
	bool is_over = true;
	for (uint32_t i = 0; i < a->task_count; i++)
		is_over &= a->tasks[i].spec->hook == HOOK_POSTSTOP || task_is_over(&a->tasks[i]);
	return is_over || a->is_unwanted || a->is_forgotten || a->status == WIRE_CLIENT_FAILED;
}

static bool is_named(const struct task *t, const char *name)
{
	return !name || !*name || strcmp(t->spec->name, name) == 0;
}

enum wish_refusal alloc_wish_restart(struct alloc_run *a, const char *task, int64_t now_ns)
{
	bool is_one = task && *task, is_there = false, was_up = false;
	if (alloc_ends(a))
		return WISH_ALLOC_IS_OVER;
	for (uint32_t i = 0; i < a->task_count; i++) {
		struct task *t = &a->tasks[i];
		if (!is_named(t, task))
			continue;
		is_there = true;
		if (!task_is_up(t) || t->is_unwanted)
			continue;
		was_up = true;
		task_begin_anew(t, ANEW_AT_ONCE, now_ns,
			is_one ? "User requested task to restart"
			       : "User requested running tasks to restart");
	}
	if (was_up)
		mark_wished(a);
	if (is_one && !was_up)
		return is_there ? WISH_NOT_RUNNING : WISH_NO_TASK;
	return WISH_DONE;
}

enum wish_refusal alloc_wish_restart_all(struct alloc_run *a, int64_t now_ns)
{
	if (alloc_ends(a))
		return WISH_ALLOC_IS_OVER;
	for (uint32_t i = 0; i < a->task_count; i++)
		if (a->tasks[i].phase != PHASE_WAITING)
			task_begin_anew(&a->tasks[i], ANEW_IN_TURN, now_ns,
				"User requested all tasks to restart");
	mark_wished(a);
	return WISH_DONE;
}

// The number may be another process's by now; a descriptor is for good. False: nobody got the signal.
static bool signal_first_process(const struct process *p, int number)
{
	int fd = (int)syscall(SYS_pidfd_open, p->task, 0);
	bool is_sent = fd >= 0 && process_is_there(p->task, p->task_started) > 0 &&
		       syscall(SYS_pidfd_send_signal, fd, number, NULL, 0) == 0;
	if (fd >= 0)
		close(fd);
	return is_sent;
}

enum wish_refusal task_wish_signal(struct task *t, const char *signal, int64_t now_ns)
{
	int number = signal_number(signal);
	if (!task_is_up(t))
		return WISH_NOT_RUNNING;
	number = number ? number : SIGINT;
	if (t->process.task > 0 && !signal_first_process(&t->process, number))
		return WISH_NOT_RUNNING;
	task_note(t, now_ns, 0, "Signaling", "Task being sent a signal");
	if (t->process.task <= 0 && t->driver != &driver_mock) // which would end of any
		t->driver->signal(t, number, now_ns);
	return WISH_DONE;
}
