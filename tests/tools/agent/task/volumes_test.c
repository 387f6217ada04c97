// Host volumes in tasks of the driver exec: what they see, may write, and what is refused. Needs root.
#include "tests/tools/agent/confine/slice.h"
#include "tests/tools/agent/task/stage.h"
#include "tools/agent/confine/confine.h"
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char data[] = "/tmp/berth-volume-XXXXXX", offers[2][64];
static struct wire_pair pairs[] = {
	{WIRE_PAIR_VOLUME, {"data", 4}, {0}}, {WIRE_PAIR_VOLUME, {"fixed", 5}, {0}}};
static const struct node_facts facts = {.name = "n",
	.datacenter = "dc1",
	.class_name = "",
	.pool = "default",
	.pairs = pairs,
	.pair_count = 2};
static const struct uuid id = {{0xa1}};
static struct confine confine;

static void make_file(const char *name, const char *text)
{
	char path[200];
	snprintf(path, sizeof path, "%s/%s", data, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static int set_up(void **unused)
{
	struct confine_settings settings = {.group_parent = slice_name(),
		.users_denied = "root",
		.capabilities = CAPABILITIES_DEFAULT};
	char message[300];
	memcpy(data + sizeof data - 7, "XXXXXX", 6);
	assert_non_null(mkdtemp(data));
	assert_int_equal(chmod(data, 0777), 0);
	make_file("given", "of the node\n");
	for (uint32_t i = 0; i < 2; i++) {
		snprintf(offers[i], sizeof offers[i], "%s %s", i == 0 ? "rw" : "ro", data);
		pairs[i].value = text_of(offers[i]);
	}
	if (confine_open(&confine, &settings, message, sizeof message) < 0)
		fail_msg("%s", message);
	stage_confine = &confine;
	stage_open(&facts);
	return 0;
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	return remove(path);
}

static int tear_down(void **unused)
{
	int result = stage_close();
	result += stage_close_confine(&confine);
	return result + nftw(data, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static const char *output(void)
{
	return stage_content(&id, "alloc/logs/t.stdout.0");
}

#define MOUNT(volume, destination, more) \
	"{\"Volume\":\"" volume "\",\"Destination\":\"" destination "\"" more "}"

static struct alloc_run *start(const char *script, const char *mounts)
{
	char task[3000];
	snprintf(task, sizeof task,
		"{\"Name\":\"t\",\"Driver\":\"exec\",\"CPU\":100,\"MemoryMB\":64,\"KillTimeout\":"
		"100000000,\"Config\":{\"command\":\"/bin/sh\",\"args\":[\"-c\",\"%s\"]},"
		"\"VolumeMounts\":[%s]}",
		script, mounts);
	return stage_run(&id, "batch",
		"\"Volumes\":{\"d\":{\"Source\":\"data\",\"ReadOnly\":false},"
		"\"r\":{\"Source\":\"data\",\"ReadOnly\":true},"
		"\"f\":{\"Source\":\"fixed\",\"ReadOnly\":false},"
		"\"away\":{\"Source\":\"away\",\"ReadOnly\":false}},",
		task);
}

static void await_end(struct alloc_run *a)
{
	STAGE_AWAIT(alloc_run_is_over(a), runner_step(&runner));
	assert_true(alloc_run_is_over(a));
}

static const char *noted(const struct alloc_run *a, const char *type)
{
	const struct task *t = &a->tasks[0];
	for (uint32_t i = 0; i < t->note_count; i++)
		if (strcmp(t->notes[i].type, type) == 0)
			return t->notes[i].message;
	return "";
}

static void a_task_sees_and_writes_what_it_mounts(void **unused)
{
	struct stat st;
	char path[200];
	struct alloc_run *a =
		start("cat /srv/deep/given; echo made > /srv/deep/made; cat local/vol/made; "
		      "touch /srv/other 2>/dev/null || echo kept",
			MOUNT("d", "/srv/deep", "") "," MOUNT("d", "${NOMAD_TASK_DIR}/vol", ""));
	await_end(a);
	assert_string_equal(noted(a, "Driver Failure"), "");
	assert_string_equal(output(), "of the node\nmade\nkept\n");
	snprintf(path, sizeof path, "%s/made", data);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_uid, 65534);
}

// The node, the group and the task may each say so.
static void read_only_is_not_written(void **unused)
{
	struct alloc_run *a = start("for f in /a /b /c /d; do cat $f/given; touch $f/x 2>/dev/null "
				    "&& echo $f; done; true",
		MOUNT("r", "/a", "") "," MOUNT("f", "/b", "") "," MOUNT(
			"d", "/c", ",\"ReadOnly\":true") "," MOUNT("d", "/d", ""));
	await_end(a);
	assert_string_equal(output(), "of the node\nof the node\nof the node\nof the node\n/d\n");
}

static void await_output(const char *wanted)
{
	STAGE_AWAIT(strcmp(output(), wanted) == 0, 0);
	assert_string_equal(output(), wanted);
}

static void what_the_node_mounts_later_is_seen_where_that_is_asked_for(void **unused)
{
	char below[200];
	snprintf(below, sizeof below, "%s/below", data);
	assert_int_equal(mount("volume", data, "tmpfs", 0, "mode=777"), 0);
	assert_int_equal(mount(NULL, data, NULL, MS_SHARED, NULL), 0);
	assert_int_equal(mkdir(below, 0777), 0);
	struct alloc_run *a =
		start("echo up; until test -e /follows/below/later; do sleep 0.02; done; "
		      "test -e /alone/below/later || echo followed",
			MOUNT("d", "/follows", ",\"PropagationMode\":\"host-to-task\"") "," MOUNT(
				"d", "/alone", ",\"PropagationMode\":\"private\""));
	await_output("up\n");
	assert_int_equal(mount("volume", below, "tmpfs", 0, "mode=777"), 0);
	make_file("below/later", "x");
	await_output("up\nfollowed\n");
	await_end(a);
	assert_int_equal(umount2(below, MNT_DETACH), 0);
	assert_int_equal(umount2(data, MNT_DETACH), 0);
}

#define EIGHT(mount) mount "," mount "," mount "," mount "," mount "," mount "," mount "," mount

static void what_cannot_be_mounted_is_refused(void **unused)
{
	static const struct {
		const char *mounts, *part;
	} table[] = {
		{MOUNT("x", "/x", ""), "the group has no volume \"x\" to mount"},
		{MOUNT("away", "/x", ""), "this node offers no host volume \"away\""},
		{MOUNT("d", "/usr/x", ""), "a volume cannot be mounted at /usr/x"},
		{MOUNT("d", "/etc", ""), "a volume cannot be mounted at /etc"},
		{MOUNT("d", "/alloc/data", ""), "a volume cannot be mounted at /alloc/data"},
		{MOUNT("d", "/proc/self", ""), "a volume cannot be mounted at /proc/self"},
		{MOUNT("d", "/", ""), "a volume's destination is a path within the task"},
		{MOUNT("d", "/x/../../y", ""), "a volume's destination is a path within the task"},
		{MOUNT("d", "/x", ",\"PropagationMode\":\"bidirectional\""),
			"propagation_mode is \"private\" or \"host-to-task\" here"},
		{EIGHT(MOUNT("d", "/x", "")) "," EIGHT(MOUNT("d", "/x", "")) "," EIGHT(MOUNT(
			 "d", "/x", "")) "," EIGHT(MOUNT("d", "/x", "")) "," MOUNT("d", "/x", ""),
			"a task mounts at most 32 volumes"},
	};
	for (uint32_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct alloc_run *a = start("true", table[i].mounts);
		await_end(a);
		assert_true(a->tasks[0].failed);
		if (!strstr(noted(a, "Driver Failure"), table[i].part))
			fail_msg("row %u: %s", i, noted(a, "Driver Failure"));
		runner_forget(&runner, a);
		runner_step(&runner);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_task_sees_and_writes_what_it_mounts),
		TEST(read_only_is_not_written),
		TEST(what_the_node_mounts_later_is_seen_where_that_is_asked_for),
		TEST(what_cannot_be_mounted_is_refused),
	};
	if (geteuid() != 0) {
		printf("skipped: the driver exec needs root\n");
		return 77; // what meson takes for skipped
	}
	return cmocka_run_group_tests_name("volumes", tests, NULL, NULL);
}
