// A disk without room: no task begins that is not written down, and none runs twice because of it. Needs root.
#include "tests/tools/agent/task/stage.h"
#include "tools/agent/base/folders.h"
#include "tools/agent/check/checks.h"
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cmocka.h>

#define PAGE_BYTES 4096
static const struct node_facts facts = {.id = {{7}}, .name = "n", .datacenter = "dc1"};
static const struct uuid id = {{0xa1}};
static char elsewhere[] = "/var/tmp/berth-disk-XXXXXX"; // has room
static struct runner died;

static int set_up(void **unused)
{
	// Only this program sees it.
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		mount("tmpfs", "/tmp", "tmpfs", 0, "size=512k") < 0)
		return -1;
	snprintf(elsewhere, sizeof elsewhere, "/var/tmp/berth-disk-XXXXXX");
	if (!mkdtemp(elsewhere))
		return -1;
	stage_open(&facts);
	return 0;
}

static int tear_down(void **unused)
{
	int result = stage_close();
	folder_remove(AT_FDCWD, elsewhere);
	return umount2("/tmp", MNT_DETACH) + result;
}

// Leaves so many pages of the disk.
static void fill(uint32_t pages_left)
{
	static const char page[PAGE_BYTES];
	off_t size = 0;
	int fd = open("/tmp/full", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	while (write(fd, page, sizeof page) == sizeof page)
		size += PAGE_BYTES;
	assert_int_equal(ftruncate(fd, size - (off_t)pages_left * PAGE_BYTES), 0);
	close(fd);
}

static void empty(void)
{
	assert_int_equal(unlink("/tmp/full"), 0);
}

// How many times the task ran.
static uint32_t runs(void)
{
	char path[64];
	uint32_t lines = 0;
	snprintf(path, sizeof path, "%s/ran", elsewhere);
	FILE *file = fopen(path, "re");
	for (int c = 0; file && (c = fgetc(file)) != EOF;)
		lines += c == '\n';
	if (file)
		fclose(file);
	return lines;
}

// The task writes a line, and then goes on until the file `go` is there. It is described at such length that its state
// takes more than a page, whereas its end takes one.
static struct alloc_run *add(void)
{
	char task[3600];
	snprintf(task, sizeof task,
		"{\"Name\":\"t\",\"Driver\":\"raw_exec\",\"RestartPolicy\":{\"Attempts\":5,"
		"\"Interval\":60000000000,\"Delay\":1000000000,\"Mode\":\"fail\"},\"Config\":{"
		"\"command\":\"sh\",\"args\":[\"-c\",\"echo x >>%s/ran; until test -e %s/go; do "
		"sleep "
		"0.01; done\"]},\"Meta\":{\"long\":\"%02900d\"}}",
		elsewhere, elsewhere, 0);
	runner_add(&runner, &id, 9, 5, stage_describe(&id, "batch", "", task));
	return runner_find(&runner, &id);
}

static void let_go(void)
{
	char path[64];
	snprintf(path, sizeof path, "%s/go", elsewhere);
	int fd = open(path, O_WRONLY | O_CREAT, 0644);
	assert_true(fd >= 0);
	close(fd);
}

static void step_until_it_ends(struct alloc_run *a)
{
	STAGE_AWAIT(a->tasks[0].phase != PHASE_RUNNING, runner_step(&runner));
}

static bool has_note(const struct alloc_run *a, int exit_code, const char *part)
{
	for (uint32_t i = 0; i < a->tasks[0].note_count; i++) {
		const struct task_note *note = &a->tasks[0].notes[i];
		if (note->exit_code == exit_code && strstr(note->message, part))
			return true;
	}
	return false;
}

// As one that was killed leaves it: nothing is saved on its way out.
static struct alloc_run *agent_dies_and_is_started_again(void)
{
	died = runner;
	stage_reopen();
	runner_step(&runner);
	struct alloc_run *a = runner_find(&runner, &id);
	assert_non_null(a);
	return a;
}

// What the dead one had in memory.
static void bury(void)
{
	while (died.allocs) {
		struct alloc_run *a = died.allocs;
		died.allocs = a->next;
		checks_let_go(a);
		alloc_run_free(a);
	}
	checks_close(died.checks);
	contact_close(&died.contact);
	close(died.epoll_fd);
}

static void without_room_to_tell_its_end_it_does_not_begin(void **unused)
{
	struct alloc_run *a = add();
	fill(0);
	runner_step(&runner);
	assert_int_equal(a->tasks[0].phase, PHASE_RESTARTING);
	assert_true(a->tasks[0].is_nodes_fault);
	poll(NULL, 0, 50);
	assert_int_equal(runs(), 0);
	empty();
	stage_pass_ms(2000);
	let_go();
	step_until_it_ends(a);
	assert_int_equal(a->status, WIRE_CLIENT_COMPLETE);
	assert_int_equal(runs(), 1);
}

static void what_cannot_be_written_down_does_not_begin(void **unused)
{
	struct alloc_run *a = add();
	fill(1); // for the file that its end will be in
	runner_step(&runner);
	assert_int_equal(a->tasks[0].phase, PHASE_RESTARTING);
	assert_true(has_note(a, 0, "cannot store what was started"));
	poll(NULL, 0, 50);
	assert_int_equal(runs(), 0);
	empty();
	stage_pass_ms(2000);
	assert_int_equal(a->tasks[0].phase, PHASE_RUNNING);
	let_go();
	step_until_it_ends(a);
	assert_int_equal(runs(), 1);
}

static void an_end_on_a_full_disk_is_known_to_the_next_agent(void **unused)
{
	struct alloc_run *a = add();
	runner_step(&runner);
	assert_int_equal(a->tasks[0].phase, PHASE_RUNNING);
	fill(0);
	let_go();
	step_until_it_ends(a);
	assert_int_equal(a->status, WIRE_CLIENT_COMPLETE);
	a = agent_dies_and_is_started_again();
	assert_int_equal(a->status, WIRE_CLIENT_COMPLETE);
	assert_false(a->tasks[0].failed);
	stage_pass_ms(10000);
	assert_int_equal(runs(), 1);
	empty();
	bury();
}

static void a_start_that_fails_leaves_the_former_end(void **unused)
{
	struct alloc_run *a = add();
	runner_step(&runner);
	STAGE_AWAIT(runs() != 0, 0);
	fill(0);
	kill(a->tasks[0].process.task, SIGKILL);
	step_until_it_ends(a); // fails, and cannot be written down
	assert_int_equal(a->tasks[0].phase, PHASE_RESTARTING);
	fill(1);
	stage_pass_ms(5000); // the next start cannot be written down either
	assert_int_equal(a->tasks[0].phase, PHASE_RESTARTING);
	a = agent_dies_and_is_started_again();
	assert_true(has_note(a, 128 + SIGKILL, "Exit Code: 137, Signal: 9"));
	assert_int_equal(runs(), 1);
	empty();
	bury();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(without_room_to_tell_its_end_it_does_not_begin),
		TEST(what_cannot_be_written_down_does_not_begin),
		TEST(an_end_on_a_full_disk_is_known_to_the_next_agent),
		TEST(a_start_that_fails_leaves_the_former_end),
	};
	if (geteuid() != 0) {
		printf("skipped: a disk of its own needs root\n");
		return 77; // what meson takes for skipped
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
