// Whatever the system refuses to who makes, turns and reads master keys: it is said, the file is whole, and no key that
// was in it is lost.
#include "dataplane/wire/auth.h"
#include "state/base/check.h"
#include "tests/failpoints/call_walk.h"
#include "tools/keyring/keyring_file.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct key_life {
	char folder[32], path[64], beside[80];
	struct master_keys known; // that were read
	uint32_t written;         // keyrings
};

static char message[256];

static void *prepare_keys(const struct walk_row *unused)
{
	struct key_life *l = walk_shared(sizeof *l);

	snprintf(l->folder, sizeof l->folder, "/tmp/berth-keys-XXXXXX");
	assert_non_null(mkdtemp(l->folder));
	snprintf(l->path, sizeof l->path, "%s/master.key", l->folder);
	snprintf(l->beside, sizeof l->beside, "%s.new", l->path);
	return l;
}

static void clear_keys(void *shared)
{
	struct key_life *l = shared;

	unlink(l->path);
	unlink(l->beside);
	assert_int_equal(rmdir(l->folder), 0);
	assert_int_equal(munmap(l, sizeof *l), 0);
}

static bool is_read(const struct key_life *l, struct master_keys *keys)
{
	return master_keys_load(l->path, keys, message, sizeof message) == 0;
}

static bool make_turn_and_read(struct key_life *l)
{
	return master_keys_generate(l->path, false, message, sizeof message) == 0 &&
	       is_read(l, &l->known) &&
	       master_keys_generate(l->path, true, message, sizeof message) == 0 &&
	       is_read(l, &l->known);
}

static bool work_with_keys(void *shared)
{
	uint32_t descriptors = walk_descriptors();
	bool is_done = make_turn_and_read(shared);

	walk_said(is_done ? "" : message);
	CHECK(walk_descriptors() == descriptors);
	return is_done;
}

static bool has_key(const struct master_keys *keys, const uint8_t *bytes)
{
	for (uint32_t i = 0; i < keys->count; i++)
		if (memcmp(keys->keys[i].bytes, bytes, MASTER_KEY_BYTES) == 0)
			return true;
	return false;
}

// Twice: what is there can be turned again.
static void look_at_keys(void *shared)
{
	struct key_life *l = shared;
	struct master_keys now = {0};
	struct stat found;

	CHECK(access(l->beside, F_OK) != 0);
	bool is_there = stat(l->path, &found) == 0;
	CHECK(is_there || l->known.count == 0);
	CHECK(!is_there || (found.st_mode & 0777) == 0600);
	for (uint32_t turn = 0; turn < 2; turn++) {
		if (is_there)
			CHECK(is_read(l, &now));
		for (uint32_t i = 0; i < l->known.count; i++)
			CHECK(has_key(&now, l->known.keys[i].bytes));
		CHECK(master_keys_generate(l->path, is_there, message, sizeof message) == 0);
		is_there = true;
	}
}

static void whatever_fails_no_key_is_lost(void **unused)
{
	const struct walk w = {NULL, 0, prepare_keys, work_with_keys, look_at_keys, clear_keys};
	const struct call_walk_excuses none = {NULL, NULL};

	walk_calls(&w, &none);
}

// The first, and one that has another key.
static const struct keyring_keys keyrings[] = {{.count = 1, .keys = {{.bytes = {7}}}},
	{.count = 2, .keys = {{.bytes = {8}}, {.bytes = {7}}}}};

static bool work_with_keyring(void *shared)
{
	struct key_life *l = shared;
	struct keyring_keys read;
	uint32_t descriptors = walk_descriptors();
	while (l->written < 2 &&
		keyring_file_write(l->path, &keyrings[l->written], message, sizeof message))
		l->written++;
	bool is_done =
		l->written == 2 && keyring_file_read(l->path, &read, message, sizeof message) == 0;

	walk_said(is_done ? "" : message);
	CHECK(walk_descriptors() == descriptors);
	return is_done;
}

static bool has_keyring(const struct key_life *l, const struct keyring_keys *expected)
{
	struct keyring_keys read;

	return keyring_file_read(l->path, &read, message, sizeof message) == 0 &&
	       memcmp(&read, expected, sizeof read) == 0;
}

// What was written last is there, and nothing that was not; of the first it may be. It can be written again.
static void look_at_keyring(void *shared)
{
	const struct key_life *l = shared;

	if (l->written > 0 || access(l->path, F_OK) == 0)
		CHECK(has_keyring(l, &keyrings[l->written > 0 ? l->written - 1 : 0]));
	CHECK(keyring_file_write(l->path, &keyrings[1], message, sizeof message));
	CHECK(has_keyring(l, &keyrings[1]));
	CHECK(access(l->beside, F_OK) != 0);
}

static void whatever_fails_the_keyring_is_whole(void **unused)
{
	const struct walk w = {
		NULL, 0, prepare_keys, work_with_keyring, look_at_keyring, clear_keys};
	const struct call_walk_excuses none = {NULL, NULL};

	walk_calls(&w, &none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_fails_no_key_is_lost),
		cmocka_unit_test(whatever_fails_the_keyring_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
