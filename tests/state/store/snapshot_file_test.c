// A snapshot file: what was written is read, and damage at any byte is refused.
#include "state/base/crc32c.h"
#include "state/base/error.h"
#include "state/base/prng.h"
#include "state/store/snapshot_file.h"
#include "tests/state/store/store_dir.h"
#include "tests/support/core/slowness.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char message[1024];
static const struct complaint complaint = {message, sizeof message};

struct file {
	char directory[64], path[128];
	uint8_t *data;
	size_t size;
	uint64_t items;
};

static uint32_t item_bytes(uint64_t i)
{
	return i % 50 == 49 ? 20000 : (uint32_t)(i * 13 % 90);
}

static void put_item(struct snapshot_writer *w, uint64_t i)
{
	struct bytes_writer *to = snapshot_item_begin(w);
	for (uint32_t k = 0; k < item_bytes(i); k++)
		bytes_put_u8(to, (uint8_t)(i + k));
	snapshot_item_keep(w);
}

static void file_create(struct file *f, uint64_t items)
{
	struct snapshot_writer *w;
	snprintf(f->directory, sizeof f->directory, "%s", dir_create());
	snprintf(f->path, sizeof f->path, "%s/snapshot", f->directory);
	assert_int_equal(snapshot_writer_open(f->path, 3, 77, &w), 0);
	for (uint64_t i = 0; i < items; i++)
		put_item(w, i);
	bytes_put_u8(snapshot_item_begin(w), 1);
	snapshot_item_drop(w);
	assert_int_equal(snapshot_writer_close(w), 0);
	f->data = file_read(f->path, &f->size);
	f->items = items;
}

static void file_remove(struct file *f)
{
	free(f->data);
	dir_remove(f->directory);
}

struct seen {
	uint64_t items;
	bool wrong;
};

static int see(void *context, const void *item, uint32_t size)
{
	struct seen *seen = context;
	const uint8_t *bytes = item;
	seen->wrong |= size != item_bytes(seen->items);
	for (uint32_t k = 0; k < size; k++)
		seen->wrong |= bytes[k] != (uint8_t)(seen->items + k);
	seen->items++;
	return 0;
}

// Two threads that check it say the same.
static void checked_is(const struct file *f, int error, uint64_t items)
{
	char read_message[sizeof message];
	struct snapshot_info info;
	snprintf(read_message, sizeof read_message, "%s", message);
	message[0] = 0;
	assert_int_equal(snapshot_check_file(f->path, 3, &info, &complaint), error);
	assert_int_equal(info.items, items);
	assert_string_equal(message, read_message);
}

static int read_back(const struct file *f, struct seen *seen)
{
	struct snapshot_info info;
	*seen = (struct seen){0};
	message[0] = 0;
	int error = snapshot_read_file(f->path, 3, see, seen, &info, &complaint);
	assert_int_equal(error<0, strlen(message)> 20);
	assert_false(seen->wrong); // whole blocks, or nothing
	if (error == 0) {
		assert_int_equal(info.index, 77);
		assert_int_equal(info.items, f->items);
		assert_int_equal(seen->items, f->items);
	}
	checked_is(f, error, info.items);
	return error;
}

static void what_was_written_is_read(void **unused)
{
	static const uint64_t counts[] = {0, 1, 2, 1000, 30000};
	for (uint32_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
		struct file f;
		struct seen seen;
		file_create(&f, counts[i]);
		assert_int_equal(read_back(&f, &seen), 0);
		file_remove(&f);
	}
}

static void flip_is_refused(const struct file *f, struct prng *prng, size_t at)
{
	struct seen seen;
	file_write_byte(f->path, at, (uint8_t)(f->data[at] ^ 1u << prng_below(prng, 8)));
	assert_true(read_back(f, &seen) < 0);
	file_write_byte(f->path, at, f->data[at]);
}

static void a_flipped_bit_at_any_byte_is_refused(void **unused)
{
	struct file few, many;
	struct seen seen;
	struct prng prng;
	prng_seed(&prng, 1);
	file_create(&few, 40);
	for (size_t at = 0; at < few.size; at += BUILD_SLOWNESS)
		flip_is_refused(&few, &prng, at);
	assert_int_equal(read_back(&few, &seen), 0);
	file_create(&many, 5000);
	for (uint32_t i = 0; i < 100 / BUILD_SLOWNESS; i++)
		flip_is_refused(&many, &prng, prng_below(&prng, many.size));
	assert_int_equal(read_back(&many, &seen), 0);
	file_remove(&few);
	file_remove(&many);
}

