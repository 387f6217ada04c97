// Whatever the system refuses to who runs containers: it is said, nothing is left open, and the next agent goes on.
#include "state/base/check.h"
#include "tests/failpoints/call_walk.h"
#include "tests/failpoints/node_life.h"
#include "tests/tools/agent/container/scripted_run.h"
#include "tests/tools/agent/exec/scripted_engine.h"
#include "tools/agent/container/container.h"
#include "tools/agent/container/container_exec.h"
#include "tools/agent/container/container_news.h"
#include "tools/agent/container/container_run.h"
#include "tools/agent/container/engine_watch.h"
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static const struct call_walk_excuses excuses = {
	// Without setting by setting of libcurl: one that lacks memory is like the other, and there are a hundred.
	.cannot_fail = (const char *const[]){
		NODE_LIFE_CALLS, "curl_easy_setopt at", "curl_slist_append at", NULL}};

#define JSON ENGINE_JSON
#define NO_BODY "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"
static const char handed_over[] =
	"HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n"
	"\1\0\0\0\0\0\0\2hi";
static const char output[] =
	"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n\1\0\0\0\0\0\0\3one\2\0\0\0\0\0\0\2no";
static const struct engine_answer answers[] = {
	{"GET /version", JSON("200 OK", "{\"Version\":\"1\"}"), 0, 0, false},
	{"GET /images/", JSON("404 Not Found", "{\"message\":\"no such image\"}"), 0, 0, false},
	{"POST /images/create", JSON("200 OK", "{\"status\":\"Pulling\"}"), 0, 0, false},
	{"POST /containers/create", JSON("201 Created", "{\"Id\":\"c1\"}"), 0, 0, false},
	{"/exec HTTP", JSON("201 Created", "{\"Id\":\"e1\"}"), 0, 0, false},
	{"POST /exec/e1/start", handed_over, sizeof handed_over - 1, 0, false},
	{"POST /exec/e1/resize", JSON("201 Created", ""), 0, 0, false},
	{"GET /exec/e1/json", JSON("200 OK", "{\"Running\":false,\"ExitCode\":3,\"Pid\":0}"), 0, 0,
		false},
	{"/logs?", output, sizeof output - 1, 0, false},
	{"/wait", JSON("200 OK", "{\"StatusCode\":3}"), 0, 0, false},
	{"GET /containers/",
		JSON("200 OK", "{\"State\":{\"Running\":false,\"ExitCode\":3,\"OOMKilled\":true}}"),
		0, 0, false},
	{"", NO_BODY, 0, 0, false}};

static char folder[] = "/tmp/berth-engine-XXXXXX", socket_path[64];
static struct container_settings settings = {.sockets = {"", socket_path},
	.program = "/proc/self/exe",
	.capabilities = CAPABILITIES_DEFAULT};

static void say_news(const char *exit_path)
{
	enum container_news kind;
	char text[NEWS_TEXT_BYTES];

	for (uint32_t i = 0; container_news_read(exit_path, i, &kind, text); i++)
		if (kind == NEWS_FAILED || kind == NEWS_REFUSED || kind == NEWS_LOST)
			walk_said(text);
}

static bool run_container_here(const struct node_life *l)
{
	char exit_path[100];

	snprintf(exit_path, sizeof exit_path, "%s/direct", l->folder);
	int said = memfd_create("said", MFD_CLOEXEC);
	int exit_code = scripted_run(socket_path, exit_path, said, NULL);
	close(said);
	say_news(exit_path);
	container_news_forget(exit_path);
	if (exit_code == 125)
		walk_said("Exit Code: 125");
	return exit_code == 3;
}

