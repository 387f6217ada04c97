// A keyring on its way: it opens as it was with the secret of its number, and nothing else opens.
#include "state/base/memory.h"
#include "tools/keyring/keyring_share.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NUMBER = 3 };

static const uint8_t secret[KEYRING_SECRET_BYTES] = "a secret that all members have";

static void fill_keys(struct keyring_keys *keys, uint32_t count)
{
	*keys = (struct keyring_keys){.count = count};
	for (uint32_t i = 0; i < count; i++) {
		memset(keys->keys[i].bytes, (int)(i + 1), KEYRING_KEY_BYTES);
		keys->keys[i].create_time_ns = i % 3 ? (int64_t)i << 40 : -1;
		keys->keys[i].is_retired = i % 2;
	}
}

static size_t seal(
	struct keyring_keys *keys, uint32_t count, uint8_t sealed[static KEYRING_SHARE_BYTES_MAX])
{
	fill_keys(keys, count);
	return keyring_share_seal(keys, NUMBER, secret, sealed);
}

static void keys_come_as_they_were(void **unused)
{
	static const uint32_t counts[] = {0, 1, 2, KEYRING_KEYS_MAX};
	uint8_t sealed[KEYRING_SHARE_BYTES_MAX], again[KEYRING_SHARE_BYTES_MAX];
	struct keyring_keys keys, opened;

	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
		size_t size = seal(&keys, counts[i], sealed);
		assert_int_equal(keyring_share_number(sealed, size), NUMBER);
		memset(&opened, 0xff, sizeof opened);
		assert_true(keyring_share_open(sealed, size, secret, &opened));
		assert_int_equal(opened.count, counts[i]);
		for (uint32_t k = 0; k < counts[i]; k++) {
			const struct keyring_key *a = &keys.keys[k], *b = &opened.keys[k];
			assert_memory_equal(a->bytes, b->bytes, KEYRING_KEY_BYTES);
			assert_int_equal(a->create_time_ns, b->create_time_ns);
			assert_int_equal(a->is_retired, b->is_retired);
		}
		assert_int_equal(seal(&keys, counts[i], again), size);
		assert_memory_not_equal(sealed, again, size); // another nonce
	}
	assert_int_equal(seal(&keys, KEYRING_KEYS_MAX, sealed), KEYRING_SHARE_BYTES_MAX);
}

static void assert_closed(const uint8_t *sealed, size_t size, const uint8_t *with)
{
	struct keyring_keys opened;
	assert_false(keyring_share_open(sealed, size, with, &opened));
	assert_int_equal(opened.count, 0);
}

static void each_changed_byte_is_seen(void **unused)
{
	uint8_t sealed[KEYRING_SHARE_BYTES_MAX];
	struct keyring_keys keys;

	for (uint32_t count = 0; count <= 2; count++) {
		size_t size = seal(&keys, count, sealed);
		for (size_t i = 0; i < size; i++)
			for (uint8_t bit = 1; bit; bit = (uint8_t)(bit << 1)) {
				sealed[i] ^= bit;
				assert_closed(sealed, size, secret);
				sealed[i] ^= bit;
			}
	}
}

// In a block of its own, so that a reader beyond its end is caught.
static void each_cut_is_refused(void **unused)
{
	uint8_t sealed[KEYRING_SHARE_BYTES_MAX];
	struct keyring_keys keys;
	size_t size = seal(&keys, 3, sealed);

	for (size_t cut = 0; cut < size; cut++) {
		uint8_t *part = memory_take(cut ? cut : 1);
		memcpy(part, sealed, cut);
		assert_closed(part, cut, secret);
		free(part);
	}
}

static void what_is_longer_is_refused(void **unused)
{
	uint8_t sealed[KEYRING_SHARE_BYTES_MAX + 41] = {0};
	struct keyring_keys keys;
	size_t size = seal(&keys, KEYRING_KEYS_MAX, sealed);

	for (size_t more = 1; more <= 41; more++) {
		assert_int_equal(keyring_share_number(sealed, size + more), 0);
		assert_closed(sealed, size + more, secret);
	}
	size = seal(&keys, 1, sealed);
	assert_closed(sealed, size + 41, secret); // as if of one key more
}

static void another_secret_opens_nothing(void **unused)
{
	uint8_t sealed[KEYRING_SHARE_BYTES_MAX], other[KEYRING_SECRET_BYTES];
	struct keyring_keys keys;
	size_t size = seal(&keys, 2, sealed);

	for (uint32_t i = 0; i < KEYRING_SECRET_BYTES; i++) {
		memcpy(other, secret, sizeof other);
		other[i] ^= 1;
		assert_closed(sealed, size, other);
	}
	sealed[0] = NUMBER + 1; // the right secret under another number
	assert_closed(sealed, size, secret);
	sealed[0] = 0;
	assert_int_equal(keyring_share_number(sealed, size), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_come_as_they_were),
		cmocka_unit_test(each_changed_byte_is_seen),
		cmocka_unit_test(each_cut_is_refused),
		cmocka_unit_test(what_is_longer_is_refused),
		cmocka_unit_test(another_secret_opens_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
