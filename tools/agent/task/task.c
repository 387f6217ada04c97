#include "tools/agent/task/task.h"
#include "state/base/base64.h"
#include "state/base/time_units.h"
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void task_note(
	struct task *t, int64_t now_ns, int exit_code, const char *type, const char *format, ...)
{
	if (t->note_count == TASK_EVENTS_KEPT)
		memmove(t->notes, t->notes + 1, --t->note_count * sizeof t->notes[0]);
	struct task_note *note = &t->notes[t->note_count++];
	va_list arguments;
	*note = (struct task_note){.time_ns = now_ns, .exit_code = exit_code};
	snprintf(note->type, sizeof note->type, "%s", type);
	va_start(arguments, format);
	vsnprintf(note->message, sizeof note->message, format, arguments);
	va_end(arguments);
	// A program's text may hold any bytes, and may be cut within a character.
	text_make_printable(note->message);
}

bool task_error_is_its_own(int error)
{
	static const int own[] = {EINVAL, ENOENT, EACCES, EPERM, ENOEXEC, E2BIG, ENOTDIR, EISDIR,
		ELOOP, ENAMETOOLONG, EFBIG, EBADMSG, ETXTBSY};
	for (uint32_t i = 0; i < sizeof own / sizeof own[0]; i++)
		if (error == -own[i])
			return true;
	return false;
}

static void end_task(struct task *t, bool failed, int64_t now_ns)
{
	t->phase = PHASE_ENDED;
	t->failed = failed;
	t->finished_ns = now_ns;
	t->due_ns = 0;
}

static void restart_in(struct task *t, int64_t wait_ns, int64_t now_ns)
{
	t->phase = PHASE_RESTARTING;
	t->restarts++;
	t->last_restart_ns = now_ns;
	t->due_ns = now_ns + (wait_ns > 0 ? wait_ns : 1);
	task_note(
		t, now_ns, 0, "Restarting", "Task restarting in %.3gs", (double)wait_ns / NS_PER_S);
}

static void restart_as_wished(struct task *t, int64_t now_ns)
{
	bool in_turn = t->anew == ANEW_IN_TURN;
	t->anew = ANEW_NOT;
	restart_in(t, 0, now_ns);
	if (in_turn) {
		t->phase = PHASE_WAITING;
		t->due_ns = 0;
	}
}

static void restart_or_fail(struct task *t, int64_t now_ns, struct prng *prng)
{
	const struct restart_rule *rule = &t->spec->restart;
	if (now_ns >= t->interval_ns + rule->interval_ns || t->interval_ns == 0) {
		t->interval_ns = now_ns;
		t->attempts = 0;
	}
	if (++t->attempts <= rule->attempts) {
		uint64_t shake = (uint64_t)rule->delay_ns / 4;
		restart_in(t, rule->delay_ns + (int64_t)prng_below(prng, shake + 1), now_ns);
	} else if (rule->waits && rule->interval_ns > 0) {
		restart_in(t, t->interval_ns + rule->interval_ns - now_ns, now_ns);
	} else {
		if (rule->attempts == 0)
			task_note(t, now_ns, 0, "Not Restarting", "Policy allows no restarts");
		else
			task_note(t, now_ns, 0, "Not Restarting",
				"Exceeded allowed attempts %lld in interval %.6gs and mode is "
				"\"fail\"",
				(long long)rule->attempts, (double)rule->interval_ns / NS_PER_S);
		end_task(t, true, now_ns);
	}
}

static void note_end(struct task *t, const struct process_end *how, int code, int64_t now_ns)
{
	if (how->beginning != TASK_BEGAN)
		return; // its driver has said why
	if (!how->is_known)
		task_note(t, now_ns, -1, "Terminated", "How it ended is not known");
	else if (how->is_oom)
		task_note(t, now_ns, code, "Terminated",
			"Exit Code: %d, Signal: %d, Exit Message: \"OOM Killed\"", code,
			how->signal);
	else if (how->signal)
		task_note(t, now_ns, code, "Terminated", "Exit Code: %d, Signal: %d", code,
			how->signal);
	else
		task_note(t, now_ns, code, "Terminated", "Exit Code: %d", code);
}

void task_ended(struct task *t, const struct process_end *how, int64_t now_ns, struct prng *prng)
{
	int code = how->signal ? 128 + how->signal : how->exit_code;
	bool is_restarting = t->is_restarting;
	t->finished_ns = now_ns;
	t->is_restarting = t->is_starting = false;
	t->is_nodes_fault = !how->is_known || how->is_nodes_fault;
	note_end(t, how, code, now_ns);
	if (t->is_unwanted) {
		task_note(t, now_ns, 0, "Killed", "Task successfully killed");
		end_task(t, t->failed, now_ns);
	} else if (t->anew) {
		restart_as_wished(t, now_ns);
	} else if (how->beginning == TASK_NEVER_BEGINS) {
		task_note(t, now_ns, 0, "Not Restarting", "Error was unrecoverable");
		end_task(t, true, now_ns);
	} else if (how->is_known && code == 0 && !t->spec->restart.on_success && !is_restarting) {
		end_task(t, false, now_ns);
	} else {
		restart_or_fail(t, now_ns, prng);
	}
}

