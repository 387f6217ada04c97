// What a member's configuration says of itself.
#include "tools/berthd/membership/membership.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct config config;
static char message[CONFIG_MESSAGE_BYTES];

static int fresh(void **state)
{
	config_defaults(&config);
	return 0;
}

static void the_own_address_has_no_port(void **state)
{
	static const struct {
		const char *wire, *address;
	} rows[] = {{"10.0.0.11:4647", "10.0.0.11"}, {"10.0.0.11", "10.0.0.11"},
		{"[2001:db8::1]:4647", "2001:db8::1"}, {"[2001:db8::1]", "2001:db8::1"}, {"", ""}};
	char address[64];
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_true(config_set(&config, "cluster.advertise_wire", rows[i].wire, message));
		membership_own_address(&config, address, sizeof address);
		assert_string_equal(address, rows[i].address);
	}
	assert_true(config_set(&config, "cluster.advertise_wire", "10.0.0.11:4647", message));
	membership_own_address(&config, address, 5); // no room: cut, never beyond
	assert_string_equal(address, "10.0");
}

static bool reads_password(const char *text, const char *expected)
{
	char path[] = "/tmp/berth-password-XXXXXX", password[MEMBERSHIP_PASSWORD_BYTES];
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	assert_true(config_set(&config, "cluster.password_file", path, message));
	bool fine = membership_password(&config, password, message, sizeof message);
	unlink(path);
	if (fine)
		assert_string_equal(password, expected);
	return fine;
}

static void the_password_is_the_first_line(void **state)
{
	char password[MEMBERSHIP_PASSWORD_BYTES];
	assert_true(membership_password(&config, password, message, sizeof message));
	assert_string_equal(password, "");
	assert_true(reads_password("secret", "secret"));
	assert_true(reads_password("secret\n", "secret"));
	assert_true(reads_password("secret\r\nmore\n", "secret"));
	assert_false(reads_password("", ""));
	assert_false(reads_password("\nsecret\n", ""));
	assert_non_null(strstr(message, "does not begin with a password"));
	assert_true(config_set(&config, "cluster.password_file", "/nosuch/file", message));
	assert_false(membership_password(&config, password, message, sizeof message));
	assert_non_null(strstr(message, "/nosuch/file"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_own_address_has_no_port, fresh),
		cmocka_unit_test_setup(the_password_is_the_first_line, fresh),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
