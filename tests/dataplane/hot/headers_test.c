// The checksum in wide words against the plain one, with words that carry all the way.
#include "dataplane/hot/headers.h"
#include "state/base/prng.h"
#include "tests/dataplane/hot/packets.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

// Of memory order, as the packet path stores it.
static uint16_t wide_checksum(struct checksum_sum start, const uint8_t *data, uint32_t size)
{
	uint8_t stored[2];
	word16_put(stored, (uint16_t)~checksum_fold(checksum_add(start, data, size)));
	return net16(stored);
}

static void wide_sums_are_plain_sums(void **state)
{
	struct prng prng;
	uint8_t data[200];
	prng_seed(&prng, 3);
	for (uint32_t round = 0; round < 20000; round++) {
		uint32_t size = (uint32_t)prng_below(&prng, sizeof data + 1);
		uint32_t ones = (uint32_t)prng_below(&prng, 101);
		for (uint32_t i = 0; i < size; i++)
			data[i] = prng_below(&prng, 100) < ones ? 0xff : (uint8_t)prng_u64(&prng);
		uint16_t plain = naive_checksum(0, data, size);
		uint16_t wide = wide_checksum((struct checksum_sum){0}, data, size);
		assert_int_equal(wide, plain);
	}
}

static void carries_of_the_carries_are_kept(void **state)
{
	struct checksum_sum sums[] = {{UINT64_MAX, 0}, {UINT64_MAX, 1}, {UINT64_MAX, 2},
		{UINT64_MAX - 1, 1}, {UINT64_MAX - 1, 2}, {UINT64_MAX << 32, 1}, {0, 1}, {1, 0},
		{0xffff0000ffff0000, 7}};
	for (uint32_t i = 0; i < sizeof sums / sizeof sums[0]; i++) {
		// 65536 is 1, four times over: so is each carry.
		uint64_t left = sums[i].carries;
		for (uint32_t shift = 0; shift < 64; shift += 16)
			left += sums[i].low >> shift & 0xffff;
		while (left > 0xffff)
			left -= 0xffff;
		assert_int_equal(checksum_fold(sums[i]), left);
	}
}

static void fields_are_read_and_written_in_their_order(void **state)
{
	uint8_t data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	assert_int_equal(net16(data), 0x0102);
	assert_int_equal(word32(data), 0x04030201);
	assert_true(word64(data) == 0x0807060504030201ull);
	assert_int_equal(swapped16(0x0102), 0x0201);
	assert_true(mac_at(data) == 0x060504030201ull);
	assert_true(mac_is_group(mac_at(data)));
	word64_put(data, 0x1122334455667788ull);
	assert_int_equal(data[0], 0x88);
	word32_put(data, 0x01020304);
	assert_int_equal(data[0], 4);
	assert_int_equal(data[4], 0x44);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wide_sums_are_plain_sums),
		cmocka_unit_test(carries_of_the_carries_are_kept),
		cmocka_unit_test(fields_are_read_and_written_in_their_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
