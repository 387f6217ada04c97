// Files of an allocation whose tasks do what they can to have others read, and requests that are no good.
#include "state/base/prng.h"
#include "tests/tools/agent/service/rig.h"
#include "tools/agent/service/alloc_files.h"
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static int open_task(void **state)
{
	if (rig_open(state) != 0)
		return -1;
	rig_run("service", "{\"Name\":\"t\",\"Driver\":\"mock\",\"Config\":{}}");
	RIG_WAIT(rig_task("t").has_run);
	rig_write("t/local/f", "w", "inner\n");
	rig_write("t/secrets/key", "w", "secret\n");
	char path[300];
	snprintf(path, sizeof path, "%s/outer", rig_folder);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs("outer\n", file);
	fclose(file);
	return 0;
}

static void link_to(const char *target, const char *below)
{
	char path[300];
	rig_path(below, path);
	(void)unlink(path);
	assert_int_equal(symlink(target, path), 0);
}

// No route shows what is out of the folder, by this path.
static void assert_refused(const char *path)
{
	static const char *const routes[] = {"ls", "stat", "cat", "readat", "stream"};
	for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
		const struct answer *answer =
			rig_get("/v1/client/fs/%s/" RIG_ID "?path=%s&offset=0&follow=false",
				routes[i], path);
		if (strstr(answer->body, "b3V0ZX") || strstr(answer->body, "outer") ||
			strstr(answer->body, "root:") || strstr(answer->body, "passwd\",\"Size"))
			fail_msg("%s of %s: %s", routes[i], path, answer->body);
		assert_non_null(strstr(answer->body, "escapes the alloc directory"));
	}
}

static void no_path_leads_out(void **state)
{
	char absolute[300];
	snprintf(absolute, sizeof absolute, "%s/outer", rig_folder);
	link_to("/etc", "t/local/etc");
	link_to("/etc/passwd", "t/local/passwd");
	link_to("../../../../outer", "t/local/up");
	link_to(absolute, "t/local/absolute");
	link_to("../../..", "t/local/far");
	assert_refused("../../outer");
	assert_refused("t/../../../outer");
	assert_refused("%2e%2e/%2e%2e/outer");
	assert_refused("..%2f..%2fouter");
	assert_refused("/../../outer");
	assert_refused("t/local/etc");
	assert_refused("t/local/etc/passwd");
	assert_refused("t/local/passwd");
	assert_refused("t/local/up");
	assert_refused("t/local/absolute");
	assert_refused("t/local/far/outer");
}

static void links_within_are_followed(void **state)
{
	link_to("f", "t/local/link");
	link_to("../local", "t/tmp/folder");
	assert_string_equal(
		rig_get("/v1/client/fs/cat/" RIG_ID "?path=t/local/link")->body, "inner\n");
	assert_string_equal(
		rig_get("/v1/client/fs/cat/" RIG_ID "?path=t/tmp/folder/f")->body, "inner\n");
	const struct answer *answer = rig_get("/v1/client/fs/ls/" RIG_ID "?path=t/local");
	assert_non_null(strstr(answer->body, "{\"FileMode\":\"Lrwxrwxrwx\",\"IsDir\":false"));
}

static void secrets_are_listed_and_not_read(void **state)
{
	static const char *const ways[] = {
		"t/secrets/key", "/t//./secrets/key", "t/local/secret", "t/local/secrets/key"};
	link_to("../secrets/key", "t/local/secret");
	link_to("../secrets", "t/local/secrets");
	assert_non_null(strstr(rig_get("/v1/client/fs/ls/" RIG_ID "?path=t/secrets")->body,
		"\"Name\":\"key\",\"Size\":7"));
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		char wanted[100];
		snprintf(wanted, sizeof wanted, "Reading secret file prohibited: %s", ways[i]);
		assert_string_equal(
			rig_get("/v1/client/fs/cat/" RIG_ID "?path=%s", ways[i])->body, wanted);
		assert_string_equal(
			rig_get("/v1/client/fs/readat/" RIG_ID "?path=%s&offset=0", ways[i])->body,
			wanted);
		const struct answer *answer =
			rig_get("/v1/client/fs/stream/" RIG_ID "?path=%s", ways[i]);
		assert_int_equal(answer->status, 500);
		assert_string_equal(answer->body, wanted);
	}
	// What only has the name is none.
	rig_write("t/local/secrets.txt", "w", "open\n");
	assert_string_equal(
		rig_get("/v1/client/fs/cat/" RIG_ID "?path=t/local/secrets.txt")->body, "open\n");
}

