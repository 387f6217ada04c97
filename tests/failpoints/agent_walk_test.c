// Whatever a node refuses to its agent: it is said, what runs is known to the next agent, and nothing runs twice.
#include "state/base/check.h"
#include "tests/failpoints/call_walk.h"
#include "tests/failpoints/node_life.h"
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const struct walk_row rows[] = {
	{FAILPOINT_ALLOC_MKDIR, "eacces", NULL, false, false},
	{FAILPOINT_ALLOC_LIST, "emfile", NULL, false, false},
	{FAILPOINT_ALLOC_NEXT, "eio", NULL, false, false},
	{FAILPOINT_ALLOC_LOAD, "emfile", NULL, false, false},
	{FAILPOINT_ALLOC_CREATE, "emfile", NULL, false, false},
	{FAILPOINT_ALLOC_WRITE, "enospc", NULL, false, false},
	{FAILPOINT_ALLOC_SYNC, "eio", NULL, false, false},
	{FAILPOINT_ALLOC_RENAME, "eio", NULL, false, false},
	{FAILPOINT_ALLOC_SYNC_FOLDER, "eio", NULL, false, false},
	{FAILPOINT_CGROUP_CREATE, "enospc", NULL, true, false},
	{FAILPOINT_CGROUP_OPEN, "emfile", NULL, false, false},
	{FAILPOINT_CGROUP_ENTER, "ebusy", NULL, false, false},
	{FAILPOINT_CGROUP_WRITE, "ebusy", NULL, false, false},
	{FAILPOINT_CGROUP_KILL, "enoent", NULL, true, false},
	{FAILPOINT_CGROUP_REMOVE, "ebusy", NULL, true, false, "group-not-removed"},
	{FAILPOINT_CONFINE_FILTER, "enomem", NULL, false, false,
		"cannot make the filter of system calls: Cannot allocate memory"},
	{FAILPOINT_CONFINE_PIDS, "enospc", NULL, false, false, "cannot fork"},
	{FAILPOINT_CONFINE_NAMESPACE, "enospc", NULL, false, false, "cannot make its file system"},
	{FAILPOINT_CONFINE_PRIVATE, "eperm", NULL, false, false, "cannot make its file system"},
	{FAILPOINT_CONFINE_ROOT, "eperm", NULL, false, false, "cannot make its file system"},
	{FAILPOINT_CONFINE_DEVICE, "enospc", NULL, false, false, "cannot make its file system"},
	{FAILPOINT_CONFINE_TREE, "eacces", NULL, false, false, "cannot make its file system"},
	{FAILPOINT_CONFINE_ATTRIBUTE, "eperm", NULL, false, false, "cannot make its file system"},
	{FAILPOINT_CONFINE_MOUNT, "enospc", NULL, false, false, "cannot make its file system"},
	{FAILPOINT_CONFINE_PIVOT, "einval", NULL, false, false, "cannot make its file system"},
	{FAILPOINT_CONFINE_BOUND, "eperm", NULL, false, false, "cannot give up privileges"},
	{FAILPOINT_CONFINE_RIGHTS, "eperm", NULL, false, false, "cannot give up privileges"},
	{FAILPOINT_CONFINE_CALLS, "eacces", NULL, false, false, "cannot give up privileges"},
	{FAILPOINT_EXEC_PIPE, "emfile", NULL, false, false},
	{FAILPOINT_EXEC_FORK, "eagain", NULL, false, false},
	{FAILPOINT_EXEC_WATCH, "emfile", NULL, false, false},
	{FAILPOINT_EXEC_OUTPUT, "emfile", NULL, false, false},
	{FAILPOINT_EXEC_END_FILE, "enospc", NULL, false, false},
	{FAILPOINT_EXEC_TASK, "eagain", NULL, false, false},
	{FAILPOINT_EXEC_FOLDER, "eacces", NULL, false, false},
	{FAILPOINT_EXEC_USER, "eperm", NULL, false, false},
	{FAILPOINT_EXEC_PROGRAM, "eacces", NULL, false, false},
};

// What cannot fail: a descriptor that is open becomes one that may be taken; kernels have close_range() or have it not;
// a child leads no group; a file in memory is read. And what other walks have.
#define CANNOT_FAIL                                                                             \
	"dup2 at tools/agent/task/shim.c", "syscall at tools/agent/task/shim.c",                \
		"setsid at tools/agent/task/shim.c", "pread64 at tools/agent/confine/filter.c", \
		"at state/base/"
