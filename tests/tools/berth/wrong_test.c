// What berth makes of a server whose answers make no sense, of one that does not let it see, and of a standard output
// and files that take nothing.
#include "tests/tools/agent/check/listener.h"
#include "tests/tools/berth/run.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define CLOSES "Connection: close\r\n\r\n"
#define HEAD "HTTP/1.1 200 OK\r\n" CLOSES
#define ID "7a42bd0a-4bc7-d9cb-43d4-6a1a260c1352"

static struct listener server;

// PORT in a text is the server's.
static const char *with_port(const char *text)
{
	static char whole[512];
	const char *at = strstr(text, "PORT");
	if (at)
		snprintf(whole, sizeof whole, "%.*s%u%s", (int)(at - text), text, server.port,
			at + 4);
	return at ? whole : text;
}

static void expect_answered(const char *bytes, const char *line, int status, const char *said)
{
	char words[512];
	atomic_store(&server.answer, bytes);
	snprintf(words, sizeof words, "%s", with_port(line));
	expect_run(words, status, "", with_port(said));
	assert_memory_equal(run.error, "berth: ", strlen("berth: "));
}

static int begin(void **unused)
{
	listener_open(&server, HEAD "{}");
	run_begin(server.port);
	return 0;
}

static int end(void **unused)
{
	run_end();
	listener_close(&server);
	return 0;
}

static void answers_that_make_no_sense(void **unused)
{
	static const struct {
		const char *answer, *line;
		int status;
		const char *said;
	} rows[] = {
		{"HTTP/1.1 404 Oops\r\n" CLOSES " \n", "node status " ID, 3,
			"the controller answered 404 to /v1/node/" ID "; is it a Berth controller"},
		{"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", "node status " ID, 5,
			"no answer from http://127.0.0.1:PORT: "},
		{HEAD "<html>", "node status " ID, 1,
			"the controller's answer is no JSON: /v1/node/" ID
			" of http://127.0.0.1:PORT gave, in line 1, "},
		{HEAD "<html>", "acl bootstrap", 1,
			"the controller's answer is no JSON: /v1/acl/bootstrap of "
			"http://127.0.0.1:PORT"},
		{HEAD "<html>", "var put a b=c", 1,
			"the controller's answer is no JSON: /v1/var/a"},
		{HEAD "{}", "node list", 1,
			"the controller's answer is no list; is http://127.0.0.1:PORT a Berth "
			"controller"},
		{HEAD "[{\"ID\":\"j\",\"Name\":\"j\"}]", "job stop j", 3,
			"job not found: \"j\", in namespace \"default\""},
		{HEAD "[{\"name\":\"a'b\"}]", "vm ssh a'b", 1,
			"characters that ssh cannot pass on: \""},
		{HEAD "[{\"name\":\"w\"}]", "worker port-forward w PORT:22", 1,
			"cannot listen on 127.0.0.1:PORT: Address already in use; name another "
			"port"},
		{HEAD "{\"TaskStates\":{}}", "alloc logs " ID, 4,
			"no task of allocation 7a42bd0a has been started"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		expect_answered(rows[i].answer, rows[i].line, rows[i].status, rows[i].said);
}

// What may not be read is not begun anew: its description and its limits would be lost.
static void a_namespace_that_is_hidden_stays(void **unused)
{
	expect_answered("HTTP/1.1 403 Forbidden\r\n" CLOSES "Permission denied\n",
		"namespace apply n --quota q", 4, "berth: Permission denied\n");
	assert_true(atomic_load(&server.requests) > 0); // so that what was asked is seen here, too
	assert_memory_equal(server.request, "GET /v1/namespace/n ", strlen("GET /v1/namespace/n "));
	expect_answered("HTTP/1.1 404 Not Found\r\n" CLOSES, "namespace apply \xff", 2,
		"the name is to be UTF-8 text");
}

// More than waits in memory for the disk, so that it is noticed while the answer comes.
static void an_answer_that_the_disk_cannot_take(void **unused)
{
	static char much[64 * 1024] = HEAD;
	char line[128], aside[128];
	struct stat found;
	memset(much + strlen(much), 'x', sizeof much - 1 - strlen(much));
	snprintf(aside, sizeof aside, "%s/got.part", run_folder());
	assert_int_equal(symlink("/dev/full", aside), 0);
	snprintf(line, sizeof line, "operator snapshot save %s/got", run_folder());
	expect_answered(much, line, 1,
		"cannot write what /v1/operator/snapshot gave: No space left on device");
	assert_null(strstr(run.error, "no answer"));
	assert_int_equal(lstat(aside, &found), -1);
}

static void nobody_takes_what_is_printed(void **unused)
{
	static const char *const lines[] = {"version", "help", "help node", "node status --help",
		"node status " ID " --json", "stats --json", "monitor"};
	atomic_store(&server.answer, HEAD "{}");
	run_out("/dev/full");
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		berth(lines[i]);
		if (run.status != 1 ||
			strcmp(run.error, "berth: cannot write to standard output: is "
					  "its disk full?\n") != 0)
			fail_msg("%s gave %d: %s", lines[i], run.status, run.error);
	}
	run_out(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_that_make_no_sense),
		cmocka_unit_test(a_namespace_that_is_hidden_stays),
		cmocka_unit_test(an_answer_that_the_disk_cannot_take),
		cmocka_unit_test(nobody_takes_what_is_printed),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
