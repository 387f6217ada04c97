// What was archived comes back as it was; what is cut, changed or something else does not.
#include "state/base/memory.h"
#include "tools/archive/snapshot_archive.h"
#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
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

struct member {
	const char *name, *text;
};

static void pack_as(bool is_compressed, const struct member *members, uint32_t count)
{
	struct archive *packed = archive_write_new();
	assert_int_equal(ftruncate(fileno(archive), 0), 0);
	rewind_file(archive);
	if (is_compressed)
		archive_write_add_filter_gzip(packed);
	archive_write_set_format_ustar(packed);
	assert_int_equal(archive_write_open_fd(packed, fileno(archive)), ARCHIVE_OK);
	for (uint32_t i = 0; i < count; i++) {
		struct archive_entry *entry = archive_entry_new();
		archive_entry_set_pathname(entry, members[i].name);
		archive_entry_set_size(entry, (la_int64_t)strlen(members[i].text));
		archive_entry_set_filetype(entry, AE_IFREG);
		assert_int_equal(archive_write_header(packed, entry), ARCHIVE_OK);
		archive_write_data(packed, members[i].text, strlen(members[i].text));
		archive_entry_free(entry);
	}
	archive_write_free(packed);
}

static void pack(const struct member *members, uint32_t count)
{
	pack_as(true, members, count);
}

static void hex_sum(const char *text, char hex[static 65])
{
	uint8_t sum[crypto_hash_sha256_BYTES];
	crypto_hash_sha256(sum, (const uint8_t *)text, strlen(text));
	sodium_bin2hex(hex, 65, sum, sizeof sum);
}

// Whole as a file, but its parts do not belong together.
static void parts_of_others_are_refused(void **unused)
{
	static const char meta[] = "{\"Index\":3,\"Size\":3}",
			  longer[] = "{\"Index\":3,\"Size\":4}",
			  none[] = "{\"Index\":0,\"Size\":3}";
	const char *metas[] = {meta, longer, none};
	char sums[3][256], hex[65], of_state[65];
	struct snapshot_meta found;
	hex_sum("abc", of_state);
	for (uint32_t i = 0; i < 3; i++) {
		hex_sum(metas[i], hex);
		snprintf(sums[i], sizeof sums[i], "%s  meta.json\n%s  state.bin\n", hex, of_state);
	}
	const struct {
		struct member members[4];
		uint32_t count;
		const char *said; // NULL: it is fine
	} rows[] = {
		{{{"meta.json", meta}, {"state.bin", "abc"}, {"SHA256SUMS", sums[0]}}, 3, NULL},
		{{{"meta.json", meta}, {"state.bin", "abd"}, {"SHA256SUMS", sums[0]}}, 3, "sums"},
		{{{"meta.json", none}, {"state.bin", "abc"}, {"SHA256SUMS", sums[0]}}, 3, "sums"},
		{{{"meta.json", longer}, {"state.bin", "abc"}, {"SHA256SUMS", sums[1]}}, 3,
			"description"},
		{{{"meta.json", none}, {"state.bin", "abc"}, {"SHA256SUMS", sums[2]}}, 3,
			"description"},
		{{{"meta.json", meta}, {"state.bin", "abc"}}, 2, "missing"},
		{{{"state.bin", "abc"}, {"SHA256SUMS", sums[0]}}, 2, "missing"},
		{{{"meta.json", meta}, {"SHA256SUMS", sums[0]}}, 2, "missing"},
		{{{"state.bin", "abc"}, {"state.bin", "abc"}}, 2, "two states"},
		{{{"meta.json", meta}, {"state.bin", "abc"}, {"SHA256SUMS", sums[0]}, {"x", ""}}, 4,
			"something else"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		pack(rows[i].members, rows[i].count);
		assert_int_equal(reads(-1, &found), rows[i].said == NULL);
		if (rows[i].said && !strstr(message, rows[i].said))
			fail_msg("row %zu: %s", i, message);
	}
}

static void a_description_without_end_is_refused(void **unused)
{
	struct snapshot_meta found;
	char *text = memory_take(100000);
	memset(text, ' ', 99999);
	pack(&(struct member){"meta.json", text}, 1);
	free(text);
	assert_false(reads(-1, &found));
	assert_string_equal(message, "its description is longer than that of any snapshot");
}

// The member's name is whole, its text is not: nothing was compressed, so that one comes before the other.
static void a_description_that_was_cut_is_refused(void **unused)
{
	struct snapshot_meta found;
	pack_as(false, &(struct member){"meta.json", "{\"Index\":3,\"Size\":3}"}, 1);
	assert_int_equal(ftruncate(fileno(archive), 512 + 10), 0);
	assert_false(reads(-1, &found));
	assert_non_null(strstr(message, "damaged"));
}

static void a_disk_without_room_is_told(void **unused)
{
	uint8_t digest[SNAPSHOT_DIGEST_BYTES];
	struct snapshot_meta meta;
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	assert_true(full >= 0);
	assert_false(reads(full, &meta));
	assert_string_equal(message, "writing the snapshot: No space left on device");
	rewind_file(state);
	assert_false(snapshot_archive_write(
		&written, fileno(state), full, digest, message, sizeof message));
	assert_string_equal(message, "writing the archive: No space left on device");
	close(full);
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
		TEST(parts_of_others_are_refused),
		TEST(a_description_without_end_is_refused),
		TEST(a_description_that_was_cut_is_refused),
		TEST(a_disk_without_room_is_told),
		TEST(something_else_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
