// Whatever the system refuses to who prepares a task: it is said, the task does not run without what it needs, and the
// next agent makes it good.
#include "state/base/check.h"
#include "tests/failpoints/call_walk.h"
#include "tests/failpoints/node_life.h"
#include "tests/support/calls/failing_calls.h"
#include "tests/tools/agent/fetch/web.h"
#include "tests/tools/agent/prepare/store.h"
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

// Another walk has commands. Of what is left cannot fail: to count an eventfd up, and to wait, again and again.
static const struct call_walk_excuses excuses = {
	.cannot_fail = (const char *const[]){NODE_LIFE_CALLS, "at tools/agent/exec/",
		"write at tools/agent/prepare/variables.c", "write at tools/agent/script/script.c",
		"poll at tools/agent/prepare/variables.c",
		"poll at tools/agent/script/script_process.c", NULL}};

static const char *helper;

// A file of the allocation's folder, "" if it is not there.
static const char *contents(const struct node_life *l, const char *name)
{
	static char text[500];
	char path[300], id[UUID_TEXT_BYTES];

	snprintf(path, sizeof path, "%s/alloc/%s/%s", l->folder, uuid_format(&node_life_alloc, id),
		name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	text[size > 0 ? size : 0] = '\0';
	return text;
}

#define VARIABLE "{{ with nomadVar \\\"nomad/jobs/j\\\" }}{{ .a }}{{ end }}"
static struct alloc_run *ask_for_task(void)
{
	char task[3000];

	snprintf(task, sizeof task,
		"{\"Name\":\"t\",\"Driver\":\"mock\",\"Config\":{},\"RestartPolicy\":{\"Attempts\":"
		"2,"
		"\"Interval\":60000000000,\"Delay\":50000000,\"Mode\":\"fail\"},"
		"\"DispatchPayload\":{\"File\":\"input/it\"},"
		"\"Artifacts\":[{\"GetterSource\":\"%s\"}],\"Templates\":["
		"{\"EmbeddedTmpl\":\"" VARIABLE "\",\"DestPath\":\"local/x\",\"Splay\":0,"
		"\"ChangeMode\":\"script\",\"ChangeScript\":{\"Command\":\"/bin/sh\","
		"\"Args\":[\"-c\",\"echo ran >>${NOMAD_TASK_DIR}/seen\"]}},"
		"{\"SourcePath\":\"local/page\",\"DestPath\":\"local/deep/y\",\"Splay\":0,"
		"\"Uid\":%u,\"Gid\":%u},"
		"{\"EmbeddedTmpl\":\"A={{ file \\\"local/page\\\" "
		"}}\",\"DestPath\":\"secrets/env\","
		"\"Envvars\":true,\"Splay\":0}]}",
		web_url("page"), (unsigned)geteuid(), (unsigned)getegid());
	return node_life_ask(task);
}

static bool has_trouble(const struct alloc_run *a)
{
	return task_is_over(&a->tasks[0]) || node_life_has_note(a, "Template", "") ||
	       node_life_has_note(a, "Task hook failed", "");
}

// Until a file has these contents, or its task has trouble (NULL: it had); time passes for what waits.
static bool step_until(
	const struct node_life *l, const struct alloc_run *a, const char *name, const char *wanted)
{
	// What failed may keep it from ever coming to that.
	for (uint32_t i = 0;
		i < (calls_failures() > 0 ? 600 : 4000) && strcmp(contents(l, name), wanted) != 0;
		i++) {
		if (a && has_trouble(a))
			return false;
		poll(&(struct pollfd){.fd = runner.epoll_fd, .events = POLLIN}, 1, 5);
		stage_pass_ms(20);
	}
	return strcmp(contents(l, name), wanted) == 0;
}

static bool open_prepared(struct node_life *l)
{
	struct prepare_settings prepare = {
		.helper = helper, .limits = {1 << 20, 100, 60}, .source = store_source};

	store_clear();
	store_put("nomad/jobs/j", "{\"a\":\"one\"}");
	return node_life_open(l, &prepare);
}

static bool has_all(const struct node_life *l)
{
	return strcmp(contents(l, "t/local/page"), "page") == 0 &&
	       strcmp(contents(l, "t/local/deep/y"), "page") == 0 &&
	       strcmp(contents(l, "t/secrets/env"), "A=page") == 0 &&
	       strcmp(contents(l, "t/local/x"), "one") == 0;
}

static bool run_prepared(struct node_life *l)
{
	if (!open_prepared(l)) {
		walk_said(l->message);
		return false;
	}
	const struct alloc_run *a = ask_for_task();
	runner_step(&runner);
	bool is_done = step_until(l, a, "t/local/x", "one") && node_life_step_to(a, PHASE_RUNNING);
	CHECK(!is_done || has_all(l));
	if (is_done) {
		store_put("nomad/jobs/j", "{\"a\":\"two\"}");
		is_done = step_until(l, a, "t/local/seen", "ran\n");
	}
	CHECK(!is_done || strcmp(contents(l, "t/local/x"), "two") == 0);
	node_life_say(a);
	node_life_close();
	return is_done;
}

static bool work(void *shared)
{
	uint32_t descriptors = walk_descriptors();
	bool is_done = run_prepared(shared);

	CHECK(walk_descriptors() == descriptors);
	return is_done;
}

static void look(void *shared)
{
	struct node_life *l = shared;

	if (!open_prepared(l))
		check_failed(__FILE__, __LINE__, l->message);
	const struct alloc_run *a = ask_for_task();
	bool runs = node_life_step_to(a, PHASE_RUNNING);
	CHECK(runs || a->tasks[0].failed);
	CHECK(!runs || step_until(l, NULL, "t/local/x", "one"));
	node_life_forget();
	node_life_close();
}

static void what_a_task_needs_is_there_or_said_to_be_missing(void **unused)
{
	const struct walk w = {NULL, 0, node_life_prepare, work, look, node_life_clear};

	(void)unused;
	web_begin(NULL, NULL);
	web_put("page", "page", 4);
	walk_calls(&w, &excuses);
	web_end();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_task_needs_is_there_or_said_to_be_missing),
	};
	assert_true(argc == 2);
	helper = argv[1];
	return cmocka_run_group_tests_name("prepare calls", tests, NULL, NULL);
}
