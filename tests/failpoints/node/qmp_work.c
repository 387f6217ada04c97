// A virtual machine that only pretends: it starts, tells where it is, lets itself be reached, and is suspended; its
// monitor is this program's.
#include "state/base/check.h"
#include "tests/failpoints/node/works.h"
#include "tests/support/calls/failing_calls.h"
#include "tests/support/listening.h"
#include "tests/tools/agent/task/stage.h"
#include "tools/agent/vm/guest_port.h"
#include "tools/agent/vm/machine.h"
#include "tools/agent/vm/qmp.h"
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

// Once something has failed: how long a monitor is waited for, and what it may be silent before nothing comes any more.
#define PATIENCE_MS 200
#define IDLE_MS 100
#define LONG_MS 20000 // before that
#define SUSPENDED "suspended/web-u1"

static const struct walk_row rows[] = {
	{FAILPOINT_QMP_OPEN, "emfile", NULL, false, false},
	{FAILPOINT_QMP_CONNECT, "econnrefused", NULL, false, false},
	{FAILPOINT_QMP_SEND, "epipe", NULL, false, false},
	{FAILPOINT_QMP_RECEIVE, "econnreset", NULL, false, false},
};

static struct monitor {
	int listener, forward; // forward: what it listens on for the guest; -1: nothing
	pthread_t thread;
	_Atomic pid_t machine; // ends when it is told to quit
	_Atomic uint32_t answers;
	bool has_migrated;
} monitor;

static void write_machine(struct work_place *place)
{
	static const char *const programs[] = {"qemu", "qemu-img"};
	char path[200];

	work_write(place, "qemu", "#!/bin/sh\necho booted\nexec sleep 1000\n");
	work_write(place, "qemu-img", "#!/bin/sh\nexit 0\n");
	for (uint32_t i = 0; i < 2; i++) {
		work_path(place, programs[i], path);
		CHECK(chmod(path, 0755) == 0);
	}
	work_write(place, "images/vm/kernel", "kernel");
	work_write(place, "images/vm/cmdline", "quiet");
	work_write(place, "images/vm/disk", "disk");
}

static const char *answer_of_monitor(const char *line)
{
	uint16_t port;
	const char *add = strstr(line, "hostfwd_add net0 tcp:127.0.0.1:");

	if (add && sscanf(add, "hostfwd_add net0 tcp:127.0.0.1:%hu-", &port) == 1 &&
		monitor.forward < 0)
		monitor.forward = listen_on_loopback(&port, 1);
	monitor.has_migrated |= strstr(line, "\"migrate\"") != NULL;
	if (strstr(line, "query-migrate") && monitor.has_migrated)
		return "{\"return\":{\"status\":\"completed\",\"ram\":{}}}\r\n";
	if (strstr(line, "info network"))
		return "{\"return\":\"net0: index=0,type=user,net=10.0.2.0,restrict=off\"}\r\n";
	return strstr(line, "command-line") ? "{\"return\":\"\"}\r\n" : "{\"return\":{}}\r\n";
}

// One talk after the other.
static void *be_monitor(void *unused)
{
	static const char greeting[] = "{\"QMP\":{}}\r\n";
	char line[500];
	ssize_t n;

	for (int fd; (fd = accept(monitor.listener, NULL, NULL)) >= 0; close(fd)) {
		(void)send(fd, greeting, sizeof greeting - 1, MSG_NOSIGNAL);
		while ((n = recv(fd, line, sizeof line - 1, 0)) > 0) {
			line[n] = '\0';
			atomic_fetch_add(&monitor.answers, 1);
			const char *answer = answer_of_monitor(line);
			(void)send(fd, answer, strlen(answer), MSG_NOSIGNAL);
			if (strstr(line, "\"quit\""))
				kill(atomic_load(&monitor.machine), SIGKILL);
		}
	}
	return NULL;
}

static void begin_monitor(const char *folder, pid_t machine)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	monitor = (struct monitor){.forward = -1, .machine = machine};
	CHECK(snprintf(at.sun_path, sizeof at.sun_path, "%s/" QMP_SOCKET, folder) < 108);
	monitor.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(bind(monitor.listener, (struct sockaddr *)&at, sizeof at) == 0);
	CHECK(listen(monitor.listener, 4) == 0);
	CHECK(pthread_create(&monitor.thread, NULL, be_monitor, NULL) == 0);
}

static void end_monitor(void)
{
	shutdown(monitor.listener, SHUT_RDWR);
	pthread_join(monitor.thread, NULL);
	close(monitor.listener);
	if (monitor.forward >= 0)
		close(monitor.forward);
}

// NULL: it was refused.
static struct alloc_run *start_machine(struct work_place *place)
{
	static const char json[] = "{\"name\":\"web\",\"uid\":\"u1\",\"image\":\"vm\","
				   "\"assignedCPU\":1,\"assignedMemory\":32}";
	char message[300];
	struct alloc_spec *spec = machine_spec_read(
		json, strlen(json), &work_id, &runner.settings.machines, message, sizeof message);

	if (!spec) {
		walk_said(message);
		return NULL;
	}
	runner_add(&runner, &work_id, 1, 1, spec);
	runner_step(&runner);
	struct alloc_run *a = runner_find(&runner, &work_id);
	if (a->tasks[0].phase != PHASE_RUNNING)
		walk_said(alloc_run_description(a));
	return a;
}

