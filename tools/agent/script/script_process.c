#include "tools/agent/script/script_inner.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

// Read at once of one that writes without end, so that its time still ends.
#define TURN_BYTES 65536u

static void take_output(struct script *s, int *fd)
{
	char bytes[4096];
	ssize_t n = 0;
	for (size_t taken = 0; *fd >= 0 && taken < TURN_BYTES; taken += (size_t)n) {
		n = read(*fd, bytes, sizeof bytes);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			close(*fd);
			*fd = -1;
			return;
		}
		script_keep_output(s, bytes, (size_t)n);
	}
}

// Until it has ended, its time is over, or it is to stop.
static void await_script(struct script *s, struct exec_command *c)
{
	for (;;) {
		struct pollfd polled[] = {{.fd = c->output, .events = POLLIN},
			{.fd = c->error, .events = POLLIN}, {.fd = c->keeper_fd, .events = POLLIN},
			{.fd = s->stop_fd, .events = POLLIN}};
		uint64_t left_ms = script_left_ms(s);
		s->end.is_late = left_ms == 0;
		if (s->end.is_late)
			return;
		if (poll(polled, 4, left_ms < 60000 ? (int)left_ms : 60000) < 0 && errno != EINTR)
			return;
		if (polled[3].revents)
			return;
		take_output(s, &c->output);
		take_output(s, &c->error);
		if (!polled[2].revents)
			continue;
		struct exec_command_end end = exec_command_ended(c);
		s->end.is_known = end.is_known;
		s->end.exit_code = end.exit_code;
		if (*end.reason)
			snprintf(s->end.message, sizeof s->end.message, "%s", end.reason);
		return;
	}
}

void script_follow(struct script *s, struct exec_command *c)
{
	if (c->input >= 0)
		close(c->input);
	c->input = -1;
	snprintf(s->end.message, sizeof s->end.message, "it was killed");
	await_script(s, c);
	exec_command_finish(c);
}

void script_run_beside_process(struct script *s)
{
	struct exec_place place;
	struct exec_command command;
	struct exec_command_start start = {.arguments = s->arguments,
		.environment = s->environment.entries,
		.folder = s->folder,
		.place = &place};
	int error = exec_place_find(
		&place, &s->process, s->user, s->end.message, sizeof s->end.message);
	place.filter = s->filter;
	if (!error)
		error = exec_command_start(&start, &command, s->end.message, sizeof s->end.message);
	if (!error)
		script_follow(s, &command);
	struct pollfd task = {.fd = place.task_fd, .events = POLLIN};
	s->end.is_task_over = poll(&task, 1, 0) != 0;
	exec_place_close(&place);
}
