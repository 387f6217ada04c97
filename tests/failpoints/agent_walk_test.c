// Whatever a node refuses to its agent: it is said, what runs is known to the next agent, and nothing runs twice.
#include "state/base/check.h"
#include "tests/failpoints/call_walk.h"
#include "tests/tools/agent/task/stage.h"
#include "tools/agent/base/folders.h"
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static const struct node_facts facts = {.id = {{7}}, .name = "n", .datacenter = "dc1"};
static const struct uuid id = {{0xa1}};

static const struct walk_row rows[] = {
	{FAILPOINT_ALLOC_MKDIR, "eacces", NULL, false, false},
	{FAILPOINT_ALLOC_LIST, "emfile", NULL, false, false},
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

static const struct call_walk_excuses excuses = {
	.cannot_fail = (const char *const[]){"tools/agent/confine/filter.c", NULL},
};

struct node_life {
	char folder[64], group[80]; // both of a name that nobody else has
	char message[300];
};

static const char *driver; // of the task
static struct confine confine;
static struct time_source source;

// What the task and this test tell each other is in the allocation's own folder, which confined tasks see, too.
static void path_of_shared(const struct node_life *l, const char *name, char path[static 160])
{
	char text[UUID_TEXT_BYTES];

	snprintf(path, 160, "%s/alloc/%s/alloc/%s", l->folder, uuid_format(&id, text), name);
}

static void *prepare(const struct walk_row *row)
{
	struct node_life *l = walk_shared(sizeof *l);
	char shared[160];

	snprintf(l->folder, sizeof l->folder, "/tmp/berth-walk-XXXXXX");
	assert_non_null(mkdtemp(l->folder));
	snprintf(l->group, sizeof l->group, "%s.slice", l->folder + strlen("/tmp/"));
	path_of_shared(l, "", shared);
	int top = folder_open("/"), folder = folder_make(top, shared + 1, 01777);
	assert_true(folder >= 0 && close(folder) == 0 && close(top) == 0);
	return l;
}

static void clear(void *shared)
{
	struct node_life *l = shared;

	folder_remove(AT_FDCWD, l->folder);
	assert_int_equal(munmap(l, sizeof *l), 0);
}

static void close_agent(void)
{
	runner_close(&runner);
	confine_close(&confine);
}

static bool open_agent(struct node_life *l)
{
	struct confine_settings confinement = {.group_parent = l->group,
		.users_denied = "root",
		.capabilities = CAPABILITIES_DEFAULT};
	struct runner_settings settings = {.data_folder = l->folder,
		.state_folder = l->folder,
		.time = &source,
		.seed = 3,
		.confine = &confine};

	manual = (struct manual_time){.monotonic_ns = 1000000000, .wall_ns = 1700000000000000000};
	source = time_source_manual(&manual);
	if (confine_open(&confine, &confinement, l->message, sizeof l->message) < 0)
		return false;
	if (runner_open(&runner, &settings, l->message, sizeof l->message) < 0) {
		close_agent();
		return false;
	}
	runner_know_node(&runner, &facts);
	return true;
}

// As a controller does that sees the agent without it.
static struct alloc_run *ask_to_run(void)
{
	char task[1500];

	snprintf(task, sizeof task,
		"{\"Name\":\"t\",\"Driver\":\"%s\",\"RestartPolicy\":{\"Attempts\":1,"
		"\"Interval\":60000000000,\"Delay\":1000000000,\"Mode\":\"fail\"},\"Config\":{"
		"\"command\":\"/bin/sh\",\"args\":[\"-c\",\"cd $NOMAD_ALLOC_DIR; echo x >>ran; "
		"until "
		"test -e go; do sleep 0.01; done\"]}}",
		driver);
	if (!runner_find(&runner, &id))
		runner_add(&runner, &id, 9, 5, stage_describe(&id, "batch", "", task));
	return runner_find(&runner, &id);
}

// Until the task has come to the phase or its allocation is over; time passes for what waits.
static bool step_to(const struct alloc_run *a, enum task_phase phase)
{
	runner_step(&runner);
	for (uint32_t tries = 0; tries < 600 && a->tasks[0].phase != phase && !alloc_run_is_over(a);
		tries++) {
		poll(&(struct pollfd){.fd = runner.epoll_fd, .events = POLLIN}, 1, 5);
		stage_pass_ms(20);
	}
	return a->tasks[0].phase == phase;
}

static void let_go(const struct node_life *l)
{
	char path[160];

	path_of_shared(l, "go", path);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	CHECK(fd >= 0 && close(fd) == 0);
}

static uint32_t count_runs(const struct node_life *l)
{
	char path[160];
	uint32_t lines = 0;

	path_of_shared(l, "ran", path);
	FILE *file = fopen(path, "re");
	for (int c = 0; file && (c = fgetc(file)) != EOF;)
		lines += c == '\n';
	if (file)
		fclose(file);
	return lines;
}

// What the task tells its user.
static void say_notes(const struct alloc_run *a)
{
	for (uint32_t i = 0; i < a->tasks[0].note_count; i++)
		if (strcmp(a->tasks[0].notes[i].type, "Driver Failure") == 0)
			walk_said(a->tasks[0].notes[i].message);
}

static uint32_t count_descriptors(void)
{
	uint32_t count = 0;
	DIR *listing = opendir("/proc/self/fd");

	CHECK(listing);
	while (readdir(listing))
		count++;
	closedir(listing);
	return count;
}

// An agent starts the task; the next one takes it up, and sees it end. False: something was refused on the way.
static bool run_agents(struct node_life *l)
{
	bool is_done = true;

	for (uint32_t agent = 0; agent < 2 && is_done; agent++) {
		if (!open_agent(l)) {
			walk_said(l->message);
			return false;
		}
		const struct alloc_run *a = ask_to_run();
		is_done = step_to(a, PHASE_RUNNING);
		if (is_done && agent == 1) {
			let_go(l);
			is_done = step_to(a, PHASE_ENDED) && a->status == WIRE_CLIENT_COMPLETE;
		}
		say_notes(a);
		close_agent();
	}
	return is_done;
}

static bool work(void *shared)
{
	uint32_t descriptors = count_descriptors();
	bool is_done = run_agents(shared);

	CHECK(count_descriptors() == descriptors); // whatever failed
	return is_done;
}

static int remove_group(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	return kind == FTW_DP ? rmdir(path) : 0;
}

// One that could not be opened when its task was over is still there.
static void remove_groups(void)
{
	if (confine.groups.is_usable)
		CHECK(nftw(confine.groups.parent, remove_group, 8, FTW_DEPTH | FTW_PHYS) == 0);
}

static void look(void *shared)
{
	struct node_life *l = shared;

	if (!open_agent(l))
		check_failed(__FILE__, __LINE__, l->message);
	const struct alloc_run *a = ask_to_run();
	let_go(l);
	CHECK(step_to(a, PHASE_ENDED));
	uint32_t runs = count_runs(l);
	CHECK(runs <= 1);
	CHECK(a->status == WIRE_CLIENT_COMPLETE ? runs == 1 : a->tasks[0].failed);
	runner_forget(&runner, runner_find(&runner, &id)); // with its groups
	runner_step(&runner);
	remove_groups();
	close_agent();
}

static void what_a_node_refuses_is_said_and_nothing_runs_twice(void **area)
{
	const struct walk w = {rows, sizeof rows / sizeof rows[0], prepare, work, look, clear};

	bool is_confined = strcmp(*area, "confine") == 0;

	if ((is_confined || strcmp(*area, "cgroup") == 0) && geteuid() != 0)
		skip();
	driver = is_confined ? "exec" : "raw_exec";
	if (strcmp(*area, "calls") == 0)
		walk_calls(&w, &excuses);
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
