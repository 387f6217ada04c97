// What was archived comes back as it was; what is cut, changed or something else does not.
#include "state/base/memory.h"
#include "tools/archive/snapshot_archive.h"
#include <setjmp.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define STATE_BYTES 300000u

static FILE *state, *archive;
static uint8_t content[STATE_BYTES];
static char message[256];
static const struct snapshot_meta written = {
	.id = "7-42-1795750162863", .index = 42, .term = 7, .size = STATE_BYTES};

static void rewind_file(FILE *file)
{
	assert_int_equal(lseek(fileno(file), 0, SEEK_SET), 0);
}

static bool make(const struct snapshot_meta *meta, uint8_t digest[static SNAPSHOT_DIGEST_BYTES])
{
	rewind_file(state);
	assert_int_equal(ftruncate(fileno(archive), 0), 0);
	rewind_file(archive);
	return snapshot_archive_write(
		meta, fileno(state), fileno(archive), digest, message, sizeof message);
}

static int set_up(void **unused)
{
	uint8_t digest[SNAPSHOT_DIGEST_BYTES];
	state = tmpfile();
	archive = tmpfile();
	assert_true(state && archive);
	// Half of it repeats itself, as states do.
	for (uint32_t i = 0; i < STATE_BYTES; i++)
		content[i] = i % 2 ? (uint8_t)(i / 1000) : (uint8_t)(i * 2654435761u >> 13);
	assert_int_equal(write(fileno(state), content, STATE_BYTES), STATE_BYTES);
	assert_true(make(&written, digest));
	return 0;
}

static int tear_down(void **unused)
{
	fclose(state);
	fclose(archive);
	return 0;
}

static bool reads(int to, struct snapshot_meta *meta)
{
	rewind_file(archive);
	return snapshot_archive_read(fileno(archive), to, meta, message, sizeof message);
}

static void it_comes_back(void **unused)
{
	struct snapshot_meta meta;
	FILE *again = tmpfile();
	assert_non_null(again);
	assert_true(reads(fileno(again), &meta));
	assert_memory_equal(&meta, &written, sizeof meta);
	rewind_file(again);
	uint8_t *bytes = memory_take(STATE_BYTES + 1);
	assert_int_equal(read(fileno(again), bytes, STATE_BYTES + 1), STATE_BYTES);
	assert_memory_equal(bytes, content, STATE_BYTES);
	assert_true(reads(-1, &meta));
	free(bytes);
	fclose(again);
}

static void its_digest_is_that_of_the_file(void **unused)
{
	uint8_t said[SNAPSHOT_DIGEST_BYTES], own[SNAPSHOT_DIGEST_BYTES];
	struct stat info;
	assert_true(make(&written, said));
	assert_int_equal(fstat(fileno(archive), &info), 0);
	assert_true(info.st_size < STATE_BYTES);
	uint8_t *bytes = memory_take((size_t)info.st_size);
	rewind_file(archive);
	assert_int_equal(read(fileno(archive), bytes, (size_t)info.st_size), info.st_size);
	crypto_hash_sha256(own, bytes, (unsigned long long)info.st_size);
	assert_memory_equal(said, own, sizeof own);
	free(bytes);
}

static void one_that_was_cut_is_refused(void **unused)
{
	struct snapshot_meta meta;
	struct stat info;
	assert_int_equal(fstat(fileno(archive), &info), 0);
	for (off_t size = info.st_size - 1; size >= 0; size -= size > 64 ? size / 7 : 1) {
		assert_int_equal(ftruncate(fileno(archive), size), 0);
		if (reads(-1, &meta))
			fail_msg("%ld bytes of %ld are taken for the whole", (long)size,
				(long)info.st_size);
		assert_true(*message);
	}
}

static void one_changed_bit_is_seen(void **unused)
{
	struct snapshot_meta meta;
	struct stat info;
	assert_int_equal(fstat(fileno(archive), &info), 0);
	// The gzip header has a time and a name of the system, which nobody reads.
	for (off_t at = 10; at < info.st_size; at += 1 + info.st_size / 300) {
		uint8_t byte;
		assert_int_equal(pread(fileno(archive), &byte, 1, at), 1);
		byte ^= 0x10;
		assert_int_equal(pwrite(fileno(archive), &byte, 1, at), 1);
		if (reads(-1, &meta))
			fail_msg("a changed byte at %ld is not seen", (long)at);
		byte ^= 0x10;
		assert_int_equal(pwrite(fileno(archive), &byte, 1, at), 1);
	}
	assert_true(reads(-1, &meta));
}

static void a_state_that_is_shorter_is_told(void **unused)
{
	struct snapshot_meta longer = written;
	uint8_t digest[SNAPSHOT_DIGEST_BYTES];
	longer.size++;
	assert_false(make(&longer, digest));
	assert_non_null(strstr(message, "shorter"));
}

static void something_else_is_refused(void **unused)
{
	static const char *const texts[] = {"", "x", "not a snapshot", "\x1f\x8b\x08\x00"};
	struct snapshot_meta meta;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		assert_int_equal(ftruncate(fileno(archive), 0), 0);
		assert_int_equal(
			pwrite(fileno(archive), texts[i], strlen(texts[i]), 0), strlen(texts[i]));
		assert_false(reads(-1, &meta));
		assert_true(*message);
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(it_comes_back),
		TEST(its_digest_is_that_of_the_file),
		TEST(one_that_was_cut_is_refused),
		TEST(one_changed_bit_is_seen),
		TEST(a_state_that_is_shorter_is_told),
		TEST(something_else_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
