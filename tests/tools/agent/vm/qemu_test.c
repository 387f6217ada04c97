// Real machines of a few bytes, in qemu: what they say, how they end, are suspended and go on.
#include "tests/tools/agent/vm/guest.h"
#include "tools/agent/runner.h"
#include "tools/agent/vm/machine.h"
#include "tools/agent/vm/qcow2.h"
#include "tools/agent/vm/qemu.h"
#include "tools/agent/vm/qmp.h"
#include <endian.h>
#include <ftw.h>
#include <poll.h>
#include <pwd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cmocka.h>

#define WAIT_NS 60000000000ull  // for failures, not for timing
#define STEADY_NS 2000000000ull // nothing more comes of what is over

static char folder[64], images[80];
static struct runner runner;

static void open_runner(void)
{
	char message[200];
	struct runner_settings settings = {.data_folder = folder,
		.state_folder = folder,
		.time = &time_source_real,
		.seed = 3,
		.machines = {.qemu = qemu_program(),
			.images = images,
			.user = "",
			.has_network = true,
			.is_emulated = true}};
	if (runner_open(&runner, &settings, message, sizeof message) < 0)
		fail_msg("%s", message);
	runner_know_node(&runner, &(struct node_facts){.name = "n", .datacenter = "dc1"});
}

static void path_in(const char *base, const char *name, char path[static 600])
{
	snprintf(path, 600, "%s/%s", base, name);
}

static void write_images(void)
{
	char path[600];
	assert_int_equal(mkdir(images, 0755), 0);
	path_in(images, "ticks.img", path);
	assert_true(guest_write_disk(path));
	path_in(images, "direct", path);
	assert_int_equal(mkdir(path, 0755), 0);
	path_in(images, "direct/kernel", path);
	assert_true(guest_write_kernel(path));
	path_in(images, "direct/initrd", path);
	assert_true(guest_write_file(path, (const uint8_t *)"seven b", 7, 0, 7));
	path_in(images, "direct/cmdline", path);
	assert_true(guest_write_file(path, (const uint8_t *)"root=none quiet\n", 16, 0, 16));
}