static bool exec_in_container(void)
{
	char message[300] = "", word[] = "true", bytes[64];
	struct container_exec exec;
	int exit_code, stop_fd = eventfd(0, EFD_CLOEXEC);
	struct container_exec_start start = {.socket = socket_path,
		.name = "c",
		.arguments = (char *[]){word, NULL},
		.timeout_ms = 20000,
		.stop_fd = stop_fd};
	bool is_done = container_exec_start(&start, &exec, message, sizeof message) == 0;

	if (is_done) {
		struct pollfd polled = {.fd = exec.fd, .events = POLLIN};
		while (poll(&polled, 1, 1000) > 0 && read(exec.fd, bytes, sizeof bytes) > 0)
			;
		close(exec.fd);
		is_done = container_exec_resize(&exec, 24, 80);
		is_done &= container_exec_has_ended(&exec, &exit_code, message, sizeof message);
		container_exec_kill(&exec);
	}
	close(stop_fd);
	walk_said(message);
	return is_done;
}

// What it cannot ask is taken for an engine that is away.
static bool watch_engine(void)
{
	struct engine_watch w;
	struct epoll_event event;
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);

	engine_watch_open(&w, socket_path);
	for (uint32_t i = 0; i < 2000 && !w.is_healthy && (i == 0 || w.fd >= 0); i++) {
		(void)engine_watch_step(&w, epoll_fd, 1);
		(void)epoll_wait(epoll_fd, &event, 1, w.fd < 0 ? 0 : 10);
	}
	engine_watch_close(&w);
	close(epoll_fd);
	if (!w.is_healthy)
		walk_said("the engine is away");
	return w.is_healthy;
}

static struct alloc_run *ask_for_container(void)
{
	return node_life_ask(
		"{\"Name\":\"t\",\"Driver\":\"podman\",\"RestartPolicy\":{\"Attempts\":1,"
		"\"Interval\":60000000000,\"Delay\":50000000,\"Mode\":\"fail\"},"
		"\"Config\":{\"image\":\"i\"}}");
}

// It ends with 3, and that twice.
static bool run_driver(struct node_life *l)
{
	if (!node_life_open(l, NULL)) {
		walk_said(l->message);
		return false;
	}
	const struct alloc_run *a = ask_for_container();
	bool is_done = node_life_step_to(a, PHASE_ENDED) && a->tasks[0].failed;
	is_done &= node_life_has_note(a, "Terminated", "Exit Code: 3");
	node_life_say(a);
	node_life_close();
	return is_done;
}

// Its process was killed, and somebody else has to remove the container. Nobody waits for that.
static void leave_container(const struct node_life *l)
{
	struct task t = {.driver = &driver_podman};
	struct process_end how = {.is_known = true, .signal = 9};
	char exit_path[100];

	snprintf(exit_path, sizeof exit_path, "%s/left", l->folder);
	(void)container_news_tell(exit_path, NEWS_STARTED, "c");
	driver_podman.judge(&t, exit_path, &how, 1);
}

static bool work(void *shared)
{
	uint32_t descriptors = walk_descriptors();
	bool is_done = run_container_here(shared);

	is_done &= exec_in_container();
	is_done &= watch_engine();
	is_done &= run_driver(shared);
	leave_container(shared);
	CHECK(walk_descriptors() == descriptors);
	return is_done;
}

static void look(void *shared)
{
	struct node_life *l = shared;

	if (!node_life_open(l, NULL))
		check_failed(__FILE__, __LINE__, l->message);
	const struct alloc_run *a = ask_for_container();
	CHECK(node_life_step_to(a, PHASE_ENDED) && a->tasks[0].failed);
	node_life_forget();
	node_life_close();
}

static void what_is_refused_to_a_container_is_said(void **unused)
{
	const struct walk w = {NULL, 0, node_life_prepare, work, look, node_life_clear};

	(void)unused;
	assert_non_null(mkdtemp(folder));
	snprintf(socket_path, sizeof socket_path, "%s/sock", folder);
	container_configure(&settings);
	scripted_engine_start(socket_path, answers);
	walk_calls(&w, &excuses);
	scripted_engine_stop();
	assert_int_equal(rmdir(folder), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_refused_to_a_container_is_said),
	};
	if (container_run_is_meant(argc, argv))
		return container_run(argc, argv);
	return cmocka_run_group_tests_name("container calls", tests, NULL, NULL);
}
