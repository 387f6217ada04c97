// The agent's service: clients who ask for files, logs and checks of an allocation that runs.
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/time_source.h"
#include "tests/failpoints/node/works.h"
#include "tests/tools/agent/task/stage.h"
#include "tools/agent/service/ask_runner.h"
#include "tools/agent/service/service.h"
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ALLOC "a1000000-0000-0000-0000-000000000001"
#define FILES "alloc/" ALLOC "/"
#define CLIENT "/v1/client/"

static const struct walk_row rows[] = {
	{FAILPOINT_SERVICE_MAILBOX, "emfile", NULL, false, false},
	{FAILPOINT_SERVICE_STOP, "emfile", NULL, false, false},
	{FAILPOINT_SERVICE_START, "emfile", NULL, false, false},
	{FAILPOINT_SERVICE_TAKE, "enotconn", NULL, false, false},
	{FAILPOINT_SERVICE_ANSWER, "enomem", NULL, false, false},
};

static const struct question {
	const char *path;
	const char *parts[2]; // of the right answer
} questions[] = {
	{CLIENT "fs/ls/" ALLOC "?path=t/local", {"\"Name\":\"one\"", "\"Name\":\"two\""}},
	{CLIENT "fs/stat/" ALLOC "?path=t/local/one", {"\"Size\":5", ""}},
	{CLIENT "fs/cat/" ALLOC "?path=t/local/one", {"hello", ""}},
	{CLIENT "fs/readat/" ALLOC "?path=t/local/one&offset=1&limit=3", {"ell", ""}},
	{CLIENT "fs/stream/" ALLOC "?path=t/local/one&follow=false", {"aGVsbG8=", ""}},
	{CLIENT "fs/logs/" ALLOC "?task=t&type=stdout&plain=true", {"first", "second"}},
	{CLIENT "fs/logs/" ALLOC "?task=t&type=stdout", {"Zmlyc3QK", "c2Vjb25kCg=="}},
	{CLIENT "allocation/" ALLOC "/checks", {"{}", ""}},
};

static struct agent_service *service;
static struct ask_runner *mailbox;
static char answer[16384];

static void write_files(struct work_place *place)
{
	work_write(place, FILES "t/local/one", "hello");
	work_write(place, FILES "t/local/two", "");
	work_write(place, FILES "alloc/logs/t.stdout.0", "first\n");
	work_write(place, FILES "alloc/logs/t.stdout.1", "second\n");
}

static bool is_whole(size_t size)
{
	const char *body = strstr(answer, "\r\n\r\n");
	const char *length = strcasestr(answer, "\ncontent-length:");

	if (!body)
		return false;
	if (length)
		return strtoul(length + 16, NULL, 10) == size - (size_t)(body + 4 - answer);
	return size > 5 && memcmp(answer + size - 5, "0\r\n\r\n", 5) == 0;
}

// Texts in place of a file's content come with 200, but without what browsers are told of content.
static bool is_refusal(const char *body)
{
	return strtol(answer + 9, NULL, 10) >= 400 ||
	       (*body && strstr(answer, "text/plain") && !strcasestr(answer, "nosniff"));
}

static bool judge_answer(const struct question *q, size_t size)
{
	const char *body = strstr(answer, "\r\n\r\n");

	if (!is_whole(size)) {
		walk_said("the answer was cut");
		return false;
	}
	const char *first = strstr(body, q->parts[0]);
	if (strncmp(answer + 9, "200", 3) == 0 && first && strstr(first, q->parts[1]))
		return true;
	if (!is_refusal(body + 4))
		check_failed(__FILE__, __LINE__, answer);
	walk_said(body + 4);
	return false;
}

// Reads up to the end of the connection.
static size_t hear_answer(int fd)
{
	struct pollfd polled[] = {{fd, POLLIN, 0}, {ask_runner_fd(mailbox), POLLIN, 0}};
	size_t size = 0;

	for (ssize_t n = 1; n > 0;) {
		CHECK(poll(polled, 2, 10000) > 0);
		if (polled[1].revents)
			ask_runner_serve(mailbox, &runner);
		if (!polled[0].revents)
			continue;
		n = recv(fd, answer + size, sizeof answer - 1 - size, 0);
		size += n > 0 ? (size_t)n : 0;
	}
	answer[size] = '\0';
	return size;
}

static bool ask_question(const struct question *q)
{
	char text[300];
	int ends[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
	int size = snprintf(text, sizeof text,
		"GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", q->path);
	CHECK(send(ends[0], text, (size_t)size, MSG_NOSIGNAL) == size);
	int error = agent_service_take(service, ends[1]);
	walk_said(error < 0 ? error_text(error) : "");
	bool is_answered = error == 0 && judge_answer(q, hear_answer(ends[0]));
	close(ends[0]);
	return is_answered;
}

static bool ask_all(const struct work_place *place)
{
	char message[300];
	bool is_done = true;
	struct agent_service_settings settings = {
		.ask = mailbox, .data_folder = place->folder, .time = &time_source_real};

	if (agent_service_start(&settings, &service, message, sizeof message) < 0) {
		walk_said(message);
		return false;
	}
	for (uint32_t i = 0; i < sizeof questions / sizeof questions[0]; i++)
		is_done = ask_question(&questions[i]) && is_done;
	ask_runner_close(mailbox);
	agent_service_stop(service);
	return is_done;
}

static bool serve_clients(struct work_place *place)
{
	bool is_done = false;

	if (!work_open_runner(place, (struct runner_settings){.time = &time_source_real}))
		return false;
	stage_run(&work_id, "batch", "", "{\"Name\":\"t\",\"Driver\":\"mock\",\"Config\":{}}");
	mailbox = ask_runner_create();
	if (mailbox)
		is_done = ask_all(place);
	else
		walk_said("service: eventfd");
	ask_runner_destroy(mailbox);
	runner_close(&runner);
	return is_done;
}

const struct node_work service_work = {.name = "service",
	.rows = rows,
	.row_count = sizeof rows / sizeof rows[0],
	.furnish = write_files,
	.work = serve_clients,
	.excuses = {
		.cannot_fail = (const char *const[]){"at tools/agent/task/", "at tools/agent/base/",
			"at tools/agent/runner.c", "at tools/agent/check/", "at state/",
			// It closes what it does not take.
			"MHD_add_connection at", NULL}}};
