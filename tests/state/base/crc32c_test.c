// Published check values, and the table against the processor.
#include "state/base/crc32c.h"
#include "state/base/prng.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

typedef uint32_t crc_function(uint32_t, const void *, size_t);
static crc_function *const functions[] = {crc32c, crc32c_portable};

// RFC 3720, appendix B.4, and the check value of the catalogue of parametrised CRCs.
static void published_values(void **unused)
{
	uint8_t zeros[32] = {0}, ones[32], rising[32], falling[32];
	for (int i = 0; i < 32; i++) {
		ones[i] = 0xff;
		rising[i] = (uint8_t)i;
		falling[i] = (uint8_t)(31 - i);
	}
	for (int f = 0; f < 2; f++) {
		assert_int_equal(functions[f](0, "123456789", 9), 0xe3069283);
		assert_int_equal(functions[f](0, zeros, 32), 0x8a9136aa);
		assert_int_equal(functions[f](0, ones, 32), 0x62a8ab43);
		assert_int_equal(functions[f](0, rising, 32), 0x46dd794e);
		assert_int_equal(functions[f](0, falling, 32), 0x113fdb5c);
		assert_int_equal(functions[f](0, "", 0), 0);
	}
}

static void pieces_give_what_the_whole_gives(void **unused)
{
	uint8_t data[4000];
	struct prng prng;
	prng_seed(&prng, 5);
	for (size_t i = 0; i < sizeof data; i++)
		data[i] = (uint8_t)prng_u64(&prng);
	for (int round = 0; round < 2000; round++) {
		size_t from = prng_below(&prng, 16), size = prng_below(&prng, sizeof data - 16);
		size_t cut = prng_below(&prng, size + 1);
		uint32_t whole = crc32c_portable(0, data + from, size);
		assert_int_equal(crc32c(0, data + from, size), whole);
		uint32_t first = crc32c(0, data + from, cut);
		assert_int_equal(crc32c(first, data + from + cut, size - cut), whole);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_values),
		cmocka_unit_test(pieces_give_what_the_whole_gives),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