static void what_is_no_file_is_not_read(void **state)
{
	char path[300];
	rig_path("t/local/pipe", path);
	assert_int_equal(mkfifo(path, 0600), 0);
	const struct answer *answer = rig_get("/v1/client/fs/cat/" RIG_ID "?path=t/local/pipe");
	assert_non_null(strstr(answer->body, "invalid argument"));
	answer = rig_get("/v1/client/fs/stream/" RIG_ID "?path=t/local/pipe");
	assert_int_equal(answer->status, 400);
	assert_non_null(strstr(answer->body, "only files are read"));
	answer = rig_get("/v1/client/fs/ls/" RIG_ID "?path=t/local/pipe");
	assert_non_null(strstr(answer->body, "not a directory"));
	answer = rig_get("/v1/client/fs/stat/" RIG_ID "?path=t/local/pipe");
	assert_non_null(strstr(answer->body, "\"FileMode\":\"prw-------\""));
}

static void types_are_told(void **state)
{
	rig_write("t/local/page.html", "w", "<p>");
	rig_write("t/local/plain", "w", "text");
	rig_write("t/local/bytes", "w", "\x01\x02");
	const struct {
		const char *name, *type;
	} rows[] = {{"page.html", "text/html; charset=utf-8"},
		{"plain", "text/plain; charset=utf-8"}, {"bytes", "application/octet-stream"}};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char wanted[100];
		snprintf(wanted, sizeof wanted, "\"ContentType\":\"%s\"", rows[i].type);
		assert_non_null(strstr(
			rig_get("/v1/client/fs/stat/" RIG_ID "?path=t/local/%s", rows[i].name)
				->body,
			wanted));
	}
	// A browser gets no page of a task's.
	const struct answer *answer =
		rig_get("/v1/client/fs/cat/" RIG_ID "?path=t/local/page.html");
	assert_true(rig_has_header(answer, "Content-Type: text/plain; charset=utf-8"));
	answer = rig_get("/v1/client/fs/cat/" RIG_ID "?path=t/local/bytes");
	assert_true(rig_has_header(answer, "Content-Type: application/octet-stream"));
}

static void a_large_file_comes_whole(void **state)
{
	char path[300];
	size_t size = 3000000;
	char *bytes = malloc(size);
	assert_non_null(bytes);
	for (size_t i = 0; i < size; i++)
		bytes[i] = (char)('a' + i % 23);
	rig_path("t/local/large", path);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
	const struct answer *answer = rig_get("/v1/client/fs/cat/" RIG_ID "?path=t/local/large");
	assert_int_equal(answer->size, size);
	assert_memory_equal(answer->body, bytes, size);
	answer = rig_get(
		"/v1/client/fs/readat/" RIG_ID "?path=t/local/large&offset=1000000&limit=100000");
	assert_int_equal(answer->size, 100000);
	assert_memory_equal(answer->body, bytes + 1000000, 100000);
	free(bytes);
}

static void numbers_are_read_with_care(void **state)
{
	static const char *const bad[] = {"99999999999999999999", "1e3", "0x1", "%201", "-", "+"};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		const struct answer *answer =
			rig_get("/v1/client/fs/readat/" RIG_ID "?path=t/local/f&offset=%s", bad[i]);
		assert_non_null(strstr(answer->body, "error parsing offset: strconv.ParseInt"));
	}
	assert_string_equal(rig_get("/v1/client/fs/readat/" RIG_ID
				    "?path=t/local/f&offset=9223372036854775807&limit="
				    "9223372036854775807")
				    ->body,
		"");
	assert_string_equal(rig_get("/v1/client/fs/readat/" RIG_ID
				    "?path=t/local/f&offset=%%2b1&limit=9223372036854775807")
				    ->body,
		"nner\n");
}

