// Whatever the system refuses to who fetches artifacts: it is said, what is not whole has no file's name, and the next
// try makes it good.
#include "state/base/check.h"
#include "tests/failpoints/call_walk.h"
#include "tests/tools/agent/fetch/archives.h"
#include "tests/tools/agent/fetch/web.h"
#include "tools/agent/base/folders.h"
#include "tools/agent/fetch/fetch.h"
#include <archive_entry.h>
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const struct call_walk_excuses excuses = {
	// What cannot be removed stays, as a file that nobody asks for; what libcurl lacks ends the process, in
	// which all is fetched here but for one.
	.cannot_fail = (const char *const[]){"unlinkat at tools/agent/fetch/fetch.c",
		"curl_easy_setopt at", "curl_slist_append at", NULL},
};

#define HELLO_MD5 "md5:5d41402abc4b2a76b9719d911017c592"
static const struct wanted {
	const char *page, *destination, *checksum;
	enum fetch_mode mode;
	const char *path, *contents; // one of the files that are there then
} wanted[] = {
	{"tool", "t/local", HELLO_MD5, FETCH_ANY, "t/local/tool", "hello"},
	{"tool", "t/local/deep/name", "", FETCH_FILE, "t/local/deep/name", "hello"},
	{"all.tar.gz", "t/local/all", "", FETCH_DIR, "t/local/all/lib/hard", "so"},
	{"one.gz", "t/local", "", FETCH_ANY, "t/local/one", "hello"},
};
#define WANTED (sizeof wanted / sizeof wanted[0])

// "hello", as gzip has it.
static const char hello_gz[] =
	"\x1f\x8b\x08\0\0\0\0\0\0\3\xcb\x48\xcd\xc9\xc9\7\0\x86\xa6\x10\x36\5\0\0\0";

static void *prepare(const struct walk_row *row)
{
	char *folder = walk_shared(64);

	(void)row;
	snprintf(folder, 64, "/tmp/berth-walk-XXXXXX");
	assert_non_null(mkdtemp(folder));
	return folder;
}

static void clear(void *shared)
{
	folder_remove(AT_FDCWD, shared);
	assert_int_equal(munmap(shared, 64), 0);
}

static int open_top(void *shared)
{
	int top = open(shared, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	CHECK(top >= 0);
	return top;
}

static struct fetch_request request_for(const struct wanted *w)
{
	return (struct fetch_request){.url = web_url(w->page),
		.destination = w->destination,
		.archive = "",
		.file_name = "",
		.checksum = w->checksum,
		.mode = w->mode,
		.bytes_max = 100000,
		.files_max = 20,
		.timeout_s = 20};
}

static bool fetch(int top, const struct wanted *w)
{
	struct fetch_result result;
	struct fetch_request request = request_for(w);

	fetch_artifact(&request, top, &result);
	if (!result.is_done)
		walk_said(result.message);
	return result.is_done;
}

static int put_request(const struct wanted *w)
{
	struct fetch_request request = request_for(w);
	json_t *json = fetch_request_write(&request);
	int fd = memfd_create("request", MFD_CLOEXEC);

	CHECK(json && fd >= 0 && json_dumpfd(json, fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0);
	json_decref(json);
	return fd;
}

// As the helper that the agent starts, in a process of its own. What it says, or the agent says for it.
static bool fetch_as_helper(int top, const struct wanted *w)
{
	char text[FETCH_RESULT_BYTES_MAX + 1] = "";
	int status, request = put_request(w), said = memfd_create("said", MFD_CLOEXEC);
	pid_t child = fork();

	if (child == 0) {
		CHECK(dup2(request, FETCH_REQUEST_FD) == FETCH_REQUEST_FD &&
			dup2(said, FETCH_RESULT_FD) == FETCH_RESULT_FD &&
			dup2(top, FETCH_FOLDER_FD) == FETCH_FOLDER_FD);
		exit(fetch_main());
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
	CHECK(pread(said, text, sizeof text - 1, 0) >= 0);
	close(said);
	close(request);
	bool is_done = WEXITSTATUS(status) == 0;
	if (!is_done)
		walk_said(*text ? text : "what fetches it told nothing");
	return is_done;
}

static bool work(void *shared)
{
	uint32_t descriptors = walk_descriptors();
	int top = open_top(shared);
	bool is_done = true;

	for (uint32_t i = 0; i < WANTED; i++)
		is_done &= fetch(top, &wanted[i]);
	is_done &= fetch_as_helper(top, &wanted[0]);
	close(top);
	CHECK(walk_descriptors() == descriptors);
	return is_done;
}

static bool has_contents(int top, const struct wanted *w)
{
	char text[20] = "";
	int fd = openat(top, w->path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (fd >= 0)
		close(fd);
	return size >= 0 && strcmp(text, w->contents) == 0;
}

// A file that is put there whole is whole, or not there.
static void expect_whole(int top, const struct wanted *w)
{
	CHECK(faccessat(top, w->path, F_OK, 0) < 0 || has_contents(top, w));
}

static void expect_no_parts(int top)
{
	int local = folder_find(top, "t/local");
	DIR *entries = local < 0 ? NULL : fdopendir(local);

	for (const struct dirent *entry; entries && (entry = readdir(entries));)
		CHECK(strncmp(entry->d_name, ".fetching", 9) != 0);
	if (entries)
		closedir(entries);
}

static void look(void *shared)
{
	int top = open_top(shared);

	expect_no_parts(top);
	expect_whole(top, &wanted[0]);
	expect_whole(top, &wanted[1]);
	for (uint32_t i = 0; i < WANTED; i++)
		CHECK(fetch(top, &wanted[i]) && has_contents(top, &wanted[i]));
	close(top);
}

static void what_is_refused_to_a_fetch_is_said_and_left_whole(void **unused)
{
	const struct walk w = {NULL, 0, prepare, work, look, clear};

	(void)unused;
	web_begin(NULL, NULL);
	web_put("tool", "hello", 5);
	web_put("one.gz", hello_gz, sizeof hello_gz - 1);
	WEB_PUT_ARCHIVE("all.tar.gz", {"lib", NULL, AE_IFDIR, 0755, NULL},
		{"lib/so", "so", 0, 0755, NULL}, {"so", NULL, AE_IFLNK, 0777, "lib/so"},
		{"lib/hard", NULL, 0, 0, "lib/so"});
	walk_calls(&w, &excuses);
	web_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_refused_to_a_fetch_is_said_and_left_whole),
	};
	return cmocka_run_group_tests_name("fetch calls", tests, NULL, NULL);
}
