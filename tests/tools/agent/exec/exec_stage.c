#include "tests/tools/agent/exec/exec_stage.h"
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static _Noreturn void sleep_as_task(void (*prepare)(void), pid_t parent, int ready)
{
	if (prepare)
		prepare();
	// A process that changes its user lives on without its parent, unless it asks for that again.
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent || write(ready, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

void stage_open(struct exec_stage *s, void (*prepare)(void), const char *as_user)
{
	char message[300] = "", byte;
	int ready[2];
	pid_t parent = getpid();
	snprintf(s->folder, sizeof s->folder, "/tmp/berth-exec.XXXXXX");
	assert_non_null(mkdtemp(s->folder));
	assert_int_equal(pipe(ready), 0);
	s->task = (struct process){.fd = -1};
	s->task.task = fork();
	if (s->task.task == 0)
		sleep_as_task(prepare, parent, ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	s->task.task_started = process_started(s->task.task);
	int error = exec_place_find(&s->place, &s->task, as_user, message, sizeof message);
	assert_string_equal(message, "");
	assert_int_equal(error, 0);
}

void stage_end_task(struct exec_stage *s)
{
	if (s->task.task <= 0)
		return;
	kill(s->task.task, SIGKILL);
	waitpid(s->task.task, NULL, 0);
	s->task.task = 0;
}

void stage_close(struct exec_stage *s)
{
	exec_place_close(&s->place);
	stage_end_task(s);
	rmdir(s->folder);
}

void stage_start(const struct exec_stage *s, struct exec_command *c, bool has_terminal,
	char *const *arguments)
{
	char message[300] = "";
	char *environment[] = {(char[]){"PATH=/usr/bin:/bin"}, (char[]){"WHO=task"}, NULL};
	struct exec_command_start start = {
		arguments, environment, s->folder, &s->place, has_terminal};
	int error = exec_command_start(&start, c, message, sizeof message);
	assert_string_equal(message, "");
	assert_int_equal(error, 0);
}

int stage_finish(struct exec_command *c, char *output, size_t size)
{
	size_t at = 0;
	struct pollfd polled[2] = {
		{.fd = c->output, .events = POLLIN}, {.fd = c->keeper_fd, .events = POLLIN}};
	while (polled[0].fd >= 0 || polled[1].revents == 0) {
		assert_true(poll(polled, 2, 20000) > 0);
		ssize_t n = polled[0].fd < 0 ? 0 : read(c->output, output + at, size - 1 - at);
		if (n > 0)
			at += (size_t)n;
		else if (n == 0 || errno != EAGAIN || polled[1].revents)
			polled[0].fd = -1;
	}
	output[at] = '\0';
	struct exec_command_end end = exec_command_ended(c);
	assert_true(end.is_known);
	exec_command_finish(c);
	return end.exit_code;
}

int stage_run(const struct exec_stage *s, const char *line, char *output, size_t size)
{
	struct exec_command c;
	char copy[1000];
	snprintf(copy, sizeof copy, "%s", line);
	stage_start(s, &c, false, (char *const[]){(char[]){"sh"}, (char[]){"-c"}, copy, NULL});
	close(c.input);
	c.input = -1;
	return stage_finish(&c, output, size);
}

bool stage_is_alive(pid_t pid)
{
	char path[64], text[256] = "";
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	size_t size = fread(text, 1, sizeof text - 1, file);
	fclose(file);
	const char *state = size ? strrchr(text, ')') : NULL;
	return state && state[2] != 'Z' && state[2] != 'X';
}

void stage_await_end(pid_t pid)
{
	for (int i = 0; i < 2000 && stage_is_alive(pid); i++)
		poll(NULL, 0, 10);
	assert_false(stage_is_alive(pid));
}
