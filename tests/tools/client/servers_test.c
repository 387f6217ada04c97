// Of a list of controllers, who is spoken to next.
#include "tools/client/servers.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct servers servers;
static char message[300];

static void open_list(const char *list)
{
	assert_int_equal(servers_open(&servers, list, message, sizeof message), 0);
}

static void speaks_to(const char *server)
{
	assert_string_equal(servers.current, server);
}

static void silence_goes_round_the_list(void **unused)
{
	static const char *const order[] = {"a:1", "b", "[2001:db8::1]:4647"};
	open_list("a:1,b,[2001:db8::1]:4647");
	for (uint32_t i = 0; i < 7; i++) {
		speaks_to(order[i % 3]);
		assert_true(servers_next(&servers));
	}
}

static void one_alone_has_no_next(void **unused)
{
	open_list("192.0.2.1");
	speaks_to("192.0.2.1");
	assert_false(servers_next(&servers));
	speaks_to("192.0.2.1");
}

static void a_leader_that_is_named_is_spoken_to(void **unused)
{
	struct wire_endpoint v4 = {{[10] = 0xff, 0xff, 192, 0, 2, 7}, 4648}, none = {.port = 0};
	struct wire_endpoint v6 = {{0x20, 1, 0xd, 0xb8, [15] = 9}, 4647};
	open_list("a,b,c");
	assert_true(servers_follow(&servers, &v4));
	speaks_to("192.0.2.7:4648");
	assert_false(servers_follow(&servers, &v4));
	assert_true(servers_follow(&servers, &v6));
	speaks_to("[2001:db8::9]:4647");
	assert_true(servers_next(&servers)); // the one after who named it
	speaks_to("b");
	assert_true(servers_follow(&servers, &none));
	speaks_to("c");
	open_list("a");
	assert_true(servers_follow(&servers, &v4));
	assert_true(servers_next(&servers));
	speaks_to("a");
}

static void odd_lists_are_refused(void **unused)
{
	char longest[SERVER_TEXT_BYTES + 1];
	memset(longest, 'x', sizeof longest);
	longest[sizeof longest - 1] = '\0';
	const char *const bad[] = {
		"", ",", "a,", ",a", "a,,b", "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q", longest};
	for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		assert_true(servers_open(&servers, bad[i], message, sizeof message) < 0);
		assert_non_null(strstr(message, "up to 16"));
	}
	longest[sizeof longest - 2] = '\0';
	open_list(longest);
	open_list("a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(silence_goes_round_the_list),
		cmocka_unit_test(one_alone_has_no_next),
		cmocka_unit_test(a_leader_that_is_named_is_spoken_to),
		cmocka_unit_test(odd_lists_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
