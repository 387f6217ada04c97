// An engine of containers on its socket: the node's look whether it is there, and a request.
#include "state/base/check.h"
#include "tests/failpoints/node/works.h"
#include "tests/tools/agent/exec/scripted_engine.h"
#include "tools/agent/container/engine.h"
#include "tools/agent/container/engine_watch.h"
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

static const struct walk_row rows[] = {
	{FAILPOINT_ENGINE_SOCKET, "emfile", NULL, false, false},
	{FAILPOINT_ENGINE_CONNECT, "econnrefused", NULL, false, false},
	{FAILPOINT_ENGINE_SEND, "epipe", NULL, false, false},
	{FAILPOINT_ENGINE_WATCH, "enospc", NULL, false, false},
	{FAILPOINT_ENGINE_RECEIVE, "econnreset", NULL, false, false},
	{FAILPOINT_ENGINE_HANDLES, "enomem", NULL, false, true},
	{FAILPOINT_ENGINE_HANDLE, "enomem", NULL, false, false},
};

static const struct engine_answer answers[] = {
	{.asked = "", .says = ENGINE_JSON("200 OK", "{\"Version\":\"4.9\"}")}};

static bool watch_engine(const char *path)
{
	struct engine_watch w;
	uint64_t now_ns = 1;
	struct pollfd polled = {.fd = epoll_create1(EPOLL_CLOEXEC), .events = POLLIN};

	CHECK(polled.fd >= 0);
	engine_watch_open(&w, path);
	(void)engine_watch_step(&w, polled.fd, now_ns);
	for (uint32_t tries = 0; w.fd >= 0 && tries < 100; tries++) {
		CHECK(poll(&polled, 1, 20000) == 1);
		(void)engine_watch_step(&w, polled.fd, now_ns);
	}
	CHECK(w.fd < 0 && engine_watch_due_ns(&w) > now_ns); // it asks again
	bool is_well = w.is_healthy && strcmp(w.version, "4.9") == 0;
	engine_watch_close(&w);
	close(polled.fd);
	walk_said(is_well ? "" : "the driver is told as unhealthy");
	return is_well;
}

static bool ask_engine(const char *path)
{
	const struct engine engine = {path, -1};
	const struct engine_request request = {
		.method = "GET", .path = "/version", .timeout_ms = 20000};
	struct engine_reply reply;

	engine_ask(&engine, &request, &reply);
	bool is_well = engine_is_good(&reply) && reply.body;
	walk_said(is_well ? "" : reply.message);
	engine_reply_free(&reply);
	return is_well;
}

static bool ask_of_engine(struct work_place *place)
{
	char path[200];

	work_path(place, "engine", path);
	scripted_engine_start(path, answers);
	bool is_done = watch_engine(path);
	is_done = ask_engine(path) && is_done;
	scripted_engine_stop();
	return is_done;
}

const struct node_work engine_work = {.name = "engine",
	.rows = rows,
	.row_count = sizeof rows / sizeof rows[0],
	.work = ask_of_engine,
	.excuses = {.cannot_fail = (const char *const[]){"at state/", NULL}}};