// Each half is whole by itself, but the second was written after another first one.
static void halves_that_do_not_meet_are_refused(void **unused)
{
	struct file f;
	size_t last = 0, end = 64;
	uint32_t payload = 0, crc;
	file_create(&f, 30000);
	while (end < f.size / 2) {
		last = end;
		memcpy(&payload, f.data + last + 4, sizeof payload);
		end += 16 + payload;
	}
	memcpy(&crc, f.data + 60, sizeof crc);
	for (size_t at = 64; at < last; at += 16 + payload) {
		memcpy(&payload, f.data + at + 4, sizeof payload);
		memcpy(&crc, f.data + at + 12, sizeof crc);
	}
	f.data[end - 1] ^= 1;
	crc = crc32c(crc32c(crc, f.data + last, 12), f.data + last + 16, end - last - 16);
	memcpy(f.data + last + 12, &crc, sizeof crc);
	file_write(f.path, f.data, f.size);
	struct snapshot_info info;
	message[0] = 0;
	assert_int_equal(
		snapshot_read_file(f.path, 3, NULL, NULL, &info, &complaint), -ERROR_CORRUPT);
	checked_is(&f, -ERROR_CORRUPT, info.items);
	file_remove(&f);
}

static void every_other_length_is_refused(void **unused)
{
	struct file f;
	struct seen seen;
	file_create(&f, 40);
	for (size_t size = 0; size < f.size; size += BUILD_SLOWNESS) {
		file_write(f.path, f.data, size);
		assert_int_equal(read_back(&f, &seen), -ERROR_CORRUPT);
	}
	uint8_t *longer = calloc(f.size + 1, 1);
	memcpy(longer, f.data, f.size);
	file_write(f.path, longer, f.size + 1);
	assert_int_equal(read_back(&f, &seen), -ERROR_CORRUPT);
	assert_non_null(strstr(message, "something follows its end"));
	free(longer);
	file_remove(&f);
}

// The blocks are whole, but not in the order, or not of the file, in which they were written.
static void blocks_that_moved_are_refused(void **unused)
{
	struct file f, other;
	struct seen seen;
	file_create(&f, 30000);
	file_create(&other, 29000);
	size_t header = 64, block;
	uint32_t payload;
	memcpy(&payload, f.data + header + 4, sizeof payload);
	block = 16 + payload;
	uint8_t *cut = malloc(f.size);
	memcpy(cut, f.data, header);
	memcpy(cut + header, f.data + header + block, f.size - header - block);
	file_write(f.path, cut, f.size - block); // the first block is missing
	assert_int_equal(read_back(&f, &seen), -ERROR_CORRUPT);
	size_t tail = 4000; // the end of another
	memcpy(cut, f.data, f.size);
	memcpy(cut + f.size - tail, other.data + other.size - tail, tail);
	file_write(f.path, cut, f.size);
	assert_int_equal(read_back(&f, &seen), -ERROR_CORRUPT);
	free(cut);
	file_remove(&other);
	file_remove(&f);
}

static void a_newer_version_is_refused_by_its_number(void **unused)
{
	struct file f;
	struct snapshot_info info;
	struct seen seen = {0};
	file_create(&f, 3);
	assert_int_equal(
		snapshot_read_file(f.path, 2, see, &seen, &info, &complaint), -ERROR_VERSION);
	assert_non_null(strstr(message, "version 1.3"));
	assert_non_null(strstr(message, "knows version 1.2"));
	assert_int_equal(seen.items, 0);
	f.data[8] = 2; // of the layout
	uint32_t crc = crc32c(0, f.data, 60);
	memcpy(f.data + 60, &crc, sizeof crc);
	file_write(f.path, f.data, f.size);
	assert_int_equal(
		snapshot_read_file(f.path, 3, see, &seen, &info, &complaint), -ERROR_VERSION);
	assert_non_null(strstr(message, "version 2.3"));
	file_remove(&f);
}

static int refuse(void *context, const void *item, uint32_t size)
{
	return -ERROR_TABLE_FULL;
}

static void a_visitor_ends_the_reading(void **unused)
{
	struct file f;
	struct snapshot_info info;
	file_create(&f, 3);
	assert_int_equal(
		snapshot_read_file(f.path, 3, refuse, NULL, &info, &complaint), -ERROR_TABLE_FULL);
	file_remove(&f);
}

static void errors_of_writing_are_told_at_the_end(void **unused)
{
	struct snapshot_writer *w;
	assert_true(snapshot_writer_open("/nowhere/snapshot", 1, 1, &w) < 0);
	assert_int_equal(snapshot_writer_open("/dev/full", 1, 1, &w), 0);
	for (uint64_t i = 0; i < 1000; i++)
		put_item(w, i);
	assert_int_equal(snapshot_writer_close(w), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_is_read),
		cmocka_unit_test(a_flipped_bit_at_any_byte_is_refused),
		cmocka_unit_test(halves_that_do_not_meet_are_refused),
		cmocka_unit_test(every_other_length_is_refused),
		cmocka_unit_test(blocks_that_moved_are_refused),
		cmocka_unit_test(a_newer_version_is_refused_by_its_number),
		cmocka_unit_test(a_visitor_ends_the_reading),
		cmocka_unit_test(errors_of_writing_are_told_at_the_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
