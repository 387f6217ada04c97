#include "dataplane/wire/auth.h"
#include "state/base/error.h"
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char *vectors_path;
static char folder[] = "/tmp/berth-keys-XXXXXX";
static char path[64], message[256];

static int make_folder(void **unused)
{
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof path, "%s/master.key", folder);
	return 0;
}

static int remove_folder(void **unused)
{
	unlink(path);
	return rmdir(folder);
}

static void write_file(const char *content, size_t size, mode_t mode)
{
	unlink(path);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, mode);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, size), size);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static int load_text(const char *content, struct master_keys *keys)
{
	write_file(content, strlen(content), 0600);
	memset(message, 0, sizeof message);
	return master_keys_load(path, keys, message, sizeof message);
}

#define HEX "000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F"

static void derived_keys_equal_the_vectors(void **unused)
{
	json_t *vectors = json_load_file(vectors_path, 0, NULL), *vector;
	assert_non_null(vectors);
	struct master_keys masters = {0};
	size_t i;
	json_array_foreach(json_object_get(vectors, "master_keys"), i, vector)
	{
		char line[100];
		struct master_keys one;
		snprintf(line, sizeof line, "%lld %s",
			json_integer_value(json_object_get(vector, "id")),
			json_string_value(json_object_get(vector, "hex")));
		assert_int_equal(load_text(line, &one), 0);
		masters.keys[masters.count++] = one.keys[0];
	}
	json_array_foreach(json_object_get(vectors, "keys"), i, vector)
	{
		const char *name = json_string_value(json_object_get(vector, "name"));
		uint8_t id = (uint8_t)json_integer_value(json_object_get(vector, "key_id"));
		struct wire_key key;
		struct uuid node;
		uint32_t generation =
			(uint32_t)json_integer_value(json_object_get(vector, "generation"));
		if (uuid_parse(name, &node))
			assert_true(node_key_derive_next(&masters, id, &node, generation, &key));
		else
			assert_true(client_key_derive_next(
				&masters, id, text_of(name), generation, &key));
		char text[WIRE_KEY_TEXT_BYTES];
		assert_string_equal(wire_key_format(id, &key, text),
			json_string_value(json_object_get(vector, "text")));
	}
	struct wire_key key;
	assert_false(client_key_derive(&masters, 99, TEXT("x"), &key));
	json_decref(vectors);
}

static void key_text_goes_round(void **unused)
{
	struct wire_key key = {{0x0123456789abcdefull, 0xfedcba9876543210ull}}, back;
	char text[WIRE_KEY_TEXT_BYTES];
	uint8_t id;
	assert_string_equal(
		wire_key_format(255, &key, text), "255:efcdab89674523011032547698badcfe");
	assert_true(wire_key_parse(text, &id, &back));
	assert_int_equal(id, 255);
	assert_memory_equal(&back, &key, sizeof key);
	static const char *const bad[] = {"", ":", "1", "1:", "0:efcdab89674523011032547698badcfe",
		"256:efcdab89674523011032547698badcfe", "-1:efcdab89674523011032547698badcfe",
		" 1:efcdab89674523011032547698badcfe", "1:efcdab89674523011032547698badcf",
		"1:efcdab89674523011032547698badcfe0", "1:efcdab89674523011032547698badcfg",
		"1 efcdab89674523011032547698badcfe"};
	for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_false(wire_key_parse(bad[i], &id, &back));
}

static void load_reads_comments_and_order(void **unused)
{
	struct master_keys keys;
	assert_int_equal(load_text("# newest first\n\n 9 " HEX "  # in use\r\n3 " HEX, &keys), 0);
	assert_int_equal(keys.count, 2);
	assert_int_equal(keys.keys[0].id, 9);
	assert_int_equal(keys.keys[1].id, 3);
	for (uint32_t i = 0; i < MASTER_KEY_BYTES; i++)
		assert_int_equal(keys.keys[0].bytes[i], i);
}

