// What is kept of an answer's head, and what is not.
#include "state/base/memory.h"
#include "tools/api/forward/answer_head.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool take(struct answer_head *head, const char *line)
{
	return answer_head_take(head, line, strlen(line));
}

static const char *value_of(const struct answer_head *head, const char *name)
{
	for (uint32_t i = 0; i < head->count; i++)
		if (strcmp(head->headers[i].name, name) == 0)
			return head->headers[i].value;
	return NULL;
}

static void a_head_is_kept(void **unused)
{
	struct answer_head head = {0};
	assert_true(take(&head, "HTTP/1.1 404 Not Found\r\n"));
	assert_true(take(&head, "X-Nomad-Index: 17\r\n"));
	assert_true(take(&head, "Content-Type:text/plain; charset=utf-8\r\n"));
	assert_true(take(&head, "Empty:\r\n"));
	assert_true(take(&head, "content-length: 42\r\n"));
	assert_false(head.is_whole);
	assert_true(take(&head, "\r\n"));
	assert_true(head.is_whole);
	assert_int_equal(head.status, 404);
	assert_int_equal(head.body_bytes, 42);
	assert_string_equal(value_of(&head, "X-Nomad-Index"), "17");
	assert_string_equal(value_of(&head, "Content-Type"), "text/plain; charset=utf-8");
	assert_string_equal(value_of(&head, "Empty"), "");
	assert_int_equal(head.count, 3);
	answer_head_clear(&head);
}

static void what_is_about_a_connection_is_left_out(void **unused)
{
	static const char *const lines[] = {"Connection: close\r\n", "Keep-Alive: timeout=5\r\n",
		"TRANSFER-ENCODING: chunked\r\n", "Date: now\r\n", "Upgrade: h2c\r\n",
		"no colon\r\n", ": no name\r\n"};
	struct answer_head head = {0};
	assert_true(take(&head, "HTTP/1.1 200 OK\r\n"));
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		assert_true(take(&head, lines[i]));
	assert_true(answer_head_take(&head, "\0A: b\r\n", 8));
	assert_int_equal(head.count, 0);
	assert_true(head.body_bytes == ANSWER_SIZE_UNKNOWN);
	answer_head_clear(&head);
}

static void the_last_head_counts(void **unused)
{
	struct answer_head head = {0};
	assert_true(take(&head, "HTTP/1.1 100 Continue\r\n"));
	assert_true(take(&head, "A: b\r\n"));
	assert_true(take(&head, "\r\n"));
	assert_false(head.is_whole);
	assert_true(take(&head, "HTTP/1.1 200 OK\r\n"));
	assert_true(take(&head, "\r\n"));
	assert_true(head.is_whole);
	assert_int_equal(head.count, 0);
	// Trailers.
	assert_true(take(&head, "C: d\r\n"));
	assert_true(take(&head, "\r\n"));
	assert_int_equal(head.count, 0);
	answer_head_clear(&head);
}

static void a_follower_says_that_it_is_one(void **unused)
{
	struct answer_head head = {0};
	assert_true(take(&head, "HTTP/1.1 500 No\r\n"));
	assert_true(take(&head, "x-berth-not-leader: true\r\n"));
	assert_true(head.is_of_follower);
	assert_int_equal(head.count, 0);
	assert_true(take(&head, "HTTP/1.1 200 OK\r\n"));
	assert_false(head.is_of_follower);
	answer_head_clear(&head);
}

static void what_is_no_head_is_refused(void **unused)
{
	static const char *const lines[] = {"HTTP/1.1\r\n", "HTTP/1.1 \r\n", "HTTP/1.1 abc\r\n",
		"HTTP/1.1 99\r\n", "HTTP/1.1 1000\r\n", "HTTP/1.1 99999999999999999999\r\n"};
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		struct answer_head head = {0};
		assert_false(take(&head, lines[i]));
		answer_head_clear(&head);
	}
}

static void a_head_is_bounded(void **unused)
{
	struct answer_head head = {0};
	assert_true(take(&head, "HTTP/1.1 200 OK\r\n"));
	for (uint32_t i = 0; i < ANSWER_HEADERS_MAX; i++)
		assert_true(take(&head, "A: b\r\n"));
	assert_false(take(&head, "A: b\r\n"));
	answer_head_clear(&head);
	assert_true(take(&head, "HTTP/1.1 200 OK\r\n"));
	char *line = memory_take(ANSWER_HEAD_BYTES_MAX + 8);
	memset(line, 'x', ANSWER_HEAD_BYTES_MAX + 7);
	line[3] = ':';
	assert_false(take(&head, line));
	free(line);
	answer_head_clear(&head);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_head_is_kept),
		cmocka_unit_test(what_is_about_a_connection_is_left_out),
		cmocka_unit_test(the_last_head_counts),
		cmocka_unit_test(a_follower_says_that_it_is_one),
		cmocka_unit_test(what_is_no_head_is_refused),
		cmocka_unit_test(a_head_is_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
