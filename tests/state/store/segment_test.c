// One segment: its bytes, and its file.
#include "state/base/bytes.h"
#include "state/base/crc32c.h"
#include "state/base/error.h"
#include "state/store/segment.h"
#include "tests/state/store/store_dir.h"
#include <errno.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char message[512];
static const struct complaint complaint = {message, sizeof message};

static void a_record_is_one_only_in_its_place(void **unused)
{
	uint8_t bytes[RECORD_HEADER_BYTES + 5];
	const struct record_place place = {.salt = 7, .sequence = 3, .offset = 8192};
	const struct record_place elsewhere = {.salt = 7, .offset = 4096},
				  other_file = {.salt = 8, .offset = 8192};
	struct record record;
	record_header_write(bytes, &place, &(struct journal_batch){40, 2, 5, "batch"});
	memcpy(bytes + RECORD_HEADER_BYTES, "batch", 5);
	assert_true(record_header_read(bytes, &place, &record));
	assert_int_equal(record.sequence, 3);
	assert_int_equal(record.batch.first_index, 40);
	assert_int_equal(record.batch.entries, 2);
	assert_int_equal(record.batch.size, 5);
	assert_true(record_is_whole(&record, &place));
	bytes[RECORD_HEADER_BYTES + 4] ^= 1;
	assert_true(record_header_read(bytes, &place, &record));
	assert_false(record_is_whole(&record, &place));
	assert_false(record_header_read(bytes, &elsewhere, &record));
	assert_false(record_header_read(bytes, &other_file, &record));
	for (uint32_t bit = 0; bit < 8 * RECORD_HEADER_BYTES; bit++) {
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_false(record_header_read(bytes, &place, &record));
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

static void a_record_fills_whole_blocks(void **unused)
{
	assert_int_equal(record_bytes(0), SEGMENT_BLOCK_BYTES);
	assert_int_equal(record_bytes(SEGMENT_BLOCK_BYTES - RECORD_HEADER_BYTES), 4096);
	assert_int_equal(record_bytes(SEGMENT_BLOCK_BYTES - RECORD_HEADER_BYTES + 1), 8192);
	assert_int_equal(record_bytes(UINT32_MAX), (1ull << 32) + 4096);
}

static void every_flipped_bit_of_a_head_is_found(void **unused)
{
	uint8_t bytes[SEGMENT_HEAD_BYTES];
	struct segment_head head;
	segment_head_write(bytes, &(struct segment_head){.salt = 5, .size = 1 << 20});
	assert_null(segment_head_read(bytes, &head));
	assert_int_equal(head.salt, 5);
	assert_int_equal(head.size, 1 << 20);
	for (uint32_t bit = 0; bit < 8 * SEGMENT_HEAD_BYTES; bit++) {
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_non_null(segment_head_read(bytes, &head));
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

// What a later form may use says nothing yet, also where its checksum is right.
static void what_is_not_used_is_zero(void **unused)
{
	for (uint32_t at = 12; at < SEGMENT_HEAD_BYTES - 4;
		at += 20) { // behind the version, and before the checksum
		uint8_t bytes[SEGMENT_HEAD_BYTES];
		struct segment_head head;
		segment_head_write(bytes, &(struct segment_head){.salt = 5, .size = 1 << 20});
		bytes[at] = 1;
		struct bytes_writer w = bytes_writer_over(bytes + SEGMENT_HEAD_BYTES - 4, 4);
		bytes_put_u32(&w, crc32c(0, bytes, SEGMENT_HEAD_BYTES - 4));
		assert_string_equal(segment_head_read(bytes, &head), "its head makes no sense");
	}
}

static void lack_of_room_is_one_error(void **unused)
{
	static const int lacks[] = {-ENOSPC, -EDQUOT, -EFBIG, -EMFILE, -ENFILE};
	for (size_t i = 0; i < sizeof lacks / sizeof lacks[0]; i++)
		assert_int_equal(segment_room_error(lacks[i]), -ENOSPC);
	assert_int_equal(segment_room_error(-EIO), -EIO);
	assert_int_equal(segment_room_error(0), 0);
}

static struct segment *create(const char *directory, bool prewrite)
{
	struct segment *s;
	struct segment_settings settings = {.directory = directory,
		.number = 4,
		.size = 1 << 20,
		.prewrite = prewrite,
		.sync = true};
	assert_int_equal(segment_create(&settings, &s), 0);
	return s;
}

// Extents of the file that the file system knows as unwritten; -1 when it does not tell.
static int unwritten_extents(const struct segment *s)
{
	struct {
		struct fiemap map;
		struct fiemap_extent extents[32];
	} asked = {.map = {.fm_length = s->size, .fm_extent_count = 32}};
	int count = 0;
	if (ioctl(s->fd, FS_IOC_FIEMAP, &asked) < 0)
		return -1;
	for (uint32_t i = 0; i < asked.map.fm_mapped_extents; i++)
		count += (asked.extents[i].fe_flags & FIEMAP_EXTENT_UNWRITTEN) != 0;
	return count;
}

// An append to it changes no metadata: every block is there, and written.
static void a_prewritten_segment_has_all_of_its_blocks(void **unused)
{
	static const uint8_t data[9000];
	const char *directory = dir_create();
	struct segment *s = create(directory, true);
	struct stat before, after;
	assert_int_equal(fstat(s->fd, &before), 0);
	assert_int_equal(before.st_size, 1 << 20);
	assert_true(before.st_blocks >= before.st_size / 512);
	assert_true(unwritten_extents(s) <= 0);
	s->sequence = 1;
	for (uint64_t i = 1; segment_fits(s, record_bytes(9000)); i++)
		assert_int_equal(
			segment_append(s, &(struct journal_batch){i, 1, sizeof data, data}, true),
			0);
	assert_int_equal(fstat(s->fd, &after), 0);
	assert_int_equal(after.st_size, before.st_size);
	assert_int_equal(after.st_blocks, before.st_blocks);
	segment_close(s);
	dir_remove(directory);
}

static void what_was_written_is_read(void **unused)
{
	static uint8_t data[9000];
	const char *directory = dir_create();
	struct segment *s = create(directory, false);
	struct segment_content content = {0};
	struct record record;
	s->sequence = 9;
	memset(data, 3, sizeof data);
	assert_int_equal(segment_append(s, &(struct journal_batch){5, 2, 9000, data}, true), 0);
	assert_int_equal(segment_append(s, &(struct journal_batch){7, 1, 10, data}, true), 0);
	assert_int_equal(s->end, 4096 + 12288 + 4096);
	assert_int_equal(segment_append(s, &(struct journal_batch){8, 0, 0, NULL}, true), 0);
	assert_int_equal(s->end, 4096 + 12288 + 4096); // the mark of a closed log is written over
	segment_close(s);
	assert_int_equal(segment_open(directory, 4, &s, &complaint), 0);
	assert_int_equal(s->sequence, 9);
	assert_int_equal(s->first_index, 5);
	assert_int_equal(s->fd, -1);
	assert_int_equal(segment_wake(s, true), 0);
	assert_int_equal(segment_read(s, &content), 0);
	assert_true(segment_record(s, &content, 4096, &record));
	assert_true(segment_record_is_whole(s, &record, 4096));
	assert_memory_equal(record.batch.data, data, sizeof data);
	assert_false(segment_record(s, &content, 8192, &record));
	assert_true(segment_record(s, &content, 16384, &record));
	assert_int_equal(record.batch.first_index, 7);
	assert_true(segment_record(s, &content, 20480, &record));
	assert_int_equal(record.batch.entries, 0);
	s->sequence = 10; // used again: what is there is of before
	assert_false(segment_record(s, &content, 4096, &record));
	segment_close(s);
	free(content.data);
	dir_remove(directory);
}

// What a longer record left in the buffer of the direct writes does not reach the disk.
static void zeros_stand_behind_a_record(void **unused)
{
	static uint8_t data[9000], block[SEGMENT_BLOCK_BYTES], zeros[SEGMENT_BLOCK_BYTES];
	const char *directory = dir_create();
	struct segment *s = create(directory, false);
	s->sequence = 9;
	memset(data, 3, sizeof data);
	for (int sync = 0; sync < 2; sync++) {
		assert_int_equal(
			segment_append(s, &(struct journal_batch){5, 2, 9000, data}, sync), 0);
		uint64_t at = s->end;
		assert_int_equal(
			segment_append(s, &(struct journal_batch){7, 1, 10, data}, sync), 0);
		assert_int_equal(pread(s->fd, block, sizeof block, (off_t)at), sizeof block);
		assert_memory_equal(block + RECORD_HEADER_BYTES, data, 10);
		assert_memory_equal(block + RECORD_HEADER_BYTES + 10, zeros,
			sizeof block - RECORD_HEADER_BYTES - 10);
	}
	segment_close(s);
	dir_remove(directory);
}

static void a_file_that_is_no_segment_is_refused(void **unused)
{
	const char *directory = dir_create();
	char path[100];
	struct segment *s = create(directory, false);
	snprintf(path, sizeof path, "%s", s->path);
	segment_close(s);
	assert_int_equal(truncate(path, (1 << 20) - 4096), 0);
	assert_int_equal(segment_open(directory, 4, &s, &complaint), -ERROR_CORRUPT);
	assert_non_null(strstr(message, "has not the size that it names"));
	assert_null(s);
	assert_int_equal(truncate(path, 100), 0);
	assert_int_equal(segment_open(directory, 4, &s, &complaint), -ERROR_CORRUPT);
	assert_int_equal(segment_open(directory, 5, &s, &complaint), -ENOENT);
	dir_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_is_one_only_in_its_place),
		cmocka_unit_test(a_record_fills_whole_blocks),
		cmocka_unit_test(every_flipped_bit_of_a_head_is_found),
		cmocka_unit_test(what_is_not_used_is_zero),
		cmocka_unit_test(lack_of_room_is_one_error),
		cmocka_unit_test(a_prewritten_segment_has_all_of_its_blocks),
		cmocka_unit_test(what_was_written_is_read),
		cmocka_unit_test(zeros_stand_behind_a_record),
		cmocka_unit_test(a_file_that_is_no_segment_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
