#include "state/base/error.h"
#include "tools/agent/base/identity.h"
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/berth-identity-XXXXXX", inner[64], path[128], message[300];
static struct prng prng;
static struct identity id;

static int make_folder(void **unused)
{
	prng_seed(&prng, 1);
	snprintf(inner, sizeof inner, "%s/state", mkdtemp(folder) ? folder : "");
	return 0;
}

static const char *file(const char *name)
{
	snprintf(path, sizeof path, "%s/%s", inner, name);
	return path;
}

static int clean(void **unused)
{
	static const char *const names[] = {"node-id", "term", "lock", "node.key", "term.new"};
	for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++)
		unlink(file(names[i]));
	rmdir(inner);
	return 0;
}

static int remove_folder(void **unused)
{
	clean(NULL);
	return rmdir(folder);
}

static void write_file(const char *name, const char *content, mode_t mode)
{
	unlink(file(name));
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, strlen(content)), strlen(content));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static int open_identity(void)
{
	return identity_open(inner, &prng, &id, message, sizeof message);
}

static void is_made_once_and_kept(void **unused)
{
	assert_int_equal(open_identity(), 0);
	struct uuid first = id.node;
	assert_false(uuid_is_zero(&first));
	assert_int_equal(id.term, 0);
	identity_close(&id);
	assert_int_equal(open_identity(), 0);
	assert_true(uuid_equal(&first, &id.node));
	identity_close(&id);
	struct stat st;
	assert_int_equal(stat(inner, &st), 0);
	assert_int_equal(st.st_mode & 077, 0);
}

static void two_agents_do_not_share_it(void **unused)
{
	struct identity other;
	assert_int_equal(open_identity(), 0);
	assert_int_equal(identity_open(inner, &prng, &other, message, sizeof message), -EBUSY);
	assert_non_null(strstr(message, "another berth-agent"));
	identity_close(&id);
	assert_int_equal(identity_open(inner, &prng, &other, message, sizeof message), 0);
	identity_close(&other);
}

static void term_survives(void **unused)
{
	assert_int_equal(open_identity(), 0);
	assert_int_equal(identity_store_term(&id, UINT64_MAX, message, sizeof message), 0);
	identity_close(&id);
	assert_int_equal(open_identity(), 0);
	assert_true(id.term == UINT64_MAX);
	identity_close(&id);
}

static void damaged_files_are_named(void **unused)
{
	static const struct {
		const char *name, *content;
	} bad[] = {{"node-id", "not a uuid"}, {"node-id", ""}, {"term", "12x"}, {"term", "-1"},
		{"term", ""}, {"term", "99999999999999999999999"}};
	for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		assert_int_equal(open_identity(), 0);
		identity_close(&id);
		write_file(bad[i].name, bad[i].content, 0644);
		assert_int_equal(open_identity(), -ERROR_CORRUPT);
		assert_non_null(strstr(message, file(bad[i].name)));
		assert_non_null(strstr(message, "remove it"));
		unlink(path);
	}
}

static void unusable_folder_is_named(void **unused)
{
	assert_int_equal(
		identity_open("/proc/no/such", &prng, &id, message, sizeof message), -ENOENT);
	assert_non_null(strstr(message, "/proc/no/such"));
	char long_path[257] = "/";
	memset(long_path + 1, 'x', sizeof long_path - 2);
	assert_int_equal(
		identity_open(long_path, &prng, &id, message, sizeof message), -ENAMETOOLONG);
	assert_non_null(strstr(message, "a state directory has 1 to 255 characters"));
}

// Whatever stands where a file of the state is to be: it is named, and the lock is free again.
static void what_is_no_file_is_named(void **unused)
{
	static const struct {
		const char *name, *target; // what the link leads to; NULL: a folder is there
		int error;
		const char *said;
	} bad[] = {{"lock", NULL, -EISDIR, "lock: cannot open it: "},
		{"node-id", NULL, -EISDIR, "node-id: cannot read it: "},
		{"node-id", "node-id", -ELOOP, "node-id: cannot open it: "},
		{"node-id.new", NULL, -EISDIR, "node-id.new: cannot create it: "},
		{"term", NULL, -EISDIR, "term: cannot read it: "},
		{"term", "term", -ELOOP, "term: cannot open it: "}};
	for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		assert_true(mkdir(inner, 0700) == 0);
		if (bad[i].target)
			assert_int_equal(symlink(bad[i].target, file(bad[i].name)), 0);
		else
			assert_int_equal(mkdir(file(bad[i].name), 0700), 0);
		assert_int_equal(open_identity(), bad[i].error);
		assert_non_null(strstr(message, bad[i].said));
		assert_int_equal(id.lock_fd, -1);
		assert_int_equal(remove(file(bad[i].name)), 0);
		assert_int_equal(open_identity(), 0);
		identity_close(&id);
		clean(NULL);
	}
}

static void a_term_that_cannot_be_kept_is_not_obeyed(void **unused)
{
	assert_int_equal(open_identity(), 0);
	assert_int_equal(symlink("/dev/full", file("term.new")), 0);
	assert_int_equal(identity_store_term(&id, 9, message, sizeof message), -ENOSPC);
	assert_non_null(strstr(message, "term.new: cannot write it: No space left on device"));
	assert_int_equal(id.term, 0);
	identity_close(&id);
}

static void key_is_read_and_must_be_private(void **unused)
{
	uint8_t key_id;
	struct wire_key key;
	assert_int_equal(open_identity(), 0);
	identity_close(&id);
	write_file("node.key", "7:00112233445566778899aabbccddeeff\n", 0600);
	assert_int_equal(identity_read_key(path, &key_id, &key, message, sizeof message), 0);
	assert_int_equal(key_id, 7);
	assert_true(key.k[0] == 0x7766554433221100ull);
	write_file("node.key", "7:00112233445566778899aabbccddeeff\n", 0640);
	assert_int_equal(identity_read_key(path, &key_id, &key, message, sizeof message), -EPERM);
	assert_non_null(strstr(message, "chmod 600"));
	write_file("node.key", "7:0011", 0600);
	assert_int_equal(
		identity_read_key(path, &key_id, &key, message, sizeof message), -ERROR_CORRUPT);
	assert_non_null(strstr(message, "berth node key"));
	unlink(path);
	assert_int_equal(identity_read_key(path, &key_id, &key, message, sizeof message), -ENOENT);
	assert_int_equal(identity_read_key(inner, &key_id, &key, message, sizeof message), -EISDIR);
	assert_non_null(strstr(message, "cannot read the node's key: Is a directory"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(is_made_once_and_kept, clean),
		cmocka_unit_test_setup(two_agents_do_not_share_it, clean),
		cmocka_unit_test_setup(term_survives, clean),
		cmocka_unit_test_setup(damaged_files_are_named, clean),
		cmocka_unit_test(unusable_folder_is_named),
		cmocka_unit_test_setup(what_is_no_file_is_named, clean),
		cmocka_unit_test_setup(a_term_that_cannot_be_kept_is_not_obeyed, clean),
		cmocka_unit_test_setup(key_is_read_and_must_be_private, clean),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
