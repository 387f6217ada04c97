// What can be said of the client without a server; berth, berth-fleet and peers are tested against real ones.
#include "tools/http_client/http_client.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void a_segment_is_escaped_as_far_as_it_fits(void **unused)
{
	char buffer[32];
	assert_string_equal(http_escape("a-Z_0.~", buffer, sizeof buffer), "a-Z_0.~");
	assert_string_equal(http_escape("a/b c", buffer, sizeof buffer), "a%2Fb%20c");
	assert_string_equal(http_escape("\xc3\xa9", buffer, sizeof buffer), "%C3%A9");
	assert_string_equal(http_escape("", buffer, sizeof buffer), "");
	assert_string_equal(http_escape("////", buffer, 8), "%2F%2F");
}

static void the_beginning_of_an_answer_is_kept(void **unused)
{
	char text[6] = "";
	struct http_beginning b = {.text = text, .room = sizeof text};
	http_beginning_take(&b, "abc", 3);
	assert_string_equal(text, "abc");
	http_beginning_take(&b, "defg", 4);
	assert_string_equal(text, "abcde");
	http_beginning_take(&b, "h", 1);
	assert_int_equal(b.size, 5);
}

static bool take_nothing(void *context, long status, const char *data, size_t size)
{
	return true;
}

static void who_does_not_answer_is_named_with_a_reason(void **unused)
{
	struct http_client *client = http_client_create();
	struct http_request request = {
		.url = "http://127.0.0.1:1/", .timeout_ms = 1000, .take_body = take_nothing};
	struct http_result result;
	assert_non_null(client);
	assert_false(http_client_ask(client, &request, &result));
	assert_int_equal(result.status, 0);
	assert_true(strlen(result.kind) > 0 && strlen(result.error) > 0);
	request.url = "file:///etc/passwd";
	assert_false(http_client_ask(client, &request, &result));
	http_client_destroy(client);
	http_client_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_segment_is_escaped_as_far_as_it_fits),
		cmocka_unit_test(the_beginning_of_an_answer_is_kept),
		cmocka_unit_test(who_does_not_answer_is_named_with_a_reason),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
