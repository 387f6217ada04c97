// Batches as the log keeps them: smaller where they repeat themselves, and as they were when they are read.
#include "state/base/prng.h"
#include "state/cluster/packing.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BYTES_MAX = 300 * 1000 };

// Like entries: some of it random, the rest as it was before.
static void fill(uint8_t *batch, uint32_t bytes, uint64_t seed, uint32_t random_in_hundred)
{
	struct prng prng;

	prng_seed(&prng, seed);
	for (uint32_t i = 0; i < bytes; i++)
		batch[i] = i < 100 || prng_u64(&prng) % 100 < random_in_hundred
				   ? (uint8_t)prng_u64(&prng)
				   : batch[i - 100];
}

static void what_is_kept_gives_the_batch_again(void **unused)
{
	static const uint32_t sizes[] = {1, 2, 50, 400, 5000, 65536, BYTES_MAX};
	struct packing *writer = packing_create(), *reader = packing_create();
	uint8_t *batch = malloc(BYTES_MAX), *kept = malloc(BYTES_MAX);

	for (uint32_t round = 0; round < 60; round++) {
		uint32_t bytes = sizes[round % (sizeof sizes / sizeof sizes[0])], size;
		fill(batch, bytes, round, round % 3 * 50);
		const void *packed = packing_pack(writer, batch, bytes, &size);
		assert_in_range(size, 1, bytes);
		memcpy(kept, packed, size);
		const uint8_t *again = packing_unpack(reader, kept, size, bytes);
		assert_non_null(again);
		assert_memory_equal(again, batch, bytes);
		// A try that is repeated is told by its bytes.
		uint32_t size_again;
		packed = packing_pack(writer, batch, bytes, &size_again);
		assert_int_equal(size_again, size);
		assert_memory_equal(packed, kept, size);
	}
	packing_destroy(writer);
	packing_destroy(reader);
	free(batch);
	free(kept);
}

static void what_repeats_itself_takes_less(void **unused)
{
	struct packing *p = packing_create();
	uint8_t *batch = malloc(65536);
	uint32_t size;

	fill(batch, 65536, 7, 5);
	(void)packing_pack(p, batch, 65536, &size);
	assert_true(size < 65536 / 3);
	fill(batch, 65536, 7, 100);
	assert_ptr_equal(packing_pack(p, batch, 65536, &size), batch);
	assert_int_equal(size, 65536);
	packing_destroy(p);
	free(batch);
}

static void what_is_damaged_gives_nothing(void **unused)
{
	struct packing *p = packing_create(), *reader = packing_create();
	uint8_t batch[5000], kept[5000];
	uint32_t size;

	fill(batch, sizeof batch, 3, 10);
	memcpy(kept, packing_pack(p, batch, sizeof batch, &size), size);
	assert_true(size < sizeof batch);
	for (uint32_t cut = 0; cut < size; cut++)
		assert_null(packing_unpack(reader, kept, cut, sizeof batch));
	assert_null(packing_unpack(reader, kept, size, sizeof batch - 1));
	assert_null(packing_unpack(reader, kept, size, sizeof batch + 1));
	kept[0]++;
	assert_null(packing_unpack(reader, kept, size, sizeof batch));
	packing_destroy(p);
	packing_destroy(reader);
	packing_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_kept_gives_the_batch_again),
		cmocka_unit_test(what_repeats_itself_takes_less),
		cmocka_unit_test(what_is_damaged_gives_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
