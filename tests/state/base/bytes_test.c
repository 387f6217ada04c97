// What is written is read back; what does not fit or is missing turns everything after it into
// nothing.
#include "state/base/bytes.h"
#include "state/base/prng.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void numbers_are_little_endian(void **unused)
{
	uint8_t memory[15];
	static const uint8_t expected[15] = {
		0x01, 0x03, 0x02, 0x07, 0x06, 0x05, 0x04, 8, 7, 6, 5, 4, 3, 2, 1};
	struct bytes_writer w = bytes_writer_over(memory, sizeof memory);
	bytes_put_u8(&w, 1);
	bytes_put_u16(&w, 0x0203);
	bytes_put_u32(&w, 0x04050607);
	bytes_put_u64(&w, 0x0102030405060708);
	assert_false(w.failed);
	assert_int_equal(w.size, sizeof expected);
	assert_memory_equal(memory, expected, sizeof expected);

	struct bytes_reader r = bytes_reader_over(memory, sizeof memory);
	assert_int_equal(bytes_take_u8(&r), 1);
	assert_int_equal(bytes_take_u16(&r), 0x0203);
	assert_int_equal(bytes_take_u32(&r), 0x04050607);
	assert_int_equal(bytes_take_u64(&r), 0x0102030405060708);
	assert_false(r.failed);
	assert_int_equal(bytes_left(&r), 0);
}

static void doubles_uuids_and_zeros_come_back(void **unused)
{
	struct prng prng;
	prng_seed(&prng, 3);
	struct uuid id = prng_uuid(&prng);
	struct bytes_writer w = bytes_writer_growing(0);
	bytes_put_f64(&w, -1.5e300);
	bytes_put_uuid(&w, &id);
	bytes_put_zeros(&w, 3);
	bytes_put(&w, NULL, 0);
	struct bytes_reader r = bytes_reader_over(w.data, w.size);
	assert_true(bytes_take_f64(&r) == -1.5e300);
	struct uuid back = bytes_take_uuid(&r);
	assert_true(uuid_equal(&id, &back));
	static const uint8_t zeros[3];
	assert_memory_equal(bytes_take(&r, 3), zeros, 3);
	assert_int_equal(bytes_left(&r), 0);
	assert_false(r.failed);
	bytes_writer_free(&w);
	assert_null(w.data);
}

static void a_full_writer_stays_failed_and_unchanged(void **unused)
{
	uint8_t memory[5] = {9, 9, 9, 9, 9};
	struct bytes_writer w = bytes_writer_over(memory, 4);
	bytes_put_u16(&w, 0);
	bytes_put_u32(&w, 1);
	assert_true(w.failed);
	bytes_put_u8(&w, 7);
	assert_int_equal(w.size, 2);
	assert_int_equal(memory[2], 9);
	assert_int_equal(memory[4], 9);
}

static void an_empty_reader_gives_zeros(void **unused)
{
	static const uint8_t data[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	struct bytes_reader r = bytes_reader_over(data, sizeof data);
	assert_int_equal(bytes_take_u64(&r), 0);
	assert_true(r.failed);
	assert_int_equal(bytes_take_u8(&r), 0);
	assert_null(bytes_take(&r, 0));
	struct uuid id = bytes_take_uuid(&r);
	assert_true(uuid_is_zero(&id));
	assert_int_equal(bytes_take_text8(&r).size, 0);
	assert_true(bytes_take_f64(&r) == 0);
	assert_int_equal(bytes_left(&r), 0);
}

static void texts_know_their_longest(void **unused)
{
	char *long_text = calloc(1, 65536);
	struct bytes_writer w = bytes_writer_growing(16);
	bytes_put_text8(&w, (struct text){long_text, 255});
	bytes_put_text16(&w, (struct text){long_text, 65535});
	bytes_put_text32(&w, (struct text){long_text, 65536});
	bytes_put_text8(&w, TEXT(""));
	assert_false(w.failed);
	struct bytes_reader r = bytes_reader_over(w.data, w.size);
	assert_int_equal(bytes_take_text8(&r).size, 255);
	assert_int_equal(bytes_take_text16(&r).size, 65535);
	assert_int_equal(bytes_take_text32(&r).size, 65536);
	assert_int_equal(bytes_take_text8(&r).size, 0);
	assert_false(r.failed);
	bytes_writer_free(&w);

	w = bytes_writer_growing(16);
	bytes_put_text8(&w, (struct text){long_text, 256});
	assert_true(w.failed);
	bytes_writer_free(&w);
	w = bytes_writer_growing(16);
	bytes_put_text16(&w, (struct text){long_text, 65536});
	assert_true(w.failed);
	bytes_writer_free(&w);
	free(long_text);
}

static void a_writer_gives_back_what_it_grew_by(void **unused)
{
	struct bytes_writer w = bytes_writer_growing(64);

	bytes_put_zeros(&w, 5000);
	bytes_writer_shrink(&w, 128);
	assert_int_equal(w.capacity, 128);
	assert_int_equal(w.size, 0);
	bytes_put_zeros(&w, 129);
	assert_int_equal(w.size, 129);
	assert_false(w.failed);
	bytes_writer_shrink(&w, 4096);
	assert_int_equal(w.capacity, 256);
	assert_int_equal(w.size, 0);
	bytes_writer_free(&w);
}

static void a_text_is_written_whole_or_not_at_all(void **unused)
{
	uint8_t memory[4];
	struct bytes_writer w = bytes_writer_over(memory, sizeof memory);
	bytes_put_text16(&w, TEXT("abc"));
	assert_true(w.failed);
	assert_int_equal(w.size, 0);

	static const uint8_t short_text[] = {3, 'a', 'b'};
	struct bytes_reader r = bytes_reader_over(short_text, sizeof short_text);
	assert_int_equal(bytes_take_text8(&r).size, 0);
	assert_true(r.failed);
}

// A reader over random bytes never looks outside them (the address sanitizer watches).
static void random_reads_stay_inside(void **unused)
{
	struct prng prng;
	prng_seed(&prng, 11);
	for (int round = 0; round < 2000; round++) {
		size_t size = prng_below(&prng, 64);
		uint8_t *data = malloc(size ? size : 1);
		for (size_t i = 0; i < size; i++)
			data[i] = (uint8_t)prng_below(&prng, 16);
		struct bytes_reader r = bytes_reader_over(data, size);
		uint32_t sum = 0;
		while (bytes_left(&r)) {
			struct text t =
				prng_below(&prng, 2) ? bytes_take_text8(&r) : bytes_take_text16(&r);
			for (uint32_t i = 0; i < t.size; i++)
				sum += (uint8_t)t.data[i];
			assert_true(r.at <= size);
		}
		assert_true(sum <= size * 16);
		free(data);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_little_endian),
		cmocka_unit_test(doubles_uuids_and_zeros_come_back),
		cmocka_unit_test(a_full_writer_stays_failed_and_unchanged),
		cmocka_unit_test(an_empty_reader_gives_zeros),
		cmocka_unit_test(texts_know_their_longest),
		cmocka_unit_test(a_writer_gives_back_what_it_grew_by),
		cmocka_unit_test(a_text_is_written_whole_or_not_at_all),
		cmocka_unit_test(random_reads_stay_inside),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
