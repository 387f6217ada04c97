// Which capabilities a task gets: names, what is allowed, what is added and dropped.
#include "tools/agent/confine/capabilities.h"
#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define BIT(capability) (1ull << (capability))
static char message[300];

static uint64_t bits_of(const char *names)
{
	uint64_t bits;
	char wrong[32];
	assert_true(capabilities_read(names, &bits, wrong));
	return bits;
}

static bool choose(struct capabilities *c, const char *allowed, const char *add, const char *drop)
{
	json_t *added = add ? json_loads(add, 0, NULL) : NULL;
	json_t *dropped = drop ? json_loads(drop, 0, NULL) : NULL;
	bool is_fine =
		capabilities_choose(c, bits_of(allowed), added, dropped, message, sizeof message);
	json_decref(added);
	json_decref(dropped);
	return is_fine;
}

static void names_are_read_in_any_form(void **unused)
{
	uint64_t bits;
	char wrong[32];
	assert_int_equal(bits_of(""), 0);
	assert_int_equal(bits_of("chown,CAP_NET_RAW,cap_kill"),
		BIT(CAP_CHOWN) | BIT(CAP_NET_RAW) | BIT(CAP_KILL));
	assert_int_equal(bits_of("ALL") & BIT(CAP_NET_RAW),
		prctl(PR_CAPBSET_READ, CAP_NET_RAW) == 1 ? BIT(CAP_NET_RAW) : 0);
	assert_false(capabilities_read("chown,fly", &bits, wrong));
	assert_string_equal(wrong, "fly");
	assert_false(capabilities_read("chown,,kill", &bits, wrong));
	assert_false(capabilities_read("0", &bits, wrong));
}

static void a_task_has_the_usual_ones(void **unused)
{
	struct capabilities c;
	assert_true(choose(&c, CAPABILITIES_DEFAULT, NULL, NULL));
	assert_int_equal(c.bounding, bits_of(CAPABILITIES_DEFAULT));
	assert_int_equal(c.ambient, 0);
	assert_false(c.bounding & (BIT(CAP_SYS_ADMIN) | BIT(CAP_NET_RAW) | BIT(CAP_SYS_PTRACE)));
}

static void what_is_allowed_bounds_the_usual_ones(void **unused)
{
	struct capabilities c;
	assert_true(choose(&c, "kill,net_raw", NULL, NULL));
	assert_int_equal(c.bounding, BIT(CAP_KILL));
}

static void what_is_added_is_for_ordinary_users_too(void **unused)
{
	struct capabilities c;
	assert_true(choose(&c, "all", "[\"net_raw\"]", "[\"mknod\", \"CAP_SETUID\"]"));
	assert_int_equal(c.bounding, (bits_of(CAPABILITIES_DEFAULT) | BIT(CAP_NET_RAW)) &
					     ~(BIT(CAP_MKNOD) | BIT(CAP_SETUID)));
	assert_int_equal(c.ambient, BIT(CAP_NET_RAW));
	assert_true(choose(&c, "all", "[\"kill\"]", "[\"all\"]"));
	assert_int_equal(c.bounding, BIT(CAP_KILL));
}

static void what_is_not_allowed_is_refused_by_name(void **unused)
{
	struct capabilities c;
	assert_false(choose(&c, CAPABILITIES_DEFAULT, "[\"chown\", \"net_raw\"]", NULL));
	assert_string_equal(message, "driver does not allow the following capabilities: net_raw");
	assert_false(choose(&c, "all", "[\"fly\"]", NULL));
	assert_string_equal(message, "cap_add: there is no capability \"fly\"");
	assert_false(choose(&c, "all", NULL, "[7]"));
	assert_non_null(strstr(message, "cap_drop"));
	assert_false(choose(&c, "all", "{}", NULL));
	assert_non_null(strstr(message, "list"));
}

// In a process of its own, which has given up to raise any. Its errno.
static int take_without_ambient(void)
{
	static const struct capabilities c = {
		.bounding = BIT(CAP_NET_BIND_SERVICE), .ambient = BIT(CAP_NET_BIND_SERVICE)};

	if (prctl(PR_SET_SECUREBITS, SECBIT_NO_CAP_AMBIENT_RAISE, 0, 0, 0) < 0)
		return -1;
	return capabilities_take(&c, false) < 0 ? errno : 0;
}

static void rights_that_cannot_be_passed_on_are_said(void **unused)
{
	int status;

	if (geteuid() != 0)
		skip();
	pid_t child = fork();
	if (child == 0)
		exit(take_without_ambient());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), EPERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_read_in_any_form),
		cmocka_unit_test(a_task_has_the_usual_ones),
		cmocka_unit_test(what_is_allowed_bounds_the_usual_ones),
		cmocka_unit_test(what_is_added_is_for_ordinary_users_too),
		cmocka_unit_test(what_is_not_allowed_is_refused_by_name),
		cmocka_unit_test(rights_that_cannot_be_passed_on_are_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