static const struct call_walk_excuses task_excuses = {
	.cannot_fail = (const char *const[]){CANNOT_FAIL, "at tools/agent/confine/", NULL}};
static const struct call_walk_excuses confine_excuses = {
	.cannot_fail = (const char *const[]){CANNOT_FAIL, "at tools/agent/base/",
		"at tools/agent/check/", "at tools/agent/task/", "at tools/agent/runner.c", NULL}};

static const char *driver; // of the task

static struct alloc_run *ask_to_run(void)
{
	char task[1500];

	snprintf(task, sizeof task,
		"{\"Name\":\"t\",\"Driver\":\"%s\",\"Identity\":{\"Token\":\"s\",\"File\":true},"
		"\"RestartPolicy\":{\"Attempts\":1,"
		"\"Interval\":60000000000,\"Delay\":50000000,\"Mode\":\"fail\"},\"Config\":{"
		"\"command\":\"/bin/sh\",\"args\":[\"-c\",\"cd $NOMAD_ALLOC_DIR; echo x >>ran; "
		"read go <go\"]}}",
		driver);
	return node_life_ask(task);
}

// The pipe that the task waits for. As long as it is open no task waits.
static int let_go(const struct node_life *l)
{
	char path[160];

	node_life_path(l, "go", path);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0 && write(fd, "\n\n", 2) == 2);
	return fd;
}

static void *prepare(const struct walk_row *row)
{
	char path[160];
	void *shared = node_life_prepare(row);

	node_life_path(shared, "go", path);
	assert_true(mkfifo(path, 0600) == 0 && chmod(path, 0666) == 0); // whatever the umask is
	return shared;
}

static uint32_t count_runs(const struct node_life *l)
{
	char path[160];
	uint32_t lines = 0;

	node_life_path(l, "ran", path);
	FILE *file = fopen(path, "re");
	for (int c = 0; file && (c = fgetc(file)) != EOF;)
		lines += c == '\n';
	if (file)
		fclose(file);
	return lines;
}

// An agent starts the task; the next one takes it up, and sees it end. False: something was refused on the way.
static bool run_agents(struct node_life *l)
{
	bool is_done = true;

	for (uint32_t agent = 0; agent < 2 && is_done; agent++) {
		if (!node_life_open(l, NULL)) {
			walk_said(l->message);
			return false;
		}
		const struct alloc_run *a = ask_to_run();
		is_done = node_life_step_to(a, PHASE_RUNNING);
		if (is_done && agent == 1) {
			int go = let_go(l);
			is_done = node_life_step_to(a, PHASE_ENDED) &&
				  a->status == WIRE_CLIENT_COMPLETE;
			close(go);
		}
		node_life_say(a);
		node_life_close();
	}
	return is_done;
}

static bool work(void *shared)
{
	uint32_t descriptors = walk_descriptors();
	bool is_done = run_agents(shared);

	CHECK(walk_descriptors() == descriptors); // whatever failed
	return is_done;
}

static void look(void *shared)
{
	struct node_life *l = shared;

	if (!node_life_open(l, NULL))
		check_failed(__FILE__, __LINE__, l->message);
	const struct alloc_run *a = ask_to_run();
	int go = let_go(l);
	CHECK(node_life_step_to(a, PHASE_ENDED));
	close(go);
	// Of an end that could not be kept nobody knows whether it was a good one: the restart policy says what
	// follows.
	uint32_t runs = count_runs(l), most = 1;
	if (node_life_has_note(a, "Terminated", "How it ended is not known"))
		most = 2;
	CHECK(runs <= most);
	CHECK(a->status == WIRE_CLIENT_COMPLETE ? runs >= 1 : a->tasks[0].failed);
	node_life_forget();
	node_life_close();
}

static void what_a_node_refuses_is_said_and_nothing_runs_twice(void **area)
{
	const struct walk w = {
		rows, sizeof rows / sizeof rows[0], prepare, work, look, node_life_clear};

	bool is_confined = strstr(*area, "confine") != NULL;

	if ((is_confined || strcmp(*area, "cgroup") == 0) && geteuid() != 0)
		skip();
	driver = is_confined ? "exec" : "raw_exec";
	if (strstr(*area, "calls"))
		walk_calls(&w, is_confined ? &confine_excuses : &task_excuses);
	else
		walk_area(&w, *area);
}

int main(int argc, char **argv)
{
	assert_true(argc == 2);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(
			what_a_node_refuses_is_said_and_nothing_runs_twice, argv[1]),
	};
	return cmocka_run_group_tests_name(argv[1], tests, NULL, NULL);
}
