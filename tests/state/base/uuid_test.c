#include "state/base/prng.h"
#include "state/base/uuid.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const char sample[] = "00112233-4455-6677-8899-aabbccddeeff";

static void bytes_are_in_text_order(void **unused)
{
	struct uuid id;
	assert_true(uuid_parse(sample, &id));
	for (int i = 0; i < 16; i++)
		assert_int_equal(id.bytes[i], i * 0x11);
	char text[UUID_TEXT_BYTES];
	assert_ptr_equal(uuid_format(&id, text), text);
	assert_string_equal(text, sample);
	struct uuid upper;
	assert_true(uuid_parse("00112233-4455-6677-8899-AABBCCDDEEFF", &upper));
	assert_true(uuid_equal(&id, &upper));
}

static void anything_else_is_refused(void **unused)
{
	static const char *const wrong[] = {
		"",
		"0",
		"00112233",
		"00112233-4455-6677-8899-aabbccddeef",
		"00112233-4455-6677-8899-aabbccddeeff0",
		"00112233-4455-6677-8899-aabbccddeeff ",
		"00112233-4455-6677-8899aabbccddeeff-",
		"0011223-34455-6677-8899-aabbccddeeff",
		"00112233445566778899aabbccddeeff",
		"{00112233-4455-6677-8899-aabbccddeeff}",
		"00112233-4455-6677-8899-aabbccddeefg",
		"00112233-4455-6677-8899-aabbccddee:f",
		"00112233_4455-6677-8899-aabbccddeeff",
		" 00112233-4455-6677-8899-aabbccddeeff",
	};
	struct uuid id = {{42}};
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		if (uuid_parse(wrong[i], &id))
			fail_msg("accepted '%s'", wrong[i]);
	// A refusal leaves the result alone.
	assert_int_equal(id.bytes[0], 42);
	// Every character matters: another letter in any place is refused.
	for (size_t i = 0; i < sizeof sample - 1; i++) {
		char text[UUID_TEXT_BYTES];
		memcpy(text, sample, sizeof sample);
		text[i] = 'x';
		assert_false(uuid_parse(text, &id));
	}
}

static void random_ids_come_back_ordered_and_hashed(void **unused)
{
	struct prng prng;
	prng_seed(&prng, 8);
	uint32_t buckets[256] = {0};
	for (int i = 0; i < 25600; i++) {
		struct uuid a = prng_uuid(&prng), b = prng_uuid(&prng), back;
		char at[UUID_TEXT_BYTES], bt[UUID_TEXT_BYTES];
		assert_true(uuid_parse(uuid_format(&a, at), &back));
		assert_true(uuid_equal(&a, &back));
		assert_int_equal(uuid_compare(&a, &b) < 0, strcmp(at, uuid_format(&b, bt)) < 0);
		assert_true(uuid_hash(&a) == uuid_hash(&back));
		buckets[uuid_hash(&a) & 255]++;
	}
	for (int i = 0; i < 256; i++)
		assert_in_range(buckets[i], 30, 200);
	assert_true(uuid_is_zero(&(struct uuid){0}));
	assert_false(uuid_is_zero(&(struct uuid){{[15] = 1}}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_in_text_order),
		cmocka_unit_test(anything_else_is_refused),
		cmocka_unit_test(random_ids_come_back_ordered_and_hashed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
