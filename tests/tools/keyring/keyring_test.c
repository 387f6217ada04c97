// What is sealed opens with its key, under its name, as it was; and not otherwise.
#include "state/base/base64.h"
#include "state/base/memory.h"
#include "state/base/prng.h"
#include "tools/keyring/keyring.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { NONCE_BYTES = 24, TAG_BYTES = 16 };

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

static bool opens_as(struct keyring *k, const char *name, const struct uuid *key,
	const char *sealed, const char *expected)
{
	uint8_t *plain;
	size_t size;
	if (keyring_unseal(k, text_of(name), key, sealed, &plain, &size) != KEYRING_OPENED) {
		assert_null(plain);
		return false;
	}
	bool same = size == strlen(expected) && memcmp(plain, expected, size) == 0;
	free(plain);
	assert_true(same);
	return true;
}

static char *seal(struct keyring *k, const char *name, const char *text, struct uuid *key)
{
	return keyring_seal(k, text_of(name), text, strlen(text), key);
}

static void what_is_sealed_opens(void **unused)
{
	static const char *const texts[] = {"", "x", "a secret of some length"};
	struct keyring *k = keyring_create();
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct uuid key;
		char *sealed = seal(k, "default.a", texts[i], &key);
		assert_true(opens_as(k, "default.a", &key, sealed, texts[i]));
		assert_int_equal(
			strlen(sealed), (NONCE_BYTES + TAG_BYTES + strlen(texts[i]) + 2) / 3 * 4);
		free(sealed);
	}
	assert_int_equal(keyring_count(k, KEYRING_TAMPERED), 0);
	keyring_destroy(k);
}

static void it_opens_under_no_other_name(void **unused)
{
	static const char *const others[] = {
		"default.b", "default.a/", "team.a", "default", "", "default.aa", "Default.a"};
	struct keyring *k = keyring_create();
	struct uuid key;
	char *sealed = seal(k, "default.a", "secret", &key);
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		assert_false(opens_as(k, others[i], &key, sealed, ""));
	assert_int_equal(keyring_count(k, KEYRING_TAMPERED), sizeof others / sizeof others[0]);
	assert_true(opens_as(k, "default.a", &key, sealed, "secret"));
	free(sealed);
	keyring_destroy(k);
}

