// How long a token with an end may hold, by the settings; the words are those that were recorded (tests/nomad).
#include "tests/tools/api/acl_world.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static char management[SECRET_BYTES];

static int set_up(void **unused)
{
	server = server_start(&(struct server_options){
		.token_ttl_min_ns = 60000000000, .token_ttl_max_ns = 7200000000000});
	acl_world_bootstrap(management);
	acl_world_policy("read", "node { policy = \"read\" }");
	return 0;
}

static struct answer ask_for(const char *ttl)
{
	char body[160];
	snprintf(body, sizeof body,
		"{\"Type\":\"client\",\"Policies\":[\"read\"],\"ExpirationTTL\":\"%s\"}", ttl);
	return ask_with(management, "PUT", "/v1/acl/token", body);
}

static void expect_refused(const char *ttl, const char *words)
{
	struct answer answer = ask_for(ttl);
	assert_int_equal(answer.status, 400);
	if (!strstr(answer.text, words))
		fail_msg("%s was answered \"%s\"", ttl, answer.text);
}

static void the_bounds_are_those_of_the_settings(void **unused)
{
	expect_refused("59s",
		"token 0 invalid: 1 error occurred:\n\t* expiration time cannot be less than 1m0s "
		"in the future (was 59s)");
	expect_refused("2h1s", "token 0 invalid: 1 error occurred:\n\t* expiration time cannot be "
			       "more than 2h0m0s "
			       "in the future (was 2h0m1s)");
	assert_int_equal(ask_for("1m").status, 200);
	assert_int_equal(ask_for("2h").status, 200);
	assert_int_equal(ask_for("").status, 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_bounds_are_those_of_the_settings),
	};
	return cmocka_run_group_tests(tests, set_up, server_group_end);
}
