#include "state/base/memory.h"
#include "state/base/prng.h"
#include "state/records/slab.h"
#include "tests/support/core/slowness.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define PIECES 2000u
#define STEPS (200000u / BUILD_SLOWNESS)
#define THREADS 4u

struct held {
	uint8_t *piece;
	size_t bytes;
	uint8_t mark;
};

static void check(const struct held *h)
{
	for (size_t i = 0; i < h->bytes; i++)
		assert_int_equal(h->piece[i], h->mark);
}

static void take(struct held *h, struct prng *prng)
{
	h->bytes = 1 + prng_below(prng, prng_below(prng, 8) ? 400 : 1500);
	h->mark = 0;
	h->piece = prng_below(prng, 2) ? slab_take(h->bytes) : slab_take_brief(h->bytes);
	assert_int_equal((uintptr_t)h->piece % 8, 0);
	check(h);
	h->mark = (uint8_t)(1 + prng_below(prng, 255));
	memset(h->piece, h->mark, h->bytes);
}

// Pieces of all sizes come and go; each is zeroed when it is taken, and nobody else writes to it.
static void *take_and_give(void *seed)
{
	struct held *held = memory_take_array(PIECES, sizeof *held);
	struct prng prng;

	prng_seed(&prng, *(uint64_t *)seed);
	for (uint32_t i = 0; i < STEPS; i++) {
		struct held *h = &held[prng_below(&prng, i < STEPS / 2 ? PIECES : PIECES / 8)];
		if (h->piece)
			check(h);
		slab_give(h->piece, h->bytes);
		h->piece = NULL;
		if (prng_below(&prng, 4))
			take(h, &prng);
		if (prng_below(&prng, 1000) == 0)
			slab_trim();
	}
	for (uint32_t i = 0; i < PIECES; i++)
		slab_give(held[i].piece, held[i].bytes);
	free(held);
	return NULL;
}

static void pieces_are_zeroed_and_apart(void **unused)
{
	uint64_t seed = 1;

	take_and_give(&seed);
}

static void threads_share_slabs(void **unused)
{
	uint64_t seeds[THREADS] = {2, 3, 4, 5};
	pthread_t threads[THREADS];

	for (uint32_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, take_and_give, &seeds[i]), 0);
	for (uint32_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static void a_piece_takes_its_size(void **unused)
{
	assert_int_equal(slab_bytes(1), 8);
	assert_int_equal(slab_bytes(16), 16);
	assert_int_equal(slab_bytes(17), 24);
	assert_int_equal(slab_bytes(1024), 1024);
	assert_int_equal(slab_bytes(1025), 1025);
	slab_give(NULL, 16);
}

static bool is_resident(void *piece)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char state;

	assert_int_equal(mincore((void *)((uintptr_t)piece & ~(page - 1)), 1, &state), 0);
	return state & 1;
}

// Counts those that the system has memory for.
static uint32_t count_resident(void *pieces[])
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < PIECES; i++)
		count += is_resident(pieces[i]);
	return count;
}

static void take_all(void *pieces[], uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		pieces[i] = slab_take(1000);
}

static void give_all(void *pieces[], uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		slab_give(pieces[i], 1000);
}

static void what_nobody_needs_goes_back(void **unused)
{
	static void *pieces[PIECES];

	slab_trim();
	slab_trim();
	take_all(pieces, PIECES);
	if (slab_bytes_taken() == 0)
		skip(); // sanitizers have pieces in the heap
	give_all(pieces, PIECES);
	slab_trim(); // some were in use a moment ago
	assert_true(count_resident(pieces) > PIECES * 9 / 10);
	slab_trim();
	assert_true(count_resident(pieces) < PIECES / 5);
	take_all(pieces, PIECES);
	assert_int_equal(count_resident(pieces), PIECES);
	give_all(pieces, PIECES);
}

// Whoever took slabs since the last trim may need as many again, also when it gave them back.
static void what_was_needed_lately_stays(void **unused)
{
	static void *pieces[PIECES], *some[PIECES / 2];

	slab_trim();
	slab_trim();
	take_all(pieces, PIECES);
	if (slab_bytes_taken() == 0)
		skip();
	give_all(pieces, PIECES);
	slab_trim();
	take_all(some, PIECES / 2);
	give_all(some, PIECES / 2);
	slab_trim();
	assert_in_range(count_resident(pieces), PIECES * 4 / 10, PIECES * 6 / 10);
}

static void what_stays_keeps_no_slab_of_what_is_brief(void **unused)
{
	static void *brief[PIECES], *stay[PIECES];
	size_t before = slab_bytes_taken();

	for (uint32_t i = 0; i < PIECES; i++) {
		brief[i] = slab_take_brief(1000);
		stay[i] = slab_take(1000);
	}
	if (slab_bytes_taken() == before)
		skip(); // sanitizers have pieces in the heap
	assert_int_equal(slab_bytes_taken() - before, 2 * PIECES * slab_bytes(1000));
	for (uint32_t i = 0; i < PIECES; i++)
		slab_give(brief[i], 1000);
	slab_trim();
	slab_trim();
	assert_true(count_resident(brief) < PIECES / 5);
	assert_int_equal(count_resident(stay), PIECES);
	for (uint32_t i = 0; i < PIECES; i++)
		slab_give(stay[i], 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_are_zeroed_and_apart),
		cmocka_unit_test(threads_share_slabs),
		cmocka_unit_test(a_piece_takes_its_size),
		cmocka_unit_test(what_nobody_needs_goes_back),
		cmocka_unit_test(what_was_needed_lately_stays),
		cmocka_unit_test(what_stays_keeps_no_slab_of_what_is_brief),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
