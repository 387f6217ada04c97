// Files of keys: what is written is read again, and what is none is refused with a sentence.
#include "state/base/error.h"
#include "tools/keyring/keyring_file.h"
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define KEY "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static char folder[64], path[96], message[256];

static int begin(void **unused)
{
	snprintf(folder, sizeof folder, "/tmp/berth-keyring-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/keyring", folder);
	return 0;
}

static int end(void **unused)
{
	(void)unlink(path);
	return rmdir(folder);
}

static void put_file(const char *text, size_t size, mode_t mode)
{
	FILE *file = fopen(path, "we");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static int read_text(const char *text, struct keyring_keys *keys)
{
	put_file(text, strlen(text), 0600);
	return keyring_file_read(path, keys, message, sizeof message);
}

static void assert_keys_equal(const struct keyring_keys *one, const struct keyring_keys *other)
{
	assert_int_equal(one->count, other->count);
	for (uint32_t i = 0; i < one->count; i++) {
		assert_memory_equal(one->keys[i].bytes, other->keys[i].bytes, KEYRING_KEY_BYTES);
		assert_int_equal(one->keys[i].create_time_ns, other->keys[i].create_time_ns);
		assert_int_equal(one->keys[i].is_retired, other->keys[i].is_retired);
	}
}

static void what_is_written_is_read(void **unused)
{
	struct keyring_keys keys = {.count = KEYRING_KEYS_MAX}, read;
	struct stat found;
	for (uint32_t i = 0; i < keys.count; i++) {
		memset(keys.keys[i].bytes, (int)i + 1, KEYRING_KEY_BYTES);
		keys.keys[i].create_time_ns = i ? (int64_t)i : INT64_MAX;
		keys.keys[i].is_retired = i % 3 == 1;
	}
	assert_true(keyring_file_write(path, &keys, message, sizeof message));
	assert_int_equal(stat(path, &found), 0);
	assert_int_equal(found.st_mode & 0777, 0600);
	assert_int_equal(keyring_file_read(path, &read, message, sizeof message), 0);
	assert_keys_equal(&read, &keys);
	// Over what is there, and over what a crash left.
	char left[128];
	snprintf(left, sizeof left, "%s.new", path);
	FILE *file = fopen(left, "we");
	assert_non_null(file);
	assert_int_equal(fclose(file), 0);
	keys.count = 1;
	assert_true(keyring_file_write(path, &keys, message, sizeof message));
	assert_int_equal(keyring_file_read(path, &read, message, sizeof message), 0);
	assert_int_equal(read.count, 1);
	assert_int_not_equal(access(left, F_OK), 0);
}

static void people_may_write_it(void **unused)
{
	struct keyring_keys keys;
	assert_int_equal(read_text("# mine\n\n" KEY " 12 # of May\r\n   \n", &keys), 0);
	assert_int_equal(keys.count, 1);
	assert_int_equal(keys.keys[0].create_time_ns, 12);
	assert_int_equal(keys.keys[0].bytes[1], 0x23);
	assert_false(keys.keys[0].is_retired);
	assert_int_equal(read_text(KEY " 12", &keys), 0);
	assert_int_equal(read_text(KEY " 12 retired # of May\n", &keys), 0);
	assert_true(keys.keys[0].is_retired);
}

static void what_is_no_file_of_keys_is_refused(void **unused)
{
	static const struct {
		const char *text, *says;
	} files[] = {
		{"", "holds no key"},
		{"# nothing\n", "holds no key"},
		{"abc\n", "line 1 is not"},
		{KEY "\n", "line 1 is not"},
		{KEY " \n", "line 1 is not"},
		{KEY " x\n", "line 1 is not"},
		{KEY " 1x\n", "line 1 is not"},
		{KEY " 1 tired\n", "line 1 is not"},
		{KEY " 1  retired\n", "line 1 is not"},
		{KEY " retired\n", "line 1 is not"},
		{KEY " 99999999999999999999\n", "line 1 is not"},
		{KEY "0 1\n", "line 1 is not"},
		{"g" KEY " 1\n", "line 1 is not"},
		{KEY " 1\n\n" KEY " 2\n", "line 3 repeats a key"},
	};
	struct keyring_keys keys;
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		assert_int_equal(read_text(files[i].text, &keys), -ERROR_CORRUPT);
		assert_int_equal(keys.count, 0);
		if (!strstr(message, files[i].says) || !strstr(message, path))
			fail_msg("\"%s\" is refused with \"%s\"", files[i].text, message);
		assert_null(strstr(message, "0123456789abcdef"));
	}
	put_file("a\0b", 3, 0600);
	assert_int_equal(keyring_file_read(path, &keys, message, sizeof message), -ERROR_CORRUPT);
	assert_non_null(strstr(message, "NUL"));
}

static void too_many_keys_are_refused(void **unused)
{
	static char text[32768];
	struct keyring_keys keys;
	char *at = text;
	for (uint32_t i = 0; i <= KEYRING_KEYS_MAX; i++)
		at += snprintf(at, 80, "%064x 1\n", i + 1);
	assert_int_equal(read_text(text, &keys), -ERROR_CORRUPT);
	assert_non_null(strstr(message, "line 65 is one key more than 64"));
	memset(text, '#', sizeof text - 1);
	assert_int_equal(read_text(text, &keys), -ERROR_CORRUPT);
	assert_non_null(strstr(message, "too large"));
}

static void a_file_that_others_may_read_is_refused(void **unused)
{
	struct keyring_keys keys;
	for (mode_t bit = 1; bit < 0100; bit <<= 1) {
		put_file(KEY " 1\n", strlen(KEY " 1\n"), 0600 | bit);
		assert_int_equal(keyring_file_read(path, &keys, message, sizeof message), -EPERM);
		assert_non_null(strstr(message, "chmod 600"));
	}
	assert_int_equal(keyring_file_read(folder, &keys, message, sizeof message), -EINVAL);
	assert_int_equal(
		keyring_file_read("/nosuch/keyring", &keys, message, sizeof message), -ENOENT);
}

static void what_the_system_refuses_is_told(void **unused)
{
	struct keyring_keys keys = {0};
	char long_name[PATH_MAX];
	assert_int_equal(keyring_file_read("/proc/self/mem", &keys, message, sizeof message), -EIO);
	assert_non_null(strstr(message, "read"));
	memset(long_name, 'n', sizeof long_name - 1);
	long_name[sizeof long_name - 1] = '\0';
	assert_false(keyring_file_write(long_name, &keys, message, sizeof message));
	assert_non_null(strstr(message, "nnn"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(people_may_write_it),
		cmocka_unit_test(what_is_no_file_of_keys_is_refused),
		cmocka_unit_test(too_many_keys_are_refused),
		cmocka_unit_test(a_file_that_others_may_read_is_refused),
		cmocka_unit_test(what_the_system_refuses_is_told),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
