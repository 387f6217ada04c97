// What a task is held to reaches its container, with a real podman and real control groups.
#include "tests/tools/agent/container/podman_stage.h"
#include "tools/agent/container/engine.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SKIPPED 77
#define GREEDY "x=aaaaaaaaaaaaaaaa; while true; do x=$x$x; done"

static int begin_with_groups(void **unused)
{
	podman_has_groups = true;
	return podman_begin(NULL);
}

// Of control groups of the one version, or of the other.
static void limits_reach_the_container(void **unused)
{
	char text[2000];
	struct alloc_run *a = podman_run("batch", "\"MemoryMB\":32,\"CPU\":200,",
		SHELL("cd /sys/fs/cgroup; cat memory/memory.limit_in_bytes memory.max "
		      "pids/pids.max pids.max cpu/cpu.shares cpu.weight") ",\"pids_limit\":50");
	podman_pass_until(podman_has_ended);
	podman_read(a, "stdout", text);
	if (strcmp(text, "33554432\n50\n200\n") != 0 && strcmp(text, "33554432\n50\n8\n") != 0)
		fail_msg("%s", text);
	podman_expect_none();
}

static void ask_engine(
	const char *method, const char *path, const json_t *body, struct engine_reply *reply)
{
	struct engine engine = {.socket = podman_socket, .signal_fd = -1};
	struct engine_request request = {
		.method = method, .path = path, .body = body, .timeout_ms = 60000};
	engine_ask(&engine, &request, reply);
	assert_string_equal(reply->message, "");
}

// Not every podman does, with groups of version 1.
static bool engine_tells_why(void)
{
	struct engine_reply reply;
	json_t *body = json_pack("{s:s s:[s,s,s] s:{s:i s:i s:s}}", "Image", "localhost/test:1",
		"Cmd", "/bin/sh", "-c", GREEDY, "HostConfig", "Memory", 32 << 20, "MemorySwap",
		32 << 20, "NetworkMode", "host");
	static const struct {
		const char *method, *path;
	} steps[] = {{"POST", "/containers/create?name=probe"}, {"POST", "/containers/probe/start"},
		{"POST", "/containers/probe/wait"}, {"GET", "/containers/probe/json"},
		{"DELETE", "/containers/probe?force=true"}};
	bool tells = false;
	for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
		ask_engine(steps[i].method, steps[i].path, i == 0 ? body : NULL, &reply);
		tells |= json_is_true(
			json_object_get(json_object_get(reply.body, "State"), "OOMKilled"));
		engine_reply_free(&reply);
	}
	json_decref(body);
	return tells;
}

static void a_task_over_its_memory_is_told_so(void **unused)
{
	struct alloc_run *a = podman_run("batch", "\"MemoryMB\":32,", SHELL(GREEDY));
	const char *wanted = engine_tells_why() ? "OOM Killed" : "Exit Code: 137";
	podman_pass_until(podman_has_ended);
	assert_true(a->tasks[0].failed);
	assert_non_null(strstr(podman_noted(&a->tasks[0], "Terminated"), wanted));
	podman_expect_none();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, podman_open, podman_close)
	const struct CMUnitTest tests[] = {
		TEST(limits_reach_the_container),
		TEST(a_task_over_its_memory_is_told_so),
	};
	if (geteuid() != 0)
		return SKIPPED;
	return cmocka_run_group_tests(tests, begin_with_groups, podman_end_all);
}
