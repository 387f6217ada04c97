// Batches in pieces: cut, read, put together in any order.
#include "state/base/error.h"
#include "state/base/prng.h"
#include "state/cluster/assembly.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define VALUE_BYTES (LOG_PIECE_HEADER_BYTES + LOG_PIECE_BYTES)

static uint8_t *make_batch(uint32_t size, uint64_t seed)
{
	uint8_t *batch = malloc(size);
	struct prng prng;

	assert_non_null(batch);
	prng_seed(&prng, seed);
	for (uint32_t i = 0; i < size; i++)
		batch[i] = (uint8_t)prng_u64(&prng);
	return batch;
}

static struct log_piece piece_of(uint64_t first_index, uint32_t size, uint64_t leadership)
{
	return (struct log_piece){.pieces = (uint16_t)log_pieces_of(size),
		.first_index = first_index,
		.indexes = 3,
		.batch_bytes = size + 1000, // it was packed
		.kept_bytes = size,
		.leadership = leadership,
		.check_index = first_index - 1,
		.check = 0x1234567890abcdef};
}

static void pieces_are_read_as_they_are_written(void **state)
{
	static const uint32_t sizes[] = {1, 100, LOG_PIECE_BYTES - 1, LOG_PIECE_BYTES,
		LOG_PIECE_BYTES + 1, 5 * LOG_PIECE_BYTES, 5 * LOG_PIECE_BYTES + 77};
	static uint8_t value[VALUE_BYTES];

	for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
		uint8_t *batch = make_batch(sizes[s], s);
		struct log_piece written = piece_of(77, sizes[s], 5), read;
		uint32_t together = 0;
		for (uint32_t i = 0; i < written.pieces; i++) {
			const uint8_t *bytes;
			uint32_t size = log_piece_write(&written, i, batch, value);
			assert_int_equal(log_piece_read(value, size, i, &read, &bytes), 0);
			assert_int_equal(read.pieces, written.pieces);
			assert_int_equal(read.first_index, 77);
			assert_int_equal(read.indexes, 3);
			assert_int_equal(read.batch_bytes, sizes[s] + 1000);
			assert_int_equal(read.kept_bytes, sizes[s]);
			assert_int_equal(read.leadership, 5);
			assert_int_equal(read.check_index, 76);
			assert_int_equal(read.check, 0x1234567890abcdef);
			assert_memory_equal(bytes, batch + together, log_piece_size(sizes[s], i));
			together += (uint32_t)log_piece_size(sizes[s], i);
		}
		assert_int_equal(together, sizes[s]);
		free(batch);
	}
}

static void what_is_no_piece_is_refused(void **state)
{
	static uint8_t value[VALUE_BYTES + 1];
	uint8_t *batch = make_batch(1000, 1);
	struct log_piece piece = piece_of(7, 1000, 5), read;
	const uint8_t *bytes;
	uint32_t size = log_piece_write(&piece, 0, batch, value);

	for (uint32_t cut = 0; cut < size; cut++)
		assert_int_equal(log_piece_read(value, cut, 0, &read, &bytes), -ERROR_CORRUPT);
	assert_int_equal(log_piece_read(value, size + 1, 0, &read, &bytes), -ERROR_CORRUPT);
	assert_int_equal(log_piece_read(value, size, 1, &read, &bytes), -ERROR_CORRUPT);
	value[4]++;
	assert_int_equal(log_piece_read(value, size, 0, &read, &bytes), -ERROR_VERSION);
	value[4]--;
	value[0]++;
	assert_int_equal(log_piece_read(value, size, 0, &read, &bytes), -ERROR_CORRUPT);
	// What is kept of a batch is never more than the batch, and that not more than any batch has.
	piece.batch_bytes = piece.kept_bytes - 1;
	size = log_piece_write(&piece, 0, batch, value);
	assert_int_equal(log_piece_read(value, size, 0, &read, &bytes), -ERROR_CORRUPT);
	piece.batch_bytes = LOG_BATCH_BYTES_MAX + 1;
	size = log_piece_write(&piece, 0, batch, value);
	assert_int_equal(log_piece_read(value, size, 0, &read, &bytes), -ERROR_CORRUPT);
	piece.batch_bytes = LOG_BATCH_BYTES_MAX;
	size = log_piece_write(&piece, 0, batch, value);
	assert_int_equal(log_piece_read(value, size, 0, &read, &bytes), 0);
	free(batch);
}

static void put_unfinished(struct assembly *a, const struct log_piece *p)
{
	static const uint8_t nothing[LOG_PIECE_BYTES];
	struct log_piece before = piece_of(p->first_index, 2 * LOG_PIECE_BYTES, p->leadership - 1);

	assembly_put(a, &before, 0, nothing);
}

