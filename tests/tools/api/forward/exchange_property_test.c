// An exchange gives back every byte that it took, in order, and never holds more than it may: pieces and reads of
// random sizes, against a naive copy.
#include "state/base/memory.h"
#include "state/base/prng.h"
#include "tools/api/forward/exchange.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define STEPS 20000u
#define PIECE_BYTES_MAX (16u * 1024)
#define READ_BYTES_MAX (64u * 1024)

// Each byte says where it stands.
static unsigned char byte_at(uint64_t position)
{
	return (unsigned char)(position * 2654435761u >> 11);
}

static bool put_piece(struct exchange *x, struct prng *prng, uint64_t *taken)
{
	static unsigned char piece[PIECE_BYTES_MAX];
	size_t size = 1 + prng_below(prng, PIECE_BYTES_MAX);
	for (size_t i = 0; i < size; i++)
		piece[i] = byte_at(*taken + i);
	bool is_taken = exchange_take(x, piece, size);
	*taken += is_taken ? size : 0;
	return is_taken;
}

static void get_some(
	struct exchange *x, struct prng *prng, uint64_t taken, uint64_t *given, bool *is_held)
{
	static unsigned char some[READ_BYTES_MAX];
	size_t most = 1 + prng_below(prng, READ_BYTES_MAX);
	uint64_t left = taken - *given;
	struct exchange_news news = exchange_read(x, some, most);
	assert_int_equal(news.size, left < most ? left : most);
	for (size_t i = 0; i < news.size; i++)
		assert_int_equal(some[i], byte_at(*given + i));
	*given += news.size;
	left = taken - *given;
	// Who was held is told once, when half of the room is free.
	assert_int_equal(news.was_held, *is_held && left <= EXCHANGE_BYTES_MAX / 2);
	*is_held = *is_held && !news.was_held;
	assert_int_equal(exchange_wakes(x), news.size == 0);
	assert_int_equal(exchange_has_news(x), left > 0 || news.stage == EXCHANGE_IS_OVER);
}

static void bytes_come_out_as_they_went_in(void **unused)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct prng prng;
		uint64_t taken = 0, given = 0;
		bool is_held = false;
		struct exchange *x = exchange_create("GET", "/", NULL, 0);
		prng_seed(&prng, seed);
		printf("seed %lu\n", seed);
		assert_true(exchange_wakes(x));
		exchange_turn(x, EXCHANGE_ANSWERS);
		for (uint32_t step = 0; step < STEPS / 20; step++) {
			bool puts = !is_held && prng_below(&prng, 100) < 20 + 3 * seed;
			if (puts)
				is_held = !put_piece(x, &prng, &taken);
			else
				get_some(x, &prng, taken, &given, &is_held);
			assert_true(taken - given <= EXCHANGE_BYTES_MAX);
		}
		exchange_turn(x, EXCHANGE_IS_OVER);
		while (given < taken)
			get_some(x, &prng, taken, &given, &is_held);
		struct exchange_news last = exchange_read(x, NULL, 1);
		assert_int_equal(last.size, 0);
		assert_int_equal(last.stage, EXCHANGE_IS_OVER);
		assert_false(exchange_wakes(x));
		exchange_free(x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(bytes_come_out_as_they_went_in)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
