// Compressed answers: who gets them, and that they say the same.
#include "state/base/memory.h"
#include "state/base/prng.h"
#include "tools/api/server/gzip.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

static void encodings_are_read_as_http_has_them(void **unused)
{
	static const struct {
		const char *text;
		bool taken;
	} cases[] = {
		{NULL, false},
		{"", false},
		{"gzip", true},
		{"GZip", true},
		{"x-gzip", true},
		{"deflate, gzip;q=1.0, *;q=0.5", true},
		{"br,gzip", true},
		{"gzip;q=0", false},
		{"gzip; q=0.0, *", false},
		{"gzip ; Q=0.001", true},
		{"*", true},
		{"*;q=0", false},
		{"identity", false},
		{"gzipped, agzip", false},
		{" , ,", false},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (gzip_is_accepted(cases[i].text) != cases[i].taken)
			fail_msg("%s", cases[i].text ? cases[i].text : "none");
}

// Like JSON on even runs, and like noise, which grows, on odd ones.
static char *text_of_run(struct prng *prng, int run, size_t size)
{
	char *text = memory_take(size + 1);
	for (size_t i = 0; i < size; i++)
		text[i] = run % 2 ? (char)prng_u64(prng) : "{\"ID\":12},"[prng_u64(prng) % 10];
	return text;
}

static void assert_unpacks(
	const unsigned char *packed, size_t packed_size, const char *text, size_t size)
{
	z_stream stream = {.next_in = (unsigned char *)packed, .avail_in = (uInt)packed_size};
	unsigned char *back = memory_take(size + 1);
	stream.next_out = back;
	stream.avail_out = (uInt)size + 1;
	assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.total_out, size);
	assert_int_equal(stream.avail_in, 0);
	assert_memory_equal(back, text, size);
	inflateEnd(&stream);
	free(back);
}

static void whole_texts_come_back(void **unused)
{
	struct prng prng;
	prng_seed(&prng, 7);
	for (int run = 0; run < 20; run++) {
		size_t size = prng_u64(&prng) % 100000, packed_size;
		char *text = text_of_run(&prng, run, size);
		unsigned char *packed = gzip_all(text, size, &packed_size);
		assert_non_null(packed);
		assert_unpacks(packed, packed_size, text, size);
		free(packed);
		free(text);
	}
}

static void pieces_come_back(void **unused)
{
	struct prng prng;
	prng_seed(&prng, 8);
	for (int run = 0; run < 20; run++) {
		size_t size = prng_u64(&prng) % 200000, sent = 0, packed_size = 0;
		char *text = text_of_run(&prng, run, size);
		unsigned char *packed = memory_take(size * 2 + 1000);
		struct gzip *gzip = gzip_create();
		do {
			size_t piece = prng_u64(&prng) % 40000, some;
			piece = piece < size - sent ? piece : size - sent;
			gzip_add(gzip, text + sent, piece, sent + piece == size);
			sent += piece;
			const unsigned char *bytes = gzip_bytes(gzip, &some);
			assert_true(packed_size + some <= size * 2 + 1000);
			if (some)
				memcpy(packed + packed_size, bytes, some);
			packed_size += some;
		} while (sent < size);
		gzip_free(gzip);
		assert_unpacks(packed, packed_size, text, size);
		free(packed);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(encodings_are_read_as_http_has_them),
		cmocka_unit_test(whole_texts_come_back),
		cmocka_unit_test(pieces_come_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