static void paths_are_cleaned(void **state)
{
	const struct {
		const char *given, *clean;
	} rows[] = {{"", "."}, {"/", "."}, {"//", "."}, {".", "."}, {"a/..", "."},
		{"/a//b/", "a/b"}, {"a/./b/../c", "a/c"}, {"..a", "..a"}, {"a/...", "a/..."},
		{"..", NULL}, {"a/../..", NULL}, {"/../a", NULL}, {"a/../../a", NULL}};
	char path[ALLOC_PATH_BYTES], longest[ALLOC_PATH_BYTES + 10];
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		bool good = alloc_path_clean(rows[i].given, path);
		assert_int_equal(good, rows[i].clean != NULL);
		if (good)
			assert_string_equal(path, rows[i].clean);
	}
	memset(longest, 'a', sizeof longest);
	longest[ALLOC_PATH_BYTES - 2] = '\0';
	assert_true(alloc_path_clean(longest, path));
	assert_int_equal(strlen(path), ALLOC_PATH_BYTES - 2);
	longest[ALLOC_PATH_BYTES - 2] = 'a';
	longest[ALLOC_PATH_BYTES - 1] = '\0';
	assert_false(alloc_path_clean(longest, path));
}

// Whatever a request asks, it gets an answer, and nothing from outside.
static void paths_by_chance(void **state)
{
	static const char *const parts[] = {"..", ".", "t", "local", "secrets", "key", "etc",
		"passwd", "far", "up", "alloc", "logs", "/", "/", "/", "%2e", "%2f", "%5c",
		"%c0%ae", "*", "%0a", "outer", "%ff", "~", "f"};
	static const char *const routes[] = {"ls", "stat", "cat", "readat", "stream", "logs"};
	struct prng prng;
	prng_seed(&prng, 42);
	for (int i = 0; i < 600; i++) {
		char path[400] = "";
		size_t size = 0;
		for (uint64_t n = prng_below(&prng, 12); n > 0; n--)
			size += (size_t)snprintf(path + size, sizeof path - size, "%s",
				parts[prng_below(&prng, sizeof parts / sizeof parts[0])]);
		const struct answer *answer =
			rig_get("/v1/client/fs/%s/" RIG_ID
				"?follow=false&task=t&type=stdout&offset=%d&limit=%d&path=%s",
				routes[prng_below(&prng, 6)], (int)prng_below(&prng, 9) - 2,
				(int)prng_below(&prng, 9) - 2, path);
		assert_true(answer->status >= 200 && answer->status <= 500);
		if (strncmp(answer->body, "outer", 5) == 0 ||
			strncmp(answer->body, "secret", 6) == 0 || strstr(answer->body, "root:"))
			fail_msg("%s: %s", path, answer->body);
	}
}

static void an_allocation_without_its_folder_has_no_files(void **state)
{
	char from[300], to[310];
	rig_path("", from);
	from[strlen(from) - 1] = '\0';
	snprintf(to, sizeof to, "%s.away", from);
	assert_int_equal(rename(from, to), 0);
	assert_int_equal(rig_get("/v1/client/fs/ls/" RIG_ID)->status, 404);
	assert_int_equal(rig_get("/v1/client/fs/stream/" RIG_ID "?path=x")->status, 400);
	assert_int_equal(rig_get("/v1/client/fs/logs/" RIG_ID "?task=t&type=stdout")->size, 0);
	assert_int_equal(rename(to, from), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_path_leads_out),
		cmocka_unit_test(links_within_are_followed),
		cmocka_unit_test(secrets_are_listed_and_not_read),
		cmocka_unit_test(what_is_no_file_is_not_read),
		cmocka_unit_test(types_are_told),
		cmocka_unit_test(a_large_file_comes_whole),
		cmocka_unit_test(numbers_are_read_with_care),
		cmocka_unit_test(paths_are_cleaned),
		cmocka_unit_test(paths_by_chance),
		cmocka_unit_test(an_allocation_without_its_folder_has_no_files),
	};
	return cmocka_run_group_tests(tests, open_task, rig_close);
}