bool handle_read(struct handle *handle, int64_t version, const char *base64)
{
	uint8_t bytes[sizeof handle->bytes + 2]; // base64 padding counts as room
	size_t size = 0, characters = strlen(base64);
	if (BASE64_DECODED_MAX(characters) > sizeof bytes || version < 0 || version > UINT32_MAX ||
		!base64_decode(base64, characters, bytes, &size) || size > sizeof handle->bytes)
		return false;
	handle->version = (uint32_t)version;
	handle->size = (uint32_t)size;
	memcpy(handle->bytes, bytes, size);
	return true;
}

// Only a task's first run here may continue a run that began elsewhere; a restart begins anew.
static bool resume(struct task *t, const struct task_start *start)
{
	struct handle handle;
	if (!t->spec->has_handle || t->has_run)
		return false;
	if (t->driver->resume && handle_read(&handle, t->spec->handle_version, t->spec->handle) &&
		t->driver->resume(t, start, &handle))
		return true;
	task_note(t, start->now_ns, 0, "Failed Restoring Task",
		"the driver cannot go on with the handle, and starts the task anew");
	return false;
}

static void has_begun(struct task *t, int64_t now_ns, const char *how)
{
	t->has_run = true;
	if (t->is_starting) // its driver will tell
		return;
	t->is_nodes_fault = false;
	t->started_ns = now_ns;
	t->finished_ns = 0;
	task_note(t, now_ns, 0, "Started", "%s", how);
}

void task_has_started(struct task *t, int64_t now_ns)
{
	t->is_starting = false;
	has_begun(t, now_ns, "Task started by client");
}

void task_begin(struct task *t, const struct task_start *start)
{
	char message[300] = "";
	bool recoverable = false;
	t->due_ns = 0;
	t->is_forced = false;
	if (!t->driver) {
		task_note(t, start->now_ns, 0, "Driver Failure",
			"this node has no driver \"%.60s\"", t->spec->driver);
		end_task(t, true, start->now_ns);
		return;
	}
	t->phase = PHASE_RUNNING;
	t->process = (struct process){.fd = -1};
	t->handle.size = 0;
	if (resume(t, start)) {
		has_begun(t, start->now_ns, "Task taken up where it runs");
		return;
	}
	int error = t->driver->start(t, start, message, sizeof message, &recoverable);
	if (error == 0) {
		has_begun(t, start->now_ns, "Task started by client");
		return;
	}
	t->is_nodes_fault = !task_error_is_its_own(error);
	task_note(t, start->now_ns, 0, "Driver Failure", "%s", message);
	task_not_prepared(t, recoverable, start->now_ns, start->prng);
}

void task_not_prepared(struct task *t, bool may_help, int64_t now_ns, struct prng *prng)
{
	if (may_help) {
		restart_or_fail(t, now_ns, prng);
		return;
	}
	task_note(t, now_ns, 0, "Not Restarting", "Error was unrecoverable");
	end_task(t, true, now_ns);
}

static void tell_to_end(struct task *t, int64_t now_ns)
{
	int number = signal_number(*t->spec->kill_signal ? t->spec->kill_signal : "SIGINT");
	t->phase = PHASE_STOPPING;
	t->due_ns = now_ns + t->spec->kill_timeout_ns;
	t->driver->signal(t, number ? number : SIGTERM, now_ns);
}

void task_stop(struct task *t, int64_t now_ns)
{
	if (t->is_unwanted || t->phase == PHASE_ENDED)
		return;
	t->is_unwanted = true;
	if (t->phase == PHASE_RUNNING) {
		task_note(t, now_ns, 0, "Killing",
			"Sent interrupt. Waiting %.6gs before force killing",
			(double)t->spec->kill_timeout_ns / NS_PER_S);
		tell_to_end(t, now_ns);
	} else if (t->phase != PHASE_STOPPING) { // no process is there
		end_task(t, t->failed, now_ns);
	}
}

void task_restart(struct task *t, int64_t now_ns, const char *why)
{
	if (t->phase != PHASE_RUNNING)
		return;
	task_note(t, now_ns, 0, "Restart Signaled", "%s", why);
	t->is_restarting = true;
	tell_to_end(t, now_ns);
}

void task_begin_anew(struct task *t, enum task_anew how, int64_t now_ns, const char *why)
{
	task_note(t, now_ns, 0, "Restart Signaled", "%s", why);
	t->anew = how;
	if (t->phase == PHASE_RUNNING)
		tell_to_end(t, now_ns);
	else if (t->phase != PHASE_STOPPING)
		restart_as_wished(t, now_ns);
}

void task_forget(struct task *t)
{
	if (t->prepared)
		t->prepared->forget(t);
	if (t->driver && t->driver->forget)
		t->driver->forget(t);
	if (t->process.fd >= 0)
		close(t->process.fd);
}

bool task_tick(struct task *t, const struct task_start *start)
{
	struct process_end how;
	int64_t now_ns = start->now_ns;
	if (task_is_up(t) && t->driver->turn && t->driver->turn(t, start))
		return true;
	if (task_is_up(t) && t->driver->has_ended && t->driver->has_ended(t, now_ns, &how)) {
		task_ended(t, &how, now_ns, start->prng);
		return true;
	}
	if (t->due_ns == 0 || now_ns < t->due_ns)
		return false;
	if (t->phase == PHASE_STOPPING && !t->is_forced) {
		t->is_forced = true;
		t->due_ns = 0;
		t->driver->signal(t, SIGKILL, now_ns);
		return true;
	}
	t->due_ns = 0;
	return false;
}