static void load_names_what_and_where(void **unused)
{
	static const struct {
		const char *content, *says;
	} bad[] = {
		{"", "holds no key"},
		{"# nothing\n", "holds no key"},
		{"1 " HEX "\n2 123\n", "line 2 is not"},
		{"0 " HEX, "line 1 is not"},
		{"256 " HEX, "line 1 is not"},
		{"x " HEX, "line 1 is not"},
		{HEX, "line 1 is not"},
		{"1 " HEX "00", "line 1 is not"},
		{"1 zz0102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F",
			"line 1 is not"},
		{"1 " HEX "\n\n1 " HEX, "line 3 repeats an id"},
		{"1 " HEX "\n2 " HEX "\n3 " HEX "\n4 " HEX "\n5 " HEX, "line 5 is one key more"},
	};
	struct master_keys keys;
	for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		assert_int_equal(load_text(bad[i].content, &keys), -ERROR_CORRUPT);
		assert_int_equal(keys.count, 0);
		if (!strstr(message, bad[i].says) || !strstr(message, path))
			fail_msg("\"%s\" does not say \"%s\"", message, bad[i].says);
	}
}

static void load_refuses_what_is_no_private_file(void **unused)
{
	struct master_keys keys;
	for (mode_t other = 1; other <= 040; other *= 2) {
		write_file("1 " HEX, 66, 0600 | other);
		assert_int_equal(master_keys_load(path, &keys, message, sizeof message), -EPERM);
		assert_non_null(strstr(message, "chmod 600"));
	}
	write_file("1 " HEX "\n\0 ", 69, 0600);
	assert_int_equal(master_keys_load(path, &keys, message, sizeof message), -ERROR_CORRUPT);
	assert_non_null(strstr(message, "NUL"));
	static char large[5000];
	memset(large, '#', sizeof large);
	write_file(large, sizeof large, 0600);
	assert_int_equal(master_keys_load(path, &keys, message, sizeof message), -ERROR_CORRUPT);
	assert_non_null(strstr(message, "larger"));
	unlink(path);
	assert_int_equal(master_keys_load(path, &keys, message, sizeof message), -ENOENT);
	assert_int_equal(master_keys_load(folder, &keys, message, sizeof message), -EINVAL);
}

// A regular file of ours in mode 600, whose first byte is nowhere.
static void a_file_that_cannot_be_read_is_told(void **unused)
{
	struct master_keys keys;
	assert_int_equal(master_keys_load("/proc/self/mem", &keys, message, sizeof message), -EIO);
	assert_string_equal(
		message, "master key file /proc/self/mem: cannot read it: Input/output error");
	assert_int_equal(keys.count, 0);
}

