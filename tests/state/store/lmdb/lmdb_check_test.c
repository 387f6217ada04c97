// Damage to the file of a log of the first version, at every byte of a small one: it is refused with a sentence, or
// what is read is exactly what was written. Never a crash, never another answer.
#include "state/base/error.h"
#include "state/base/prng.h"
#include "state/store/lmdb/lmdb_log.h"
#include "tests/state/store/lmdb/lmdb_maker.h"
#include "tests/state/store/store_dir.h"
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define PAGE_BYTES 4096u

static char message[1024];
static const struct complaint complaint = {message, sizeof message};

struct log {
	char directory[64], data[128];
	uint8_t *file; // as written
	size_t size, used;
	uint64_t last_index;
};

static uint32_t batch_bytes(uint64_t index)
{
	return index % 5 == 0 ? 5000 : (uint32_t)(index * 37 % 300);
}

static struct lmdb_log *try_open(const struct log *log)
{
	struct lmdb_log *l = NULL;
	message[0] = 0;
	int error = lmdb_log_open(log->data, &l, &complaint);
	assert_true((error < 0) == (l == NULL));
	if (error < 0)
		assert_true(strlen(message) > 20);
	return l;
}

static void append(struct lmdb_maker *m, uint64_t index)
{
	uint8_t batch[9000];
	memset(batch, (int)index, sizeof batch);
	lmdb_maker_append(m, index, 1, batch, batch_bytes(index));
}