// Some batches whose pieces come in any order, some twice, some from a leader that ended before: only whole ones come
// out, in order, and as they were.
static void batches_come_out_whole_and_in_order(void **state)
{
	enum { BATCHES = 40 };
	struct prng prng;

	prng_seed(&prng, 20261127);
	for (uint32_t round = 0; round < 50; round++) {
		struct assembly *a = assembly_create();
		uint8_t *batches[BATCHES];
		struct log_piece pieces[BATCHES], taken;
		struct {
			uint32_t batch, piece;
		} order[BATCHES * 4];
		uint32_t count = 0, out = 0;
		for (uint32_t b = 0; b < BATCHES; b++) {
			uint32_t size = 1 + (uint32_t)(prng_u64(&prng) % (4 * LOG_PIECE_BYTES - 1));
			batches[b] = make_batch(size, b);
			pieces[b] = piece_of(1 + 3 * b, size, 9);
			for (uint32_t i = 0; i < pieces[b].pieces; i++) {
				order[count].batch = b;
				order[count++].piece = i;
			}
		}
		for (uint32_t i = count - 1; i > 0; i--) {
			// No further than a few batches from its place, as pieces that are on their way together.
			uint32_t j = i - (uint32_t)(prng_u64(&prng) % (i < 8 ? i + 1 : 8));
			typeof(order[0]) other = order[i];
			order[i] = order[j];
			order[j] = other;
		}
		for (uint32_t i = 0; i < count; i++) {
			const struct log_piece *p = &pieces[order[i].batch];
			const uint8_t *bytes = batches[order[i].batch] +
					       log_piece_at(order[i].piece),
				      *whole;
			if (order[i].batch < out)
				continue;
			if (prng_u64(&prng) % 8 == 0) // of a leader that could not finish
				put_unfinished(a, p);
			assembly_put(a, p, order[i].piece, bytes);
			while (out < BATCHES && (whole = assembly_take(a, 1 + 3 * out, &taken))) {
				assert_int_equal(taken.kept_bytes, pieces[out].kept_bytes);
				assert_memory_equal(whole, batches[out], taken.kept_bytes);
				out++;
			}
		}
		// What the other leader's piece pushed out comes again, as a new reading brings it.
		for (uint32_t b = out; b < BATCHES; b++)
			for (uint32_t i = 0; i < pieces[b].pieces; i++)
				assembly_put(a, &pieces[b], i, batches[b] + log_piece_at(i));
		for (; out < BATCHES; out++) {
			const uint8_t *whole = assembly_take(a, 1 + 3 * out, &taken);
			assert_non_null(whole);
			assert_memory_equal(whole, batches[out], pieces[out].kept_bytes);
		}
		assert_int_equal(assembly_bytes(a), 0);
		for (uint32_t b = 0; b < BATCHES; b++)
			free(batches[b]);
		assembly_destroy(a);
	}
}

static void a_batch_that_is_not_whole_stays(void **state)
{
	struct assembly *a = assembly_create();
	uint32_t size = 2 * LOG_PIECE_BYTES + 5;
	uint8_t *batch = make_batch(size, 3);
	struct log_piece piece = piece_of(10, size, 4), taken;

	assembly_put(a, &piece, 2, batch + log_piece_at(2));
	assembly_put(a, &piece, 0, batch);
	assert_null(assembly_take(a, 10, &taken));
	assembly_put(a, &piece, 0, batch);
	assert_null(assembly_take(a, 10, &taken));
	assembly_drop(a, 10, 0);
	assembly_put(a, &piece, 1, batch + log_piece_at(1));
	assert_null(assembly_take(a, 10, &taken));
	assembly_put(a, &piece, 0, batch);
	assert_non_null(assembly_take(a, 10, &taken));
	assert_int_equal(taken.first_index, 10);
	// What is before the turn is of no use any more.
	assembly_put(a, &piece, 0, batch);
	assert_null(assembly_take(a, 13, &taken));
	assert_int_equal(assembly_bytes(a), 0);
	free(batch);
	assembly_destroy(a);
}

// A piece that tells another size takes the place of what came before, and does not end up in its memory.
static void pieces_of_two_sizes_are_not_mixed(void **state)
{
	struct assembly *a = assembly_create();
	uint32_t small = LOG_PIECE_BYTES + 5, large = 3 * LOG_PIECE_BYTES + 7;
	uint8_t *batch = make_batch(large, 4);
	struct log_piece one = piece_of(10, small, 4), other = piece_of(10, large, 4), taken;

	other.batch_bytes = one.batch_bytes; // alike but for how they are kept
	assembly_put(a, &one, 1, batch);
	for (uint32_t i = 0; i < other.pieces; i++)
		assembly_put(a, &other, i, batch + log_piece_at(i));
	const uint8_t *kept = assembly_take(a, 10, &taken);
	assert_non_null(kept);
	assert_int_equal(taken.kept_bytes, large);
	assert_memory_equal(kept, batch, large);
	free(batch);
	assembly_destroy(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_are_read_as_they_are_written),
		cmocka_unit_test(what_is_no_piece_is_refused),
		cmocka_unit_test(batches_come_out_whole_and_in_order),
		cmocka_unit_test(a_batch_that_is_not_whole_stays),
		cmocka_unit_test(pieces_of_two_sizes_are_not_mixed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