static int set_up(void **unused)
{
	if (!qemu_program())
		return 0;
	snprintf(folder, sizeof folder, "/tmp/berth-qemu-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(images, sizeof images, "%s/images", folder);
	write_images();
	open_runner();
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	return remove(path);
}

static int tear_down(void **unused)
{
	if (!qemu_program())
		return 0;
	for (struct alloc_run *a = runner.allocs; a; a = a->next)
		process_signal(&a->tasks[0].process, SIGKILL);
	while (!runner_is_idle(&runner))
		runner_step(&runner);
	runner_close(&runner);
	return nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void needs_qemu(void)
{
	if (qemu_program())
		return;
	print_message(
		"skipped: no qemu-system-x86_64 (tools/setup installs it), or another machine\n");
	skip();
}

static const struct uuid id = {{0x1a, [15] = 1}}, other_id = {{0x1a, [15] = 2}};

static struct alloc_run *add_named(
	const struct uuid *instance, const char *name, const char *members)
{
	char json[600], message[200];
	snprintf(json, sizeof json, "{\"name\":\"%s\",\"uid\":\"u-1\",%s}", name, members);
	struct alloc_spec *spec = machine_spec_read(
		json, strlen(json), instance, &runner.settings.machines, message, sizeof message);
	if (!spec)
		fail_msg("%s", message);
	runner_add(&runner, instance, 0, 1, spec);
	runner_step(&runner);
	return runner_find(&runner, instance);
}

static struct alloc_run *add(const struct uuid *instance, const char *members)
{
	return add_named(instance, "web", members);
}
#define SMALL ",\"assignedCPU\":1,\"assignedMemory\":32"

static void output_of(const struct uuid *instance, const char *which, char path[static 600])
{
	char text[UUID_TEXT_BYTES];
	snprintf(path, 600, "%s/alloc/%s/alloc/logs/machine.%s.0", folder,
		uuid_format(instance, text), which);
}

// What it has said on its serial port.
static const char *said(const struct uuid *instance)
{
	static char text[4096];
	char path[600];
	output_of(instance, "stdout", path);
	FILE *file = fopen(path, "re");
	size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
	text[size] = '\0';
	if (file)
		fclose(file);
	return text;
}

static bool noted(const struct task *t, const char *type)
{
	for (uint32_t i = 0; i < t->note_count; i++)
		if (strcmp(t->notes[i].type, type) == 0)
			return true;
	return false;
}

// As large as the machine sees it.
static uint64_t disk_bytes_of(const struct uuid *instance)
{
	char path[600], text[UUID_TEXT_BYTES];
	uint64_t bytes = 0;
	snprintf(path, sizeof path, "%s/alloc/%s/machine/secrets/disk.qcow2", folder,
		uuid_format(instance, text));
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(pread(fd, &bytes, sizeof bytes, 24), sizeof bytes);
	close(fd);
	return be64toh(bytes);
}

typedef bool condition(const struct alloc_run *);

static void wait_for(const struct alloc_run *a, condition *holds, const char *what)
{
	uint64_t begin_ns = time_monotonic_ns(&time_source_real), end_ns = begin_ns + WAIT_NS;
	while (!holds(a)) {
		uint64_t now_ns = time_monotonic_ns(&time_source_real);
		if (now_ns > end_ns || (alloc_run_is_over(a) && now_ns > begin_ns + STEADY_NS))
			fail_msg("it is not so: %s; said \"%s\", status %u (%s)", what,
				said(&a->id), a->status, alloc_run_description(a));
		struct pollfd polled = {.fd = runner.epoll_fd, .events = POLLIN};
		poll(&polled, 1, 20);
		runner_step(&runner);
	}
}
#define WAIT_FOR(a, condition) wait_for(a, condition, #condition)

static bool says_letters(const struct alloc_run *a)
{
	return strstr(said(&a->id), "c\nd\n") != NULL;
}

static struct alloc_run *boot(void)
{
	struct alloc_run *a = add(&id, "\"image\":\"ticks.img\"" SMALL);
	WAIT_FOR(a, says_letters);
	return a;
}

static bool is_over(const struct alloc_run *a)
{
	return alloc_run_is_over(a);
}

static void a_disk_is_booted_and_powers_down_when_told(void **unused)
{
	needs_qemu();
	struct alloc_run *a = add(&id, "\"image\":\"ticks.img\"" SMALL);
	assert_int_equal(a->status, WIRE_CLIENT_RUNNING);
	WAIT_FOR(a, says_letters);
	assert_int_equal(strncmp(said(&id), "a\nb\n", 4), 0);
	runner_stop(&runner, a);
	WAIT_FOR(a, is_over);
	assert_non_null(strstr(said(&id), "\n!\n")); // it was asked, not cut off
	assert_int_equal(a->status, WIRE_CLIENT_COMPLETE);
	assert_string_equal(alloc_run_description(a), "VM was stopped");
}

static void a_kernel_is_booted_and_ends(void **unused)
{
	needs_qemu();
	struct alloc_run *a = add(&id, "\"image\":\"direct\"" SMALL);
	WAIT_FOR(a, is_over);
	assert_string_equal(said(&id), "root=none quiet 7\n");
	assert_int_equal(a->status, WIRE_CLIENT_COMPLETE);
	assert_string_equal(alloc_run_description(a), "VM ended");
}

// The kernel is what is booted; without a cmdline it has a console, and no initrd is none.
static void a_kernel_may_have_a_disk(void **unused)
{
	char path[600];
	needs_qemu();
	path_in(images, "both", path);
	assert_int_equal(mkdir(path, 0755), 0);
	path_in(images, "both/kernel", path);
	assert_true(guest_write_kernel(path));
	path_in(images, "both/disk", path);
	assert_true(guest_write_disk(path));
	struct alloc_run *a = add(&id, "\"image\":\"both\"" SMALL);
	WAIT_FOR(a, is_over);
	assert_string_equal(said(&id), "console=ttyS0 0\n");
	assert_int_equal(disk_bytes_of(&id), 1 << 20);
}

static void what_vanished_is_cut_off(void **unused)
{
	needs_qemu();
	struct alloc_run *a = boot();
	runner_forget(&runner, a);
	while (runner_find(&runner, &id)) // its folders go with it
		runner_step(&runner);
	assert_int_equal(runner.count, 0);
}

// The next agent takes it up, and can tell it to end.
static void it_outlives_the_agent(void **unused)
{
	needs_qemu();
	struct alloc_run *a = boot();
	pid_t pid = a->tasks[0].process.task;
	runner_close(&runner);
	open_runner();
	a = runner_find(&runner, &id);
	assert_non_null(a);
	runner_step(&runner);
	assert_int_equal(a->status, WIRE_CLIENT_RUNNING);
	assert_int_equal(a->tasks[0].process.task, pid);
	assert_true(noted(&a->tasks[0], "Restored"));
	runner_stop(&runner, a);
	WAIT_FOR(a, is_over);
	assert_non_null(strstr(said(&id), "\n!\n"));
}

static void what_ended_while_no_agent_looked_is_told(void **unused)
{
	needs_qemu();
	struct alloc_run *a = boot();
	pid_t pid = a->tasks[0].process.task;
	char path[600];
	output_of(&id, "stderr", path); // what it said before is not why it ended
	assert_true(guest_write_file(path, (const uint8_t *)"a warning\n", 10, 0, 10));
	runner_close(&runner);
	kill(pid, SIGKILL);
	while (process_started(pid)) // its shim takes leave of it
		poll(NULL, 0, 5);
	open_runner();
	a = runner_find(&runner, &id);
	runner_step(&runner);
	WAIT_FOR(a, is_over);
	assert_int_equal(a->status, WIRE_CLIENT_FAILED);
	assert_string_equal(alloc_run_description(a), "Exit Code: 137, Signal: 9");
}

// It may have been stopped between a letter and its line feed.
static char letter_after(const struct uuid *instance)
{
	const char *text = said(instance);
	size_t size = strlen(text);
	char last = text[size - 1] == '\n' ? text[size - 2] : text[size - 1];
	return last == 'z' ? 'z' : (char)(last + 1);
}

static char first_letter(const struct uuid *instance)
{
	const char *text = said(instance);
	return text[strspn(text, "\n")];
}

static void suspend(struct alloc_run *a)
{
	machine_spec_suspend(a->spec);
	runner_stop(&runner, a);
}

static bool has_spoken_again(const struct alloc_run *a)
{
	return strlen(said(&a->id)) >= 8;
}

static struct alloc_run *resume(const char *more)
{
	char members[200];
	snprintf(members, sizeof members, "\"image\":\"suspended:web-u-1\",%s", more);
	return add(&other_id, members);
}

static void it_goes_on_where_it_was_suspended(void **unused)
{
	needs_qemu();
	struct alloc_run *a = boot();
	suspend(a);
	WAIT_FOR(a, is_over);
	assert_int_equal(a->status, WIRE_CLIENT_COMPLETE);
	assert_string_equal(alloc_run_description(a), "VM was suspended");
	assert_null(a->tasks[0].talk);
	assert_null(strchr(said(&id), '!'));
	char next = letter_after(&id);
	struct alloc_run *b = resume("\"diskSize\":5" SMALL);
	assert_int_equal(b->status, WIRE_CLIENT_RUNNING);
	assert_int_equal(disk_bytes_of(&other_id), 1 << 20); // as it was
	WAIT_FOR(b, has_spoken_again);
	assert_int_equal(first_letter(&other_id), next);
	runner_stop(&runner, b);
	WAIT_FOR(b, is_over);
	assert_non_null(strstr(said(&other_id), "\n!\n"));
}

// What was taken up can be put aside again; and what an agent left half way does not matter.
static void it_may_be_suspended_again(void **unused)
{
	char path[600];
	needs_qemu();
	path_in(folder, "suspended", path);
	assert_int_equal(mkdir(path, 0755), 0);
	path_in(folder, "suspended/web-u-1.part", path);
	assert_int_equal(mkdir(path, 0755), 0);
	path_in(folder, "suspended/web-u-1.part/state", path);
	assert_true(guest_write_file(path, (const uint8_t *)"x", 1, 0, 1));
	struct alloc_run *a = boot();
	suspend(a);
	WAIT_FOR(a, is_over);
	struct alloc_run *b =
		add_named(&other_id, "again", "\"image\":\"suspended:web-u-1\"" SMALL);
	WAIT_FOR(b, has_spoken_again);
	suspend(b);
	WAIT_FOR(b, is_over);
	assert_string_equal(alloc_run_description(b), "VM was suspended");
	char next = letter_after(&other_id);
	struct uuid third = {{0x1a, [15] = 3}};
	struct alloc_run *c = add_named(&third, "third", "\"image\":\"suspended:again-u-1\"" SMALL);
	WAIT_FOR(c, has_spoken_again);
	assert_int_equal(first_letter(&third), next);
}

// Says one thing to its monitor and hears the answer.
static void tell(struct qmp *q, const char *command)
{
	bool is_over = false;
	json_t *answer = NULL;
	if (command)
		assert_true(qmp_send(q, json_loads(command, 0, NULL), -1));
	while (!answer && !is_over)
		answer = qmp_receive(q, &is_over);
	assert_non_null(answer);
	json_decref(answer);
}

static struct qmp *talk_to_monitor(void)
{
	char text[UUID_TEXT_BYTES], path[600];
	snprintf(path, sizeof path, "%s/alloc/%s/machine/secrets", folder, uuid_format(&id, text));
	struct qmp *q = qmp_open(path);
	assert_non_null(q);
	tell(q, NULL);
	tell(q, "{\"execute\":\"qmp_capabilities\"}");
	return q;
}

// Suspends one that has heard something before.
static void fails_to_suspend_after(const char *command, const char *why)
{
	char path[600];
	struct alloc_run *a = boot();
	struct qmp *q = talk_to_monitor();
	tell(q, command);
	qmp_close(q);
	suspend(a);
	WAIT_FOR(a, is_over);
	assert_int_equal(a->status, WIRE_CLIENT_COMPLETE);
	assert_non_null(strstr(alloc_run_description(a), "VM could not be suspended: "));
	if (!strstr(alloc_run_description(a), why))
		fail_msg("\"%s\" says not why: %s", alloc_run_description(a), why);
	path_in(folder, "suspended/web-u-1.part", path);
	assert_int_equal(access(path, F_OK), -1); // nothing is left of it
	runner_forget(&runner, a);
	runner_step(&runner);
}

static void what_went_wrong_is_told(void **unused)
{
	needs_qemu();
	// Nobody takes its memory there.
	fails_to_suspend_after(
		"{\"execute\":\"migrate\",\"arguments\":{\"uri\":\"tcp:127.0.0.1:1\"}}", "refused");
	// A disk of that kind cannot be put aside.
	char path[600], command[900];
	path_in(images, "shared", path);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(command, sizeof command,
		"{\"execute\":\"blockdev-add\",\"arguments\":{\"driver\":\"vvfat\",\"node-name\":"
		"\"fat\",\"rw\":true,\"dir\":\"%s\"}}",
		path);
	fails_to_suspend_after(command, "does not support live migration");
}

// It ends all the same, and says why it cannot go on.
static void one_that_cannot_be_put_aside_is_ended(void **unused)
{
	char path[600];
	needs_qemu();
	path_in(folder, "suspended", path);
	assert_true(guest_write_file(path, (const uint8_t *)"x", 1, 0, 1));
	struct alloc_run *a = boot();
	suspend(a);
	WAIT_FOR(a, is_over);
	assert_int_equal(a->status, WIRE_CLIENT_COMPLETE);
	assert_non_null(strstr(alloc_run_description(a), "VM could not be suspended: "));
	assert_int_equal(unlink(path), 0);
}

// By an agent that died before it told anybody.
static void one_that_is_put_aside_already_is_told_to_be(void **unused)
{
	char path[600];
	needs_qemu();
	struct alloc_run *a = boot();
	struct qmp *q = talk_to_monitor();
	int memory = memfd_create("memory", MFD_CLOEXEC);
	assert_true(qmp_send(q,
		json_pack("{s:s s:{s:s}}", "execute", "getfd", "arguments", "fdname", "m"),
		memory));
	close(memory);
	tell(q, NULL);
	tell(q, "{\"execute\":\"migrate\",\"arguments\":{\"uri\":\"fd:m\"}}");
	qmp_close(q);
	path_in(folder, "suspended", path);
	assert_int_equal(mkdir(path, 0711), 0);
	path_in(folder, "suspended/web-u-1", path);
	assert_int_equal(mkdir(path, 0711), 0);
	suspend(a);
	WAIT_FOR(a, is_over);
	assert_string_equal(alloc_run_description(a), "VM was suspended");
}

// The next agent finds it half way, and ends what was begun.
static void an_agent_that_died_does_not_keep_it_from_being_suspended(void **unused)
{
	needs_qemu();
	struct alloc_run *a = boot();
	suspend(a);
	for (int i = 0; i < 3; i++)
		runner_step(&runner);
	runner_close(&runner);
	open_runner();
	a = runner_find(&runner, &id);
	WAIT_FOR(a, is_over);
	assert_string_equal(alloc_run_description(a), "VM was suspended");
	assert_int_equal(
		resume("\"assignedCPU\":1,\"assignedMemory\":32")->status, WIRE_CLIENT_RUNNING);
}

static void refuses_to_resume(const char *members, const char *why)
{
	struct alloc_run *a = resume(members);
	assert_int_equal(a->status, WIRE_CLIENT_FAILED);
	if (!strstr(alloc_run_description(a), why))
		fail_msg("\"%s\" says not why: %s", alloc_run_description(a), why);
	runner_forget(&runner, a);
	runner_step(&runner);
	assert_null(runner_find(&runner, &other_id));
}

static void what_was_suspended_goes_on_as_it_was_or_not_at_all(void **unused)
{
	needs_qemu();
	struct alloc_run *a = boot();
	suspend(a);
	WAIT_FOR(a, is_over);
	static const char *const others[] = {"\"assignedCPU\":1,\"assignedMemory\":64",
		"\"assignedCPU\":2,\"assignedMemory\":32",
		"\"nested\":true,\"assignedCPU\":1,\"assignedMemory\":32"};
	for (uint32_t i = 0; i < sizeof others / sizeof others[0]; i++)
		refuses_to_resume(others[i], "1 cpus and 32 MiB");
	runner.settings.machines.has_network = false;
	refuses_to_resume("\"headless\":true" SMALL, "another network");
	runner.settings.machines.has_network = true;
	char path[600], elsewhere[600];
	path_in(folder, "suspended/web-u-1/machine.json", path);
	path_in(images, "machine.json", elsewhere);
	assert_int_equal(link(path, elsewhere), 0);
	path_in(folder, "suspended/web-u-1/state", path);
	path_in(images, "state", elsewhere);
	assert_int_equal(rename(path, elsewhere), 0);
	refuses_to_resume("\"headless\":true" SMALL, "No data available");
	assert_int_equal(mknod(path, S_IFSOCK | 0600, 0), 0); // which nobody can open
	refuses_to_resume("\"headless\":true" SMALL, "state: No such device or address");
	struct uuid outside = {{0x1c, [15] = 1}};
	a = add(&outside, "\"image\":\"suspended:../images\"" SMALL);
	assert_int_equal(a->status, WIRE_CLIENT_FAILED);
	assert_non_null(strstr(alloc_run_description(a), "no machine was suspended here"));
}

// An image whose kernel is a link to a file deep below.
static void write_deep_image(void)
{
	char path[600], name[200], target[900];
	path_in(images, "deep", path);
	assert_int_equal(mkdir(path, 0755), 0);
	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	int size = snprintf(target, sizeof target, "%s", path);
	for (int i = 0; i < 3; i++) {
		size += snprintf(target + size, sizeof target - (size_t)size, "/%s", name);
		assert_int_equal(mkdir(target, 0755), 0);
	}
	path_in(images, "deep/kernel", path);
	assert_int_equal(symlink(target, path), 0);
}

static void what_cannot_be_is_told(void **unused)
{
	char path[600];
	static const struct {
		const char *members, *description;
	} wrong[] = {{"\"image\":\"none.img\"" SMALL,
			     "cannot use the image \"none.img\": No such file or directory"},
		{"\"image\":\"none.img\",\"netSoftnet\":true" SMALL,
			"this worker runs machines with qemu, which has no netSoftnet; name a "
			"runtime or labels of a worker that has"},
		{"\"image\":\"none.img\",\"net-bridged\":\"en0\"" SMALL,
			"this worker runs machines with qemu, which has no net-bridged; name a "
			"runtime or labels of a worker that has"},
		{"\"image\":\"none.img\",\"hostDirs\":[{\"name\":\"a\"}]" SMALL,
			"this worker runs machines with qemu, which has no hostDirs; name a "
			"runtime or labels of a worker that has"},
		{"\"image\":\"none.img\",\"net-bridged\":\"\",\"hostDirs\":[]" SMALL,
			"cannot use the image \"none.img\": No such file or directory"},
		{"\"image\":\"../secret\"" SMALL,
			"cannot use the image \"../secret\": it is not named as one of the "
			"images folder"},
		{"\"image\":\"/etc/passwd\"" SMALL,
			"cannot use the image \"/etc/passwd\": it is not named as one of the "
			"images folder"},
		{"\"image\":\"empty\"" SMALL,
			"cannot use the image \"empty\": a folder wants a kernel"},
		{"\"image\":\"deep\"" SMALL, "cannot use the image \"deep\": File name too long"},
		{"\"image\":\"long\"" SMALL,
			"cannot use the image \"long\": its cmdline is longer than 2047 bytes"},
		{"\"image\":\"ticks.img\",\"assignedMemory\":32",
			"the machine was given no cpus or no memory"},
		{"\"image\":\"ticks.img\",\"assignedCPU\":1",
			"the machine was given no cpus or no memory"},
		{"\"image\":\"ticks.img\",\"diskSize\":36028797018963968" SMALL, NULL},
		{"\"image\":\"suspended:../images\"" SMALL,
			"no machine was suspended here as \"../images\" (NAME-UID)"}};
	needs_qemu();
	write_deep_image();
	path_in(images, "empty", path);
	assert_int_equal(mkdir(path, 0755), 0);
	path_in(images, "long", path);
	assert_int_equal(mkdir(path, 0755), 0);
	path_in(images, "long/kernel", path);
	assert_true(guest_write_kernel(path));
	path_in(images, "long/cmdline", path);
	assert_true(guest_write_file(path, (const uint8_t *)"x", 1, 0, 2048));
	for (uint8_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct uuid one = {{0x1b, [15] = i}};
		struct alloc_run *a = add(&one, wrong[i].members);
		assert_int_equal(a->status, WIRE_CLIENT_FAILED);
		if (wrong[i].description)
			assert_string_equal(alloc_run_description(a), wrong[i].description);
		else
			assert_non_null(strstr(alloc_run_description(a), "cannot make the disk"));
		assert_false(alloc_run_is_nodes_fault(a));
	}
}

static uid_t owner_of(const struct alloc_run *a)
{
	char path[64];
	struct stat st;
	snprintf(path, sizeof path, "/proc/%d", (int)a->tasks[0].process.task);
	assert_int_equal(stat(path, &st), 0);
	return st.st_uid;
}

// Also where its memory is put aside and taken up.
static void it_is_run_by_who_was_named(void **unused)
{
	const struct passwd *nobody = getpwnam("nobody");
	needs_qemu();
	if (geteuid() != 0 || !nobody)
		skip();
	assert_int_equal(chmod(folder, 0711), 0);
	runner.settings.machines.user = "nobody";
	struct alloc_run *a = boot();
	assert_int_equal(owner_of(a), nobody->pw_uid);
	suspend(a);
	WAIT_FOR(a, is_over);
	assert_string_equal(alloc_run_description(a), "VM was suspended");
	struct alloc_run *b = resume("\"assignedCPU\":1,\"assignedMemory\":32");
	WAIT_FOR(b, has_spoken_again);
	assert_int_equal(owner_of(b), nobody->pw_uid);
}

// A disk may stand on one that stands on another.
static void a_layered_disk_is_booted(void **unused)
{
	char image[600], layer[600], message[200];
	needs_qemu();
	path_in(images, "ticks.img", image);
	path_in(images, "layer.qcow2", layer);
	assert_int_equal(qcow2_create(layer, image, 1 << 30, message, sizeof message), 0);
	struct alloc_run *a = add(&id, "\"image\":\"layer.qcow2\",\"diskSize\":5" SMALL);
	assert_int_equal(disk_bytes_of(&id), 5ull << 30);
	WAIT_FOR(a, says_letters);
}

// Its own words, not only a number.
static void what_qemu_says_last_is_the_description(void **unused)
{
	needs_qemu();
	struct alloc_run *a =
		add(&id, "\"image\":\"ticks.img\",\"assignedCPU\":100000,\"assignedMemory\":32");
	WAIT_FOR(a, is_over);
	assert_int_equal(a->status, WIRE_CLIENT_FAILED);
	assert_non_null(strstr(alloc_run_description(a), "100000"));
}

static void tasks_of_jobs_are_not_its_business(void **unused)
{
	char json[400], text[UUID_TEXT_BYTES], message[200];
	needs_qemu();
	snprintf(json, sizeof json,
		"{\"ID\":\"%s\",\"Name\":\"j.g[0]\",\"JobID\":\"j\",\"JobType\":\"batch\","
		"\"Tasks\":[{\"Name\":\"t\",\"Driver\":\"qemu\","
		"\"Config\":{\"image\":\"ticks.img\"}}]}",
		uuid_format(&id, text));
	struct alloc_spec *spec = alloc_spec_read(json, strlen(json), &id, message, sizeof message);
	assert_non_null(spec);
	runner_add(&runner, &id, 0, 1, spec);
	runner_step(&runner);
	struct alloc_run *a = runner_find(&runner, &id);
	assert_int_equal(a->status, WIRE_CLIENT_FAILED);
	assert_true(noted(&a->tasks[0], "Driver Failure"));
	assert_non_null(strstr(a->tasks[0].notes[2].message, "not tasks of jobs"));
}

static void one_that_comes_after_qemu_went_is_told_so(void **unused)
{
	char message[200];
	static const char json[] = "{\"name\":\"web\",\"image\":\"ticks.img\"" SMALL "}";
	needs_qemu();
	struct alloc_spec *spec = machine_spec_read(
		json, strlen(json), &id, &runner.settings.machines, message, sizeof message);
	assert_non_null(spec);
	runner.settings.machines.qemu = NULL;
	runner_add(&runner, &id, 0, 1, spec);
	runner_step(&runner);
	assert_string_equal(alloc_run_description(runner_find(&runner, &id)),
		"qemu is not installed on this worker any more");
}

// The arguments of its process, a space behind each.
static const char *command_of(const struct alloc_run *a)
{
	static char text[4096];
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/cmdline", (int)a->tasks[0].process.task);
	FILE *file = fopen(path, "re");
	assert_non_null(file);
	size_t size = fread(text, 1, sizeof text - 1, file);
	fclose(file);
	for (size_t i = 0; i < size; i++)
		text[i] = text[i] ? text[i] : ' ';
	text[size] = '\0';
	return text;
}

static void it_has_what_it_was_given(void **unused)
{
	needs_qemu();
	const char *command = command_of(boot());
	assert_non_null(strstr(command, "-smp 1 -m 32M "));
	assert_non_null(strstr(command, "-netdev user,"));
	assert_non_null(strstr(command, "vmx=off,svm=off "));
	assert_non_null(strstr(command, "-accel tcg "));
	assert_null(strstr(command, "-accel kvm "));
	runner.settings.machines.has_network = false;
	command = command_of(add(&other_id,
		"\"image\":\"ticks.img\",\"nested\":true,\"assignedCPU\":2,\"assignedMemory\":64"));
	assert_non_null(strstr(command, "-smp 2 -m 64M "));
	assert_null(strstr(command, "-netdev"));
	assert_null(strstr(command, "vmx=off"));
	if (access("/dev/kvm", R_OK | W_OK) < 0)
		return;
	runner.settings.machines.is_emulated = false;
	struct uuid third = {{0x1a, [15] = 3}};
	command = command_of(add(&third, "\"image\":\"ticks.img\"" SMALL));
	assert_non_null(strstr(command, "-accel kvm -accel tcg "));
}

// Its monitor is listened to though nothing wakes the agent, and what it said is written down at once.
static void what_takes_turns_is_not_forgotten(void **unused)
{
	char path[600], text[UUID_TEXT_BYTES];
	needs_qemu();
	struct alloc_run *a = boot();
	suspend(a);
	while (!noted(&a->tasks[0], "Suspended")) {
		uint64_t due_ns = runner_step(&runner);
		uint64_t now_ns = time_monotonic_ns(&time_source_real);
		assert_true(due_ns < now_ns + 1000000000 || noted(&a->tasks[0], "Suspended"));
	}
	snprintf(path, sizeof path, "%s/allocs/%s.json", folder, uuid_format(&id, text));
	json_t *json = json_load_file(path, 0, NULL);
	char *saved = json_dumps(json, 0);
	assert_non_null(strstr(saved, "VM was suspended"));
	free(saved);
	json_decref(json);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(a_disk_is_booted_and_powers_down_when_told),
		TEST(a_kernel_is_booted_and_ends), TEST(a_kernel_may_have_a_disk),
		TEST(what_vanished_is_cut_off), TEST(it_outlives_the_agent),
		TEST(what_ended_while_no_agent_looked_is_told),
		TEST(it_goes_on_where_it_was_suspended),
		TEST(an_agent_that_died_does_not_keep_it_from_being_suspended),
		TEST(it_may_be_suspended_again), TEST(what_went_wrong_is_told),
		TEST(one_that_cannot_be_put_aside_is_ended),
		TEST(one_that_is_put_aside_already_is_told_to_be),
		TEST(what_was_suspended_goes_on_as_it_was_or_not_at_all),
		TEST(it_is_run_by_who_was_named), TEST(a_layered_disk_is_booted),
		TEST(what_cannot_be_is_told), TEST(what_qemu_says_last_is_the_description),
		TEST(tasks_of_jobs_are_not_its_business),
		TEST(one_that_comes_after_qemu_went_is_told_so), TEST(it_has_what_it_was_given),
		TEST(what_takes_turns_is_not_forgotten)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