// Enough batches for a branch page, some with pages of their own, and a free list of those that were removed.
static void log_create(struct log *log, uint64_t batches, uint64_t cut)
{
	snprintf(log->directory, sizeof log->directory, "%s", dir_create());
	snprintf(log->data, sizeof log->data, "%s/log/data.mdb", log->directory);
	struct lmdb_maker maker;
	lmdb_maker_open(&maker, log->directory);
	for (uint64_t i = 1; i <= batches; i++) {
		for (uint64_t k = 1; i == batches - 1 && k <= cut; k++)
			lmdb_maker_remove(&maker, k);
		append(&maker, i);
	}
	lmdb_maker_close(&maker);
	log->last_index = batches;
	log->file = file_read(log->data, &log->size);
	for (log->used = log->size; log->file[log->used - 1] == 0;)
		log->used--;
	log->used = (log->used + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	assert_int_equal(truncate(log->data, (off_t)log->used), 0);
}

static void log_remove(struct log *log)
{
	free(log->file);
	dir_remove(log->directory);
}

struct seen {
	uint64_t last;
	bool wrong;
};

static int see(void *context, const struct journal_batch *batch)
{
	struct seen *seen = context;
	const uint8_t *data = batch->data;
	seen->wrong |= batch->size != batch_bytes(batch->first_index) || batch->entries != 1;
	for (uint32_t i = 0; i < batch->size; i++)
		seen->wrong |= data[i] != (uint8_t)batch->first_index;
	seen->last = batch->first_index;
	return 0;
}

// Returns whether it was refused; what was not refused must be exact.
static bool refused(const struct log *log, uint64_t from)
{
	struct lmdb_log *l = try_open(log);
	if (!l)
		return true;
	struct seen seen = {.last = from};
	struct journal_walker w = {log->data, see, &seen, &complaint, from + 1};
	int error = lmdb_log_walk(l, &w);
	if (error == 0 && (seen.wrong || seen.last != log->last_index))
		fail_msg("read another log: up to %lu", seen.last);
	lmdb_log_close(l);
	return error < 0;
}

static void every_byte(uint64_t batches, uint64_t cut, uint32_t step)
{
	struct log log;
	struct prng prng;
	prng_seed(&prng, batches);
	log_create(&log, batches, cut);
	assert_false(refused(&log, cut));
	uint32_t refusals = 0;
	for (size_t at = 0; at < log.used; at += 1 + prng_below(&prng, step)) {
		uint8_t flipped = (uint8_t)(log.file[at] ^ 1u << prng_below(&prng, 8));
		file_write_byte(log.data, at, flipped);
		refusals += refused(&log, cut);
		file_write_byte(log.data, at, log.file[at]);
	}
	assert_false(refused(&log, cut));
	assert_true(refusals > 500 / step);
	log_remove(&log);
}

static void a_flipped_bit_anywhere_in_a_small_log(void **unused)
{
#ifdef __SANITIZE_ADDRESS__
	every_byte(6, 0, 5); // a build that is slow at mapping files takes a fifth
#else
	every_byte(6, 0, 1);
#endif
}

static void flipped_bits_in_a_log_with_branches_and_a_free_list(void **unused)
{
	every_byte(120, 60, 64);
}

// The bytes that LMDB reads first, in every way that a byte can be wrong.
static void any_value_of_any_byte_of_the_meta_pages(void **unused)
{
	struct log log;
	log_create(&log, 3, 0);
	for (size_t page = 0; page < 2; page++)
		for (size_t at = page * PAGE_BYTES; at < page * PAGE_BYTES + 160; at++) {
			for (int value = 0; value < 256; value += 17) {
				file_write_byte(log.data, at, (uint8_t)value);
				(void)refused(&log, 0); // it checks what is not refused
			}
			file_write_byte(log.data, at, log.file[at]);
		}
	log_remove(&log);
}

// All was right when it was opened; then no page is one of keys any more.
static void a_file_that_changes_while_it_is_read_is_told(void **unused)
{
	enum { FLAGS_AT = 10, OVERFLOW_PAGE = 4 };
	struct log log;
	struct seen seen = {0};
	log_create(&log, 40, 0);
	struct lmdb_log *l = try_open(&log);
	struct journal_walker w = {log.data, see, &seen, &complaint, 1};
	assert_non_null(l);
	for (size_t page = 2 * PAGE_BYTES; page < log.used; page += PAGE_BYTES)
		file_write_byte(log.data, page + FLAGS_AT, OVERFLOW_PAGE);
	message[0] = '\0';
	assert_int_equal(lmdb_log_walk(l, &w), -ERROR_CORRUPT);
	assert_string_equal(message, ""); // it is not said to be another program's file
	lmdb_log_close(l);
	log_remove(&log);
}

static void every_truncation_to_a_page_is_refused(void **unused)
{
	struct log log;
	log_create(&log, 40, 0);
	for (size_t size = log.used - PAGE_BYTES; size > 0; size -= PAGE_BYTES) {
		assert_int_equal(truncate(log.data, (off_t)size), 0);
		assert_true(refused(&log, 0));
	}
	assert_int_equal(truncate(log.data, 0), 0);
	assert_true(refused(&log, 0));
	log_remove(&log);
}

// A page that was written to the place of another, as disks have done.
static void misdirected_pages_are_refused_or_unimportant(void **unused)
{
	struct log log;
	struct prng prng;
	prng_seed(&prng, 4);
	log_create(&log, 40, 0);
	for (int i = 0; i < 300; i++) {
		size_t to = prng_below(&prng, log.used / PAGE_BYTES) * PAGE_BYTES;
		size_t from = prng_below(&prng, log.used / PAGE_BYTES) * PAGE_BYTES;
		int fd = open(log.data, O_WRONLY);
		assert_int_equal(pwrite(fd, log.file + from, PAGE_BYTES, (off_t)to), PAGE_BYTES);
		(void)refused(&log, 0);
		assert_int_equal(pwrite(fd, log.file + to, PAGE_BYTES, (off_t)to), PAGE_BYTES);
		close(fd);
	}
	log_remove(&log);
}

static void random_bytes_are_refused(void **unused)
{
	struct log log;
	struct prng prng;
	prng_seed(&prng, 5);
	log_create(&log, 3, 0);
	uint8_t *noise = malloc(log.used);
	for (int i = 0; i < 200; i++) {
		for (size_t k = 0; k < log.used; k++)
			noise[k] = (uint8_t)prng_u64(&prng);
		size_t kept = prng_below(&prng, 400); // some of the beginning stays
		memcpy(noise, log.file, kept);
		file_write(log.data, noise, log.used);
		assert_true(refused(&log, 0));
	}
	free(noise);
	log_remove(&log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_flipped_bit_anywhere_in_a_small_log),
		cmocka_unit_test(flipped_bits_in_a_log_with_branches_and_a_free_list),
		cmocka_unit_test(any_value_of_any_byte_of_the_meta_pages),
		cmocka_unit_test(a_file_that_changes_while_it_is_read_is_told),
		cmocka_unit_test(every_truncation_to_a_page_is_refused),
		cmocka_unit_test(misdirected_pages_are_refused_or_unimportant),
		cmocka_unit_test(random_bytes_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