static bool has_anything_failed(void)
{
	uint64_t failures = calls_failures();

	for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		failures += failpoint_failures(rows[i].point);
	return failures > 0;
}

static struct patience {
	pthread_t thread;
	int stop;
	_Atomic bool is_over;
} patience;

static void *lose_patience(void *unused)
{
	uint32_t waited_ms = 0;

	while (waited_ms < PATIENCE_MS && !atomic_load(&patience.is_over)) {
		poll(NULL, 0, 5);
		waited_ms += has_anything_failed() ? 5 : 0;
	}
	CHECK(eventfd_write(patience.stop, 1) == 0);
	return NULL;
}

static bool ask_guest(const char *folder, int stop)
{
	char message[300] = "", address[GUEST_ADDRESS_BYTES];
	bool is_told = guest_address(folder, stop, address, message, sizeof message) == 0;
	CHECK(!is_told || strcmp(address, "10.0.2.15") == 0);
	walk_said(message);
	int fd = guest_port_connect(folder, 80, stop, message, sizeof message);
	walk_said(fd < 0 ? message : "");
	if (fd >= 0)
		close(fd);
	return is_told && fd >= 0;
}

// Who waits for a monitor that does not answer is told to stop soon.
static bool reach_guest(const char *folder)
{
	patience = (struct patience){.stop = eventfd(0, EFD_CLOEXEC)};
	CHECK(patience.stop >= 0);
	CHECK(pthread_create(&patience.thread, NULL, lose_patience, NULL) == 0);
	bool is_reached = ask_guest(folder, patience.stop);
	atomic_store(&patience.is_over, true);
	pthread_join(patience.thread, NULL);
	close(patience.stop);
	return is_reached;
}

static bool suspend_machine(struct work_place *place, struct alloc_run *a)
{
	struct pollfd polled = {.fd = runner.epoll_fd, .events = POLLIN};

	machine_spec_suspend(a->spec);
	runner_stop(&runner, a);
	uint32_t answers = 0, idle_ms = 0;
	for (uint32_t tries = 0; !alloc_run_is_over(a) && tries < 2 * LONG_MS; tries++) {
		uint32_t idle_most_ms = has_anything_failed() ? IDLE_MS : LONG_MS;
		// A talk that breaks off begins again and again.
		bool is_idle = tries > 3 * idle_most_ms || answers == atomic_load(&monitor.answers);
		answers = atomic_load(&monitor.answers);
		idle_ms = is_idle ? idle_ms + 1 : 0;
		poll(&polled, 1, 1);
		// Then its time to end runs out.
		stage_pass_ms(idle_ms < idle_most_ms ? 25 : 20000);
	}
	CHECK(alloc_run_is_over(a));
	place->is_done = strcmp(alloc_run_description(a), "VM was suspended") == 0;
	walk_said(place->is_done ? "" : alloc_run_description(a));
	return place->is_done;
}

static bool live_of_machine(struct work_place *place)
{
	struct task_folders folders;
	struct alloc_run *a = start_machine(place);
	bool has_begun = a && a->tasks[0].phase == PHASE_RUNNING, is_done = false;

	if (!a)
		return false;
	if (has_begun) {
		alloc_run_task_folders(a, &a->tasks[0], place->folder, &folders);
		begin_monitor(folders.secrets, a->tasks[0].process.task);
		is_done = reach_guest(folders.secrets);
		is_done = suspend_machine(place, a) && is_done;
	}
	runner_forget(&runner, a); // and ends its talk
	runner_step(&runner);
	if (has_begun)
		end_monitor();
	return is_done;
}

static bool run_machine(struct work_place *place)
{
	char program[200], images[200], path[400];
	struct runner_settings settings = {.machines = {.qemu = program,
						   .images = images,
						   .user = geteuid() == 0 ? "root" : "",
						   .has_network = true,
						   .is_emulated = true}};

	work_path(place, "qemu", program);
	work_path(place, "images", images);
	snprintf(path, sizeof path, "%s:/usr/bin:/bin", place->folder);
	CHECK(setenv("PATH", path, 1) == 0);
	if (!work_open_runner(place, settings))
		return false;
	bool is_done = live_of_machine(place);
	runner_close(&runner);
	return is_done;
}

// What is said to be suspended is there, and nothing is there of another.
static void look_for_suspended(struct work_place *place)
{
	static const char *const files[] = {
		SUSPENDED "/state", SUSPENDED "/disk.qcow2", SUSPENDED "/machine.json"};
	char path[200];

	for (uint32_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		work_path(place, files[i], path);
		CHECK((access(path, F_OK) == 0) == place->is_done);
	}
	work_path(place, "alloc/a1000000-0000-0000-0000-000000000001", path);
	CHECK(access(path, F_OK) < 0);
}

const struct node_work qmp_work = {.name = "qmp",
	.rows = rows,
	.row_count = sizeof rows / sizeof rows[0],
	.furnish = write_machine,
	.work = run_machine,
	.look = look_for_suspended,
	.excuses = {
		.only = (const char *const[]){"at tools/agent/vm/", "at tools/agent/base/loopback",
			"fchownat at tools/agent/task/process.c", NULL},
		.cannot_fail = (const char *const[]){"fclose at", NULL},
		// Its failpoints fail for as long as the machine has.
		.only_once = (const char *const[]){"at tools/agent/vm/qmp.c", NULL}}};
