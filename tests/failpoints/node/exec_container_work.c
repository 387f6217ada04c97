// A command in a container of an engine that is this program's: over pipes, and with a terminal.
#include "state/base/check.h"
#include "tests/failpoints/node/works.h"
#include "tests/tools/agent/exec/scripted_engine.h"
#include "tools/agent/exec/exec_container.h"
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define UPGRADED "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n"

static const char handed_over[] = UPGRADED "\1\0\0\0\0\0\0\2hi\2\0\0\0\0\0\0\2no";
static const struct engine_answer answers[] = {
	{"/start ", handed_over, sizeof handed_over - 1, 0, false},
	{.asked = "POST /containers/", .says = ENGINE_JSON("201 Created", "{\"Id\":\"e1\"}")},
	{.asked = "/resize?", .says = ENGINE_JSON("201 Created", "")},
	{.asked = "",
		.says = ENGINE_JSON("200 OK", "{\"Running\":false,\"ExitCode\":3,\"Pid\":0}")}};

static bool is_heard(int fd, const char *word)
{
	char text[200];
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text);

	return n > 0 && memmem(text, (size_t)n, word, strlen(word));
}

// Until the command has ended; what it said is in the pipes by then.
static struct exec_command_end await_command(struct exec_command *command)
{
	struct pollfd polled = {.fd = command->keeper_fd, .events = POLLIN};

	exec_command_resize(command, 24, 80);
	(void)!write(command->input, "x", 1); // one that has ended takes nothing
	CHECK(poll(&polled, 1, 20000) == 1);
	return exec_command_ended(command);
}

static bool run_in_container(const char *path, bool has_terminal)
{
	char message[300] = "";
	struct exec_command command;
	struct exec_container_start start = {.socket = path,
		.name = "c",
		.arguments = (char *[]){(char[]){"true"}, NULL},
		.has_input = true,
		.has_terminal = has_terminal,
		.timeout_ms = 20000,
		.stop_fd = -1};

	if (exec_container_start(&start, &command, message, sizeof message) != 0) {
		CHECK(*message && command.keeper_fd < 0 && command.input < 0);
		walk_said(message);
		return false;
	}
	struct exec_command_end end = await_command(&command);
	// A terminal has one output, which is not taken apart.
	bool is_right =
		is_heard(command.output, "hi") && (has_terminal || is_heard(command.error, "no"));
	exec_command_finish(&command);
	CHECK(end.is_known || *end.reason);
	walk_said(end.is_known ? "" : end.reason);
	return end.is_known && end.exit_code == 3 && is_right;
}

static bool run_both(struct work_place *place)
{
	char path[200];

	signal(SIGPIPE, SIG_IGN);
	work_path(place, "engine", path);
	scripted_engine_start(path, answers);
	bool is_done = run_in_container(path, false);
	is_done = run_in_container(path, true) && is_done;
	scripted_engine_stop();
	return is_done;
}

const struct node_work exec_container_work = {.name = "exec_container",
	.work = run_both,
	.excuses = {.only = (const char *const[]){"at tools/agent/exec/", NULL},
		// To pipes that are read, with bytes that are there.
		.cannot_fail = (const char *const[]){"write at", NULL},
		// An engine that breaks off has no more to say.
		.unsaid = (const char *const[]){"recv at tools/agent/exec/exec_container.c",
			"read at tools/agent/exec/exec_container.c",
			"send at tools/agent/exec/exec_container.c", NULL}}};
