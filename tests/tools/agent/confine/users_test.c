// Who confined tasks may run as.
#include "tools/agent/confine/confine.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

static char message[200];

static bool may(const char *denied, const char *user)
{
	struct confine c = {.users_denied = denied};
	return confine_may_run_as(&c, user, message, sizeof message);
}

static void the_superuser_is_refused(void **unused)
{
	assert_false(may(CONFINE_USERS_DENIED_DEFAULT, "root"));
	assert_string_equal(message, "running as user \"root\" is disallowed");
	assert_true(may(CONFINE_USERS_DENIED_DEFAULT, "nobody"));
	assert_true(may("", "root"));
}

static void a_list_refuses_each(void **unused)
{
	assert_false(may("daemon,nobody,bin", "nobody"));
	assert_false(may("daemon,nobody,bin", "bin"));
	assert_true(may("daemon,nobody,bin", "mail"));
	assert_true(may("nobody2,no", "nobody"));
}

static void names_that_nobody_has_are_compared_as_they_are(void **unused)
{
	assert_false(may("no-such-user", "no-such-user"));
	assert_true(may("no-such-user", "nobody"));
}

// Another name of a user that is denied is not known for one as long as nobody can read who has it.
static void nobody_runs_as_who_cannot_be_looked_for(void **unused)
{
	struct rlimit whole, few;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &whole), 0);
	few = (struct rlimit){.rlim_max = whole.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	bool may_run = may("nobody", "mail");
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &whole), 0);
	assert_false(may_run);
	assert_string_equal(message, "cannot look for the user \"mail\": Too many open files");
	assert_true(may("nobody", "mail"));
}

static void a_node_does_not_start_with_a_right_that_is_none(void **unused)
{
	struct confine c;
	const struct confine_settings settings = {.capabilities = "chown,fly"};
	assert_int_equal(confine_open(&c, &settings, message, sizeof message), -EINVAL);
	assert_string_equal(message, "there is no capability \"fly\"");
	confine_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_superuser_is_refused),
		cmocka_unit_test(a_list_refuses_each),
		cmocka_unit_test(nobody_runs_as_who_cannot_be_looked_for),
		cmocka_unit_test(a_node_does_not_start_with_a_right_that_is_none),
		cmocka_unit_test(names_that_nobody_has_are_compared_as_they_are),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