// Every byte, every bit: nonce, content and tag.
static void one_changed_bit_is_seen(void **unused)
{
	struct keyring *k = keyring_create();
	struct uuid key;
	char *sealed = seal(k, "default.a", "secret", &key);
	uint8_t bytes[128];
	size_t size;
	assert_true(base64_decode(sealed, strlen(sealed), bytes, &size));
	for (size_t bit = 0; bit < 8 * size; bit++) {
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		char *changed = base64_encode((struct text){(const char *)bytes, (uint32_t)size});
		assert_false(opens_as(k, "default.a", &key, changed, ""));
		free(changed);
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	assert_int_equal(keyring_count(k, KEYRING_TAMPERED), 8 * size);
	free(sealed);
	keyring_destroy(k);
}

static void what_is_no_seal_is_refused(void **unused)
{
	static const char *const texts[] = {"", "x", "====", "!!!!",
		"c2hvcnQ=", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"};
	struct keyring *k = keyring_create();
	struct keyring_entry keys[KEYRING_KEYS_MAX];
	assert_int_equal(keyring_list(k, keys), 1);
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		assert_false(opens_as(k, "default.a", &keys[0].id, texts[i], ""));
	keyring_destroy(k);
}

static int text_order(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

// The same text under the same name and key is never the same twice, and neither is the nonce that it begins with.
static void no_nonce_comes_twice(void **unused)
{
	enum { TIMES = 20000 };
	struct keyring *k = keyring_create();
	char **all = memory_take_array(TIMES, sizeof *all);
	struct uuid key;
	for (uint32_t i = 0; i < TIMES; i++) {
		all[i] = seal(k, "default.a", "secret", &key);
		all[i][NONCE_BYTES / 3 * 4] = '\0';
	}
	qsort(all, TIMES, sizeof *all, text_order);
	for (uint32_t i = 1; i < TIMES; i++)
		assert_int_not_equal(strcmp(all[i - 1], all[i]), 0);
	for (uint32_t i = 0; i < TIMES; i++)
		free(all[i]);
	free(all);
	keyring_destroy(k);
}

static void the_newest_key_seals_and_all_open(void **unused)
{
	struct keyring *k = keyring_open(path, true, message, sizeof message);
	struct keyring_entry entry, keys[KEYRING_KEYS_MAX];
	struct uuid first, second;
	assert_non_null(k);
	char *old = seal(k, "default.a", "old", &first);
	assert_true(keyring_rotate(k, 5, false, &entry, message, sizeof message));
	char *new = seal(k, "default.a", "new", &second);
	assert_true(uuid_equal(&second, &entry.id) && !uuid_equal(&first, &second));
	assert_true(opens_as(k, "default.a", &first, old, "old"));
	assert_true(opens_as(k, "default.a", &second, new, "new"));
	assert_false(opens_as(k, "default.a", &second, old, "")); // the right name, another key
	keyring_destroy(k);
	// The file has both.
	k = keyring_open(path, false, message, sizeof message);
	assert_int_equal(keyring_list(k, keys), 2);
	assert_true(uuid_equal(&keys[0].id, &second) && uuid_equal(&keys[1].id, &first));
	assert_int_equal(keys[0].create_time_ns, 5);
	assert_true(opens_as(k, "default.a", &first, old, "old"));
	free(old);
	free(new);
	keyring_destroy(k);
	assert_int_equal(unlink(path), 0);
}

static bool never_used(void *unused, const struct uuid *id)
{
	return false;
}

static bool always_used(void *unused, const struct uuid *id)
{
	return true;
}

static void a_key_is_forgotten_when_nothing_needs_it(void **unused)
{
	struct keyring *k = keyring_open(path, true, message, sizeof message);
	struct keyring_entry entry;
	struct uuid key, stranger = {{9}};
	char *sealed = seal(k, "default.a", "secret", &key);
	assert_false(keyring_forget(k, &key, never_used, NULL, message, sizeof message));
	assert_string_equal(message, "active root key cannot be deleted - call rotate first");
	assert_true(keyring_rotate(k, 5, false, &entry, message, sizeof message));
	assert_false(keyring_forget(k, &key, always_used, NULL, message, sizeof message));
	assert_true(keyring_has(k, &key));
	assert_true(keyring_forget(k, &key, never_used, NULL, message, sizeof message));
	assert_false(keyring_has(k, &key));
	assert_true(keyring_forget(k, &stranger, always_used, NULL, message, sizeof message));
	assert_false(opens_as(k, "default.a", &key, sealed, ""));
	assert_int_equal(keyring_count(k, KEYRING_NO_KEY), 1);
	keyring_destroy(k);
	k = keyring_open(path, false, message, sizeof message);
	assert_true(!keyring_has(k, &key) && keyring_has(k, &entry.id));
	free(sealed);
	keyring_destroy(k);
	assert_int_equal(unlink(path), 0);
}

static void keys_are_retired(void **unused)
{
	struct keyring *k = keyring_open(path, true, message, sizeof message);
	struct keyring_entry entry, keys[KEYRING_KEYS_MAX];
	assert_true(keyring_rotate(k, 5, true, &entry, message, sizeof message));
	assert_false(entry.is_retired);
	assert_true(keyring_rotate(k, 6, false, &entry, message, sizeof message));
	keyring_destroy(k);
	// The file says so.
	k = keyring_open(path, false, message, sizeof message);
	assert_int_equal(keyring_list(k, keys), 3);
	assert_true(!keys[0].is_retired && !keys[1].is_retired && keys[2].is_retired);
	assert_true(keyring_rotate(k, 7, true, &entry, message, sizeof message));
	assert_int_equal(keyring_list(k, keys), 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(keys[i].is_retired, i > 0);
	keyring_destroy(k);
	assert_int_equal(unlink(path), 0);
}

static void a_key_that_is_held_stays(void **unused)
{
	struct keyring *k = keyring_create();
	struct keyring_entry old[KEYRING_KEYS_MAX], entry;
	assert_int_equal(keyring_list(k, old), 1);
	assert_true(keyring_hold(k, &old[0].id));
	assert_true(keyring_rotate(k, 5, false, &entry, message, sizeof message));
	assert_false(keyring_forget(k, &old[0].id, never_used, NULL, message, sizeof message));
	assert_non_null(strstr(message, "still encrypts"));
	assert_true(keyring_hold(k, NULL));
	assert_true(keyring_forget(k, &old[0].id, never_used, NULL, message, sizeof message));
	assert_false(keyring_hold(k, &old[0].id));
	keyring_destroy(k);
}

static void there_is_an_end_of_keys(void **unused)
{
	struct keyring *k = keyring_create();
	struct keyring_entry entry, keys[KEYRING_KEYS_MAX];
	for (uint32_t i = 1; i < KEYRING_KEYS_MAX; i++)
		assert_true(keyring_rotate(k, i, false, &entry, message, sizeof message));
	assert_false(keyring_rotate(k, 1000, false, &entry, message, sizeof message));
	assert_non_null(strstr(message, "the most that it may have"));
	assert_int_equal(keyring_list(k, keys), KEYRING_KEYS_MAX);
	keyring_destroy(k);
}

static void a_lost_file_is_told_and_not_made_anew(void **unused)
{
	struct keyring_entry keys[KEYRING_KEYS_MAX], entry;
	struct uuid key;
	struct keyring *k = keyring_open(path, false, message, sizeof message);
	assert_non_null(k);
	assert_non_null(strstr(message, "No such file"));
	assert_int_equal(keyring_list(k, keys), 0);
	assert_null(seal(k, "default.a", "secret", &key));
	assert_int_not_equal(access(path, F_OK), 0);
	// An operator begins anew.
	assert_true(keyring_rotate(k, 1, false, &entry, message, sizeof message));
	char *sealed = seal(k, "default.a", "secret", &key);
	assert_true(opens_as(k, "default.a", &key, sealed, "secret"));
	free(sealed);
	keyring_destroy(k);
	assert_int_equal(unlink(path), 0);
}

static void a_rotation_that_cannot_be_written_changes_nothing(void **unused)
{
	char lost[128];
	struct keyring_entry entry;
	snprintf(lost, sizeof lost, "%s/nosuch/keyring", folder);
	assert_null(keyring_open(lost, true, message, sizeof message));
	struct keyring *k = keyring_open(lost, false, message, sizeof message);
	assert_non_null(k);
	assert_false(keyring_rotate(k, 1, false, &entry, message, sizeof message));
	assert_non_null(strstr(message, "nosuch/keyring"));
	struct keyring_entry keys[KEYRING_KEYS_MAX];
	assert_int_equal(keyring_list(k, keys), 0);
	keyring_destroy(k);
}

static bool verifies(struct keyring *k, const char *text, const struct keyring_signature *signature)
{
	return keyring_verify(k, text_of(text), signature);
}

static void signatures_hold_as_long_as_their_key(void **unused)
{
	struct keyring_entry before[KEYRING_KEYS_MAX], made;
	struct keyring_signature old, new, other;
	struct keyring *k = keyring_create(), *another = keyring_create();
	assert_true(keyring_sign(k, TEXT("who"), &old));
	assert_true(keyring_sign(another, TEXT("who"), &other));
	assert_true(verifies(k, "who", &old));
	assert_false(verifies(k, "whom", &old));
	assert_false(verifies(k, "", &old));
	assert_false(verifies(k, "who", &other));
	for (uint32_t i = 0; i < KEYRING_SIGNATURE_BYTES; i++) {
		struct keyring_signature bent = old;
		bent.bytes[i] ^= 1;
		assert_false(verifies(k, "who", &bent));
	}
	assert_int_equal(keyring_list(k, before), 1);
	assert_true(keyring_rotate(k, 5, false, &made, message, sizeof message));
	assert_true(keyring_sign(k, TEXT("who"), &new));
	assert_memory_not_equal(&old, &new, sizeof old);
	assert_true(verifies(k, "who", &old));
	assert_true(verifies(k, "who", &new));
	assert_true(keyring_forget(k, &before[0].id, never_used, NULL, message, sizeof message));
	assert_false(verifies(k, "who", &old));
	assert_true(verifies(k, "who", &new));
	keyring_destroy(k);
	keyring_destroy(another);
}

// What the file has: a signature outlives the process. Without a key nothing is signed.
static void signatures_outlive_the_keyring(void **unused)
{
	struct keyring_signature signature, again;
	struct keyring *k = keyring_open(path, false, message, sizeof message);
	assert_non_null(k);
	assert_false(keyring_sign(k, TEXT("who"), &signature));
	keyring_destroy(k);
	assert_non_null(strstr(message, "No such file"));
	k = keyring_open(path, true, message, sizeof message);
	assert_string_equal(message, "");
	assert_true(keyring_sign(k, TEXT("who"), &signature));
	keyring_destroy(k);
	snprintf(message, sizeof message, "?");
	k = keyring_open(path, true, message, sizeof message);
	assert_string_equal(message, "");
	assert_true(verifies(k, "who", &signature));
	assert_true(keyring_sign(k, TEXT("who"), &again));
	assert_memory_equal(&signature, &again, sizeof again);
	keyring_destroy(k);
}

static ino_t file_number(void)
{
	struct stat status;
	assert_int_equal(stat(path, &status), 0);
	return status.st_ino;
}

static void assert_same_entries(
	const struct keyring_entry *a, const struct keyring_entry *b, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		assert_true(uuid_equal(&a[i].id, &b[i].id));
		assert_int_equal(a[i].create_time_ns, b[i].create_time_ns);
		assert_int_equal(a[i].is_retired, b[i].is_retired);
	}
}

// As a follower takes the leader's: what is the same is not written again.
static void keys_of_another_are_adopted(void **unused)
{
	struct keyring *leader = keyring_create();
	struct keyring *k = keyring_open(path, true, message, sizeof message);
	struct keyring_entry entry, theirs[KEYRING_KEYS_MAX], own[KEYRING_KEYS_MAX];
	struct keyring_keys keys;
	struct uuid key;
	assert_true(keyring_rotate(leader, 5, true, &entry, message, sizeof message));
	char *sealed = seal(leader, "default.a", "secret", &key);
	assert_false(opens_as(k, "default.a", &key, sealed, ""));
	uint64_t changes = keyring_changes(k);
	ino_t file = file_number();
	keyring_copy(leader, &keys);
	assert_true(keyring_adopt(k, &keys, message, sizeof message));
	assert_true(opens_as(k, "default.a", &key, sealed, "secret"));
	assert_int_equal(keyring_changes(k), changes + 1);
	ino_t adopted = file_number();
	assert_true(adopted != file);
	assert_true(keyring_adopt(k, &keys, message, sizeof message));
	assert_int_equal(keyring_changes(k), changes + 1);
	assert_true(file_number() == adopted);
	keyring_destroy(k);
	k = keyring_open(path, false, message, sizeof message); // the file has them
	assert_int_equal(keyring_list(k, own), keyring_list(leader, theirs));
	assert_same_entries(own, theirs, 2);
	assert_true(keyring_adopt(k, &keys, message, sizeof message));
	assert_true(file_number() == adopted);
	free(sealed);
	keyring_destroy(k);
	keyring_destroy(leader);
	assert_int_equal(unlink(path), 0);
}

// Nothing of it is left, and who has the rest already does not write it again.
static void what_was_forgotten_is_not_copied(void **unused)
{
	static const uint8_t zeros[KEYRING_KEY_BYTES];
	struct keyring *k = keyring_open(path, true, message, sizeof message);
	struct keyring_entry old[KEYRING_KEYS_MAX], entry;
	struct keyring_keys keys, clean = {.count = 1};
	assert_int_equal(keyring_list(k, old), 1);
	assert_true(keyring_rotate(k, 5, false, &entry, message, sizeof message));
	assert_true(keyring_forget(k, &old[0].id, never_used, NULL, message, sizeof message));
	keyring_copy(k, &keys);
	assert_int_equal(keys.count, 1);
	assert_memory_equal(keys.keys[1].bytes, zeros, sizeof zeros);
	clean.keys[0] = keys.keys[0];
	ino_t file = file_number();
	assert_true(keyring_adopt(k, &clean, message, sizeof message));
	assert_true(file_number() == file);
	keyring_destroy(k);
	assert_int_equal(unlink(path), 0);
}

static bool refuse_to_publish(
	void *context, const struct keyring_keys *keys, char *why, uint32_t size)
{
	*(uint32_t *)context += keys->count;
	snprintf(why, size, "nobody listens");
	return false;
}

// Others have to know a key before anything is sealed with it.
static void what_cannot_be_published_changes_nothing(void **unused)
{
	struct keyring *k = keyring_open(path, true, message, sizeof message);
	struct keyring_entry before[KEYRING_KEYS_MAX], after[KEYRING_KEYS_MAX], entry;
	uint32_t told = 0;
	assert_true(keyring_rotate(k, 5, false, &entry, message, sizeof message));
	assert_int_equal(keyring_list(k, before), 2);
	uint64_t changes = keyring_changes(k);
	ino_t file = file_number();
	keyring_publish_to(k, refuse_to_publish, &told);
	assert_false(keyring_rotate(k, 6, true, &entry, message, sizeof message));
	assert_string_equal(message, "nobody listens");
	assert_int_equal(told, 3);
	assert_false(keyring_forget(k, &before[1].id, never_used, NULL, message, sizeof message));
	assert_int_equal(told, 3 + 1);
	assert_int_equal(keyring_list(k, after), 2);
	assert_same_entries(before, after, 2);
	assert_int_equal(keyring_changes(k), changes);
	assert_true(file_number() == file);
	keyring_destroy(k);
	assert_int_equal(unlink(path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_sealed_opens),
		cmocka_unit_test(it_opens_under_no_other_name),
		cmocka_unit_test(one_changed_bit_is_seen),
		cmocka_unit_test(what_is_no_seal_is_refused),
		cmocka_unit_test(no_nonce_comes_twice),
		cmocka_unit_test(the_newest_key_seals_and_all_open),
		cmocka_unit_test(a_key_is_forgotten_when_nothing_needs_it),
		cmocka_unit_test(keys_are_retired),
		cmocka_unit_test(a_key_that_is_held_stays),
		cmocka_unit_test(there_is_an_end_of_keys),
		cmocka_unit_test(a_lost_file_is_told_and_not_made_anew),
		cmocka_unit_test(a_rotation_that_cannot_be_written_changes_nothing),
		cmocka_unit_test(signatures_hold_as_long_as_their_key),
		cmocka_unit_test(signatures_outlive_the_keyring),
		cmocka_unit_test(keys_of_another_are_adopted),
		cmocka_unit_test(what_was_forgotten_is_not_copied),
		cmocka_unit_test(what_cannot_be_published_changes_nothing),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