static void limit_files(rlim_t bytes)
{
	struct rlimit limit;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

// As on a full disk: the keys that were there stay, and nothing of the new file does.
static void keys_that_do_not_fit_change_nothing(void **unused)
{
	struct master_keys keys;
	char aside[80];
	assert_int_equal(load_text("7 " HEX, &keys), 0);
	snprintf(aside, sizeof aside, "%s.new", path);
	for (uint32_t rotate = 0; rotate < 2; rotate++) {
		if (!rotate)
			assert_int_equal(rename(path, aside), 0);
		(void)signal(SIGXFSZ, SIG_IGN);
		limit_files(100);
		int error = master_keys_generate(path, rotate, message, sizeof message);
		limit_files(RLIM_INFINITY);
		assert_int_equal(error, -EFBIG);
		assert_non_null(strstr(message, "cannot write it: File too large"));
		assert_int_equal(access(rotate ? aside : path, F_OK), -1);
		if (!rotate)
			assert_int_equal(rename(aside, path), 0);
	}
	assert_int_equal(master_keys_load(path, &keys, message, sizeof message), 0);
	assert_int_equal(keys.keys[0].id, 7);
}

static void what_a_crash_left_of_a_rotation_is_in_nobodys_way(void **unused)
{
	struct master_keys keys;
	char aside[80];
	assert_int_equal(load_text("7 " HEX, &keys), 0);
	snprintf(aside, sizeof aside, "%s.new", path);
	int left = open(aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(left >= 0);
	close(left);
	assert_int_equal(master_keys_generate(path, true, message, sizeof message), 0);
	assert_int_equal(master_keys_load(path, &keys, message, sizeof message), 0);
	assert_int_equal(keys.keys[0].id, 8);
	assert_int_equal(keys.keys[1].id, 7);
}

static void a_name_that_is_too_long_is_told(void **unused)
{
	static char name[PATH_MAX + 1];
	memset(name, 'k', PATH_MAX);
	assert_int_equal(master_keys_generate(name, false, message, sizeof message), -ENAMETOOLONG);
}

static void generate_makes_a_private_file_once(void **unused)
{
	unlink(path);
	assert_int_equal(master_keys_generate(path, false, message, sizeof message), 0);
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	struct master_keys first, second;
	assert_int_equal(master_keys_load(path, &first, message, sizeof message), 0);
	assert_int_equal(first.count, 1);
	assert_int_equal(first.keys[0].id, 1);
	assert_int_equal(master_keys_generate(path, false, message, sizeof message), -EEXIST);
	assert_int_equal(master_keys_load(path, &second, message, sizeof message), 0);
	assert_memory_equal(&first, &second, sizeof first);
}

static void rotate_keeps_the_older_keys(void **unused)
{
	unlink(path);
	assert_int_equal(master_keys_generate(path, true, message, sizeof message), -ENOENT);
	assert_int_equal(master_keys_generate(path, false, message, sizeof message), 0);
	struct master_keys before, after;
	for (uint8_t id = 2; id < 8; id++) {
		assert_int_equal(master_keys_load(path, &before, message, sizeof message), 0);
		assert_int_equal(master_keys_generate(path, true, message, sizeof message), 0);
		assert_int_equal(master_keys_load(path, &after, message, sizeof message), 0);
		assert_int_equal(after.count, id < MASTER_KEYS_MAX ? id : MASTER_KEYS_MAX);
		assert_int_equal(after.keys[0].id, id);
		assert_memory_equal(
			&after.keys[1], &before.keys[0], (after.count - 1u) * sizeof after.keys[0]);
		assert_memory_not_equal(
			after.keys[0].bytes, before.keys[0].bytes, MASTER_KEY_BYTES);
	}
}

// The program does not run as the one who has the file.
static void a_file_of_another_user_is_told(void **unused)
{
	struct master_keys keys;
	int status;
	if (geteuid() != 0)
		skip();
	assert_int_equal(load_text("1 " HEX, &keys), 0);
	assert_int_equal(chmod(folder, 0755), 0);
	pid_t child = fork();
	if (child == 0) {
		bool is_told = setresuid(65534, 65534, 65534) == 0 &&
			       master_keys_load(path, &keys, message, sizeof message) == -EACCES &&
			       strstr(message, "may not be read by the user that this is");
		_exit(is_told ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void rotate_goes_round_the_ids(void **unused)
{
	struct master_keys keys;
	assert_int_equal(load_text("255 " HEX "\n1 " HEX, &keys), 0);
	assert_int_equal(master_keys_generate(path, true, message, sizeof message), 0);
	assert_int_equal(master_keys_load(path, &keys, message, sizeof message), 0);
	assert_int_equal(keys.keys[0].id, 2);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: keys_test VECTORS\n");
		return 2;
	}
	vectors_path = argv[1];
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(derived_keys_equal_the_vectors),
		cmocka_unit_test(key_text_goes_round),
		cmocka_unit_test(load_reads_comments_and_order),
		cmocka_unit_test(load_names_what_and_where),
		cmocka_unit_test(load_refuses_what_is_no_private_file),
		cmocka_unit_test(a_file_that_cannot_be_read_is_told),
		cmocka_unit_test(keys_that_do_not_fit_change_nothing),
		cmocka_unit_test(what_a_crash_left_of_a_rotation_is_in_nobodys_way),
		cmocka_unit_test(a_name_that_is_too_long_is_told),
		cmocka_unit_test(generate_makes_a_private_file_once),
		cmocka_unit_test(rotate_keeps_the_older_keys),
		cmocka_unit_test(rotate_goes_round_the_ids),
		cmocka_unit_test(a_file_of_another_user_is_told),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
