// Checks of a service over HTTP and TCP, until both have an answer.
#include "state/base/check.h"
#include "tests/failpoints/node/works.h"
#include "tests/support/calls/failing_calls.h"
#include "tests/tools/agent/check/listener.h"
#include "tests/tools/agent/task/stage.h"
#include <poll.h>
#include <stdio.h>
#include <string.h>

static const struct walk_row rows[] = {
	{FAILPOINT_CHECK_EPOLL, "emfile", NULL, false, false},
	{FAILPOINT_CHECK_WAKE, "emfile", NULL, false, false},
	{FAILPOINT_CHECK_TRANSFERS, "enomem", NULL, false, false},
	{FAILPOINT_CHECK_TRANSFER, "enomem", NULL, false, false},
	{FAILPOINT_CHECK_WATCH, "enospc", NULL, false, false},
};

static struct listener listener;

static void add_service(void)
{
	char text[600];

	snprintf(text, sizeof text,
		"\"Services\":[{\"Name\":\"web\",\"Checks\":[{\"Name\":\"h\",\"Type\":\"http\","
		"\"Path\":\"/"
		"\",\"PortLabel\":\"%u\",\"Interval\":5000000000,\"Timeout\":2000000000},"
		"{\"Name\":\"t\",\"Type\":\"tcp\",\"PortLabel\":\"%u\",\"Interval\":5000000000,"
		"\"Timeout\":2000000000}]}],",
		listener.port, listener.port);
	stage_run(&work_id, "service", text, "{\"Name\":\"t\",\"Driver\":\"mock\",\"Config\":{}}");
}

// Counts those that are as wanted; the others' outputs are said.
static uint32_t count_checks(const char *status, bool says)
{
	const char *key;
	json_t *one, *all = checks_json(runner_find(&runner, &work_id));
	uint32_t count = 0;

	json_object_foreach(all, key, one)
	{
		bool is_so = strcmp(spec_text(one, "Status"), status) == 0;
		count += is_so;
		if (!is_so && says)
			walk_said(spec_text(one, "Output"));
	}
	json_decref(all);
	return count;
}

// Time passes only for those that wait.
static void step_checks(void)
{
	struct pollfd polled = {.fd = runner.epoll_fd, .events = POLLIN};

	for (uint32_t tries = 0; tries < 60 && (tries == 0 || count_checks("pending", false));
		tries++) {
		while (runner_step(&runner) <= manual.monotonic_ns)
			;
		bool is_answer_due = listener_awaited(checks_fd(runner.checks)) > 0;
		if (poll(&polled, 1, is_answer_due ? 10000 : 0) == 0)
			manual_time_advance_ms(&manual, 100);
	}
	CHECK(count_checks("pending", false) == 0);
}

static uint32_t failures(void)
{
	uint32_t count = calls_failures();

	for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		count += failpoint_failures(rows[i].point);
	return count;
}

// Whatever it was: once it is over, checks pass.
static void check_again(void)
{
	uint32_t before = failures();

	manual_time_advance_ms(&manual, 5000);
	for (uint32_t tries = 0; tries < 200 && count_checks("success", false) < 2; tries++)
		step_checks();
	CHECK(count_checks("success", false) == 2 || failures() > before);
}

static bool check_service(struct work_place *place)
{
	bool is_done = false;

	listener_open(&listener, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
	if (work_open_runner(place, (struct runner_settings){0})) {
		add_service();
		step_checks();
		is_done = count_checks("success", true) == 2;
		check_again();
		runner_close(&runner);
	}
	listener_close(&listener);
	return is_done;
}

const struct node_work check_work = {.name = "check",
	.rows = rows,
	.row_count = sizeof rows / sizeof rows[0],
	.work = check_service,
	.excuses = {.cannot_fail = (const char *const[]){"at tools/agent/task/",
			    "at tools/agent/base/", "at state/", NULL},
		.only_once = (const char *const[]){"epoll_wait at", NULL}}};
