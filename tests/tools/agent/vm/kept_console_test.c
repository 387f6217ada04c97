// What machines said last is kept when they are gone, and only so much of it.
#include "tests/support/broken_listing.h"
#include "tests/support/log_capture.h"
#include "tools/agent/base/folders.h"
#include "tools/agent/vm/kept_console.h"
#include <fcntl.h>
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

static char data[100];
static struct uuid instance;

static int set_up(void **unused)
{
	snprintf(data, sizeof data, "/tmp/berth-kept-XXXXXX");
	return mkdtemp(data) ? 0 : -1;
}

static int tear_down(void **unused)
{
	int top = folder_open("/tmp");
	folder_remove(top, strrchr(data, '/') + 1);
	return close(top);
}

// A new instance whose outputs have so many bytes.
static void run_once(const char *said, off_t bytes, const char *error)
{
	static const char *const outputs[] = {"stdout", "stderr"};
	char path[200], id[UUID_TEXT_BYTES];
	const char *texts[] = {said, error};
	int top = folder_open(data);
	instance.bytes[0]++;
	snprintf(path, sizeof path, "alloc/%s/alloc/logs", uuid_format(&instance, id));
	int logs = folder_make(top, path, 0711);
	assert_true(logs >= 0);
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "machine.%s.0", outputs[i]);
		assert_int_equal(folder_write(logs, path, 0644, texts[i], strlen(texts[i])), 0);
	}
	if (bytes) {
		int fd = openat(logs, "machine.stdout.0", O_WRONLY | O_CLOEXEC);
		assert_int_equal(ftruncate(fd, bytes), 0); // a hole
		close(fd);
	}
	close(logs);
	close(top);
}

// seconds: when that was.
static void keep(const char *name, const char *uid, time_t seconds)
{
	char path[600];
	json_t *machine = json_pack("{s:s s:s}", "name", name, "uid", uid);
	kept_console_put(data, machine, &instance);
	json_decref(machine);
	const struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
	if (kept_console_folder(data, name, uid, path))
		(void)utimensat(AT_FDCWD, path, times, 0);
}

static bool is_kept(const char *name, const char *uid, const char *said)
{
	char folder[600], path[700], text[100] = "";
	assert_true(kept_console_folder(data, name, uid, folder));
	snprintf(path, sizeof path, "%s/alloc/logs/machine.stdout.0", folder);
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	size_t size = fread(text, 1, sizeof text - 1, file);
	fclose(file);
	return !said || (size == strlen(said) && strcmp(text, said) == 0);
}

static void the_last_words_are_kept(void **unused)
{
	run_once("first", 0, "");
	keep("web", "u1", 1);
	assert_true(is_kept("web", "u1", "first"));
	run_once("", 0, "qemu: no such image");
	keep("web", "u1", 2); // it said nothing
	assert_true(is_kept("web", "u1", "first"));
	run_once("second", 0, "");
	keep("web", "u1", 3);
	assert_true(is_kept("web", "u1", "second"));
	assert_false(is_kept("web", "u2", NULL));
	kept_console_put(data, NULL, &instance);
	keep("gone", "u1", 4); // its outputs were moved away before
	assert_false(is_kept("gone", "u1", NULL));
}

static void names_lead_nowhere_else(void **unused)
{
	static const char *const names[] = {"..", "a/b", "", "."};
	char path[600];
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		assert_false(kept_console_folder(data, names[i], "u", path));
		assert_false(kept_console_folder(data, "a", names[i], path));
	}
}

static void only_the_newest_are_kept(void **unused)
{
	char name[20];
	for (unsigned i = 0; i <= KEPT_CONSOLES_MAX + 1; i++) {
		snprintf(name, sizeof name, "m%u", i);
		run_once("said", 0, "");
		keep(name, "u", 100 + i);
	}
	assert_false(is_kept("m0", "u", NULL));
	assert_false(is_kept("m1", "u", NULL));
	assert_true(is_kept("m2", "u", "said"));
	assert_true(is_kept(name, "u", "said"));
}

static void all_of_them_take_only_so_much(void **unused)
{
	run_once("a", KEPT_CONSOLES_BYTES_MAX / 2, "");
	keep("a", "u", 1);
	run_once("b", KEPT_CONSOLES_BYTES_MAX / 4, "");
	keep("b", "u", 2);
	run_once("c", KEPT_CONSOLES_BYTES_MAX / 4, "");
	keep("c", "u", 3);
	assert_true(is_kept("a", "u", NULL));
	run_once("d", 1, "");
	keep("d", "u", 4);
	assert_false(is_kept("a", "u", NULL));
	assert_true(is_kept("b", "u", NULL) && is_kept("c", "u", NULL) && is_kept("d", "u", NULL));
	run_once("e", 2 * KEPT_CONSOLES_BYTES_MAX, "");
	keep("e", "u", 5);
	assert_true(is_kept("e", "u", NULL));
	assert_false(is_kept("d", "u", NULL));
}

// It is said, and nothing is left that is no console.
static void keeps_nothing(const char *name, const char *why)
{
	static struct log_capture log;
	log_capture_begin(&log);
	run_once("said", 0, "");
	keep(name, "u", 1);
	log_capture_end(&log);
	assert_int_equal(log_capture_count(&log, "console-not-kept", why), 1);
}

static void what_cannot_be_kept_is_told(void **unused)
{
	char path[200];
	snprintf(path, sizeof path, "%s/consoles", data);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0 && close(fd) == 0);
	keeps_nothing("web", "Not a directory");
	assert_int_equal(unlink(path), 0);
	if (geteuid() != 0)
		return;
	// On another disk, and on one without room for folders.
	assert_int_equal(mkdir(path, 0711), 0);
	assert_int_equal(mount("none", path, "tmpfs", 0, NULL), 0);
	keeps_nothing("web", "cross-device");
	assert_false(is_kept("web", "u", NULL));
	assert_int_equal(umount(path), 0);
	assert_int_equal(mount("none", path, "tmpfs", 0, "nr_inodes=2"), 0);
	keeps_nothing("web", "No space left");
	assert_int_equal(umount(path), 0);
}

// It is kept, and so are all before it.
static void consoles_that_cannot_be_counted_are_said(void **unused)
{
	static struct log_capture log;
	log_capture_begin(&log);
	listings_break = true;
	run_once("said", 0, "");
	keep("web", "u", 1);
	listings_break = false;
	log_capture_end(&log);
	assert_true(is_kept("web", "u", "said"));
	assert_int_equal(log_capture_count(&log, "consoles-not-counted", "Input/output error"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_last_words_are_kept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(names_lead_nowhere_else, set_up, tear_down),
		cmocka_unit_test_setup_teardown(only_the_newest_are_kept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_cannot_be_kept_is_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			consoles_that_cannot_be_counted_are_said, set_up, tear_down),
		cmocka_unit_test_setup_teardown(all_of_them_take_only_so_much, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
