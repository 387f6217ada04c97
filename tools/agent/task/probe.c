#include "tools/agent/task/probe.h"
#include "state/base/error.h"
#include "state/base/log.h"
#include "state/base/time_units.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAILURES_MOST 16u

extern char **environ;

void probe_open(struct probe *p, const struct probe_settings *settings)
{
	*p = (struct probe){.settings = *settings, .fd = -1, .due_ns = UINT64_MAX};
}

static void forget_process(struct probe *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
	p->process = 0;
}

// The rest of the process group does not outlive the probe.
static void kill_group(const struct probe *p)
{
	kill(-p->process, SIGKILL);
}

void probe_close(struct probe *p)
{
	if (p->process) {
		kill_group(p);
		waitpid(p->process, NULL, 0);
	}
	forget_process(p);
}

static int spawn(struct probe *p)
{
	char shell[] = "sh", flag[] = "-c";
	char *const arguments[] = {shell, flag, (char *)p->settings.command, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attributes, &none);
	int error = posix_spawn(&p->process, "/bin/sh", &actions, &attributes, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	if (error) {
		p->process = 0;
		return -error;
	}
	p->fd = (int)syscall(SYS_pidfd_open, p->process, 0);
	if (p->fd >= 0)
		return 0;
	error = errno;
	probe_close(p);
	return -error;
}

static enum probe_answer answer_of(int status)
{
	if (!WIFEXITED(status))
		return PROBE_NO;
	if (WEXITSTATUS(status) == 0)
		return PROBE_YES;
	return WEXITSTATUS(status) == PROBE_EXIT_NEVER ? PROBE_NEVER : PROBE_NO;
}

static uint32_t wait_ms(const struct probe *p)
{
	uint64_t wait = (uint64_t)p->settings.backoff_ms << (p->failures - 1);
	return wait < PROBE_BACKOFF_CAP_MS ? (uint32_t)wait : PROBE_BACKOFF_CAP_MS;
}

static void take_answer(struct probe *p, enum probe_answer answer, uint64_t now_ns)
{
	static const char *const names[] = {"unknown", "yes", "no", "never"};

	if (answer != p->answer)
		log_info("probe-answered", "ready=%s", names[answer]);
	p->answer = answer;
	p->waits_ms = 0;
	p->due_ns = UINT64_MAX;
	if (answer != PROBE_NO) {
		p->failures = 0;
		return;
	}
	p->failures += p->failures < FAILURES_MOST;
	p->waits_ms = wait_ms(p);
	p->due_ns = now_ns + p->waits_ms * NS_PER_MS;
}

void probe_ask(struct probe *p, uint64_t now_ns)
{
	p->due_ns = now_ns;
}

void probe_rest(struct probe *p)
{
	p->due_ns = UINT64_MAX;
}

static bool begin_probe(struct probe *p, uint64_t now_ns)
{
	if (!p->settings.command) {
		take_answer(p, PROBE_YES, now_ns);
		return true;
	}
	p->due_ns = UINT64_MAX;
	p->kill_ns = now_ns + p->settings.timeout_ms * NS_PER_MS;
	int error = spawn(p);
	if (!error)
		return false;
	log_error("probe-not-started", "error=\"%s\"", error_text(error));
	take_answer(p, PROBE_NO, now_ns);
	return true;
}

// True when the process is over; kills the rest of its group.
static bool reap(const struct probe *p, int *status)
{
	siginfo_t info = {.si_pid = 0};

	if (waitid(P_PID, (id_t)p->process, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
		info.si_pid == 0)
		return false;
	kill_group(p); // before another group may get its number
	return waitpid(p->process, status, 0) == p->process;
}

// A probe that was asked again while it ran is run again, because its answer is from before.
static bool take_end(struct probe *p, int status, uint64_t now_ns)
{
	bool is_wanted_anew = p->due_ns != UINT64_MAX;

	forget_process(p);
	if (is_wanted_anew)
		return false;
	take_answer(p, answer_of(status), now_ns);
	return true;
}

bool probe_step(struct probe *p, uint64_t now_ns)
{
	int status;

	if (p->process) {
		if (reap(p, &status))
			return take_end(p, status, now_ns);
		if (now_ns < p->kill_ns)
			return false;
		log_warn("probe-killed", "after_ms=%u", p->settings.timeout_ms);
		kill_group(p);
		p->kill_ns = UINT64_MAX;
		return false;
	}
	return now_ns >= p->due_ns && begin_probe(p, now_ns);
}

uint64_t probe_due_ns(const struct probe *p)
{
	return p->process ? p->kill_ns : p->due_ns;
}
