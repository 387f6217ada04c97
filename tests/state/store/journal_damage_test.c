// Damage to the log's files: it is refused with a sentence, or what is read is exactly what was written. Never a crash,
// never another answer.
#include "state/base/error.h"
#include "state/base/log.h"
#include "state/base/prng.h"
#include "state/store/segment_format.h"
#include "tests/state/store/batch_place.h"
#include "tests/state/store/numbered_batches.h"
#include "tests/state/store/store_dir.h"
#include "tests/support/core/slowness.h"
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { FILES_MOST = 32 };

static char message[1024];
static const struct complaint complaint = {message, sizeof message};

struct file {
	char path[300];
	uint8_t *data;
	size_t size;
};

struct damage {
	char directory[64];
	struct file files[FILES_MOST];
	uint32_t file_count;
	uint64_t from, last, next; // indexes: of a snapshot, of the newest batch, and after it
	struct prng prng;
};

static struct journal *try_open(const struct damage *d)
{
	struct journal *j = NULL;
	struct journal_settings settings = {d->directory, 64ll << 20, true, false};
	message[0] = 0;
	int error = journal_open(&settings, &j, &complaint);
	assert_true((error < 0) == (j == NULL));
	if (error < 0)
		assert_true(strlen(message) > 20);
	return j;
}

static void read_files(struct damage *d)
{
	char path[100];
	const struct dirent *entry;
	snprintf(path, sizeof path, "%s/log", d->directory);
	DIR *files = opendir(path);
	while ((entry = readdir(files)) != NULL) {
		struct file *f = &d->files[d->file_count];
		if (entry->d_name[0] == '.')
			continue;
		assert_true(++d->file_count <= FILES_MOST);
		snprintf(f->path, sizeof f->path, "%s/%.40s", path, entry->d_name);
		f->data = file_read(f->path, &f->size);
	}
	closedir(files);
}

// A log over some segments, which were used again when `uses` is more than one, closed.
static void begin(struct damage *d, uint64_t seed, int batches, int uses)
{
	struct journal *j;
	*d = (struct damage){.next = 1};
	snprintf(d->directory, sizeof d->directory, "%s", dir_create());
	struct journal_settings settings = {d->directory, 64ll << 20, false, false};
	assert_int_equal(journal_open(&settings, &j, &complaint), 0);
	prng_seed(&d->prng, seed);
	for (int use = 0; use < uses; use++) {
		journal_cut(j, d->next - 1);
		d->from = d->next - 1;
		for (int i = 0; i < batches; i++) {
			d->last = d->next;
			assert_int_equal(numbered_append(j, &d->next), 0);
		}
	}
	journal_close(j);
	read_files(d);
}

static void restore(const struct damage *d, const struct file *f)
{
	file_write(f->path, f->data, f->size);
}

static void end(struct damage *d)
{
	for (uint32_t i = 0; i < d->file_count; i++)
		free(d->files[i].data);
	dir_remove(d->directory);
}

// Whether it was refused; what was not refused must be exact.
static bool refused(const struct damage *d)
{
	struct numbered_seen seen;
	struct journal *j = try_open(d);
	if (!j)
		return true;
	int error = numbered_walk(j, d->from, &seen, &complaint);
	if (error == 0 && (seen.wrong || seen.last_index != d->next - 1))
		fail_msg("read another log: up to %lu, not %lu", seen.last_index, d->next - 1);
	if (error < 0)
		assert_true(strlen(message) > 20);
	journal_close(j);
	return error < 0;
}

// Byte by byte of what a small log uses: its one segment's head, its batches, and a little more.
static void any_flipped_bit_of_a_small_log(void **unused)
{
	struct damage d;
	uint32_t refusals = 0;
	begin(&d, 1, 3, 1);
	struct batch_place first = find_batch(d.directory, 1);
	const struct file *f = d.files;
	while (strcmp(f->path, first.file) != 0)
		f++;
	size_t used = f->size;
	while (f->data[used - 1] == 0)
		used--;
	for (size_t at = 0; at < used + 100; at += BUILD_SLOWNESS) {
		file_write_byte(f->path, at, (uint8_t)(f->data[at] ^ 1u << prng_below(&d.prng, 8)));
		refusals += refused(&d);
		file_write_byte(f->path, at, f->data[at]);
	}
	assert_false(refused(&d));
	assert_true(refusals > 500 / BUILD_SLOWNESS);
	end(&d);
}

static void flipped_bits_anywhere_in_a_large_log(void **unused)
{
	for (int uses = 1; uses <= 4; uses += 3) {
		struct damage d;
		uint32_t refusals = 0;
		begin(&d, (uint64_t)uses, 500, uses);
		for (int i = 0; i < (int)(300 / BUILD_SLOWNESS); i++) {
			const struct file *f = &d.files[prng_below(&d.prng, d.file_count)];
			size_t at = prng_below(&d.prng, f->size / 8) * 8;
			at = i % 2 ? at : at / SEGMENT_BLOCK_BYTES * SEGMENT_BLOCK_BYTES + at % 40;
			file_write_byte(f->path, at, (uint8_t)~f->data[at]);
			refusals += refused(&d);
			file_write_byte(f->path, at, f->data[at]);
		}
		assert_false(refused(&d));
		assert_true(refusals > 30 / BUILD_SLOWNESS);
		end(&d);
	}
}

// A block that was written to the place of another, as disks have done, or was never written.
static void misdirected_and_lost_blocks(void **unused)
{
	struct damage d;
	uint32_t refusals = 0;
	begin(&d, 5, 400, 3);
	for (int i = 0; i < (int)(300 / BUILD_SLOWNESS); i++) {
		const struct file *to = &d.files[prng_below(&d.prng, d.file_count)];
		const struct file *from = &d.files[prng_below(&d.prng, d.file_count)];
		uint8_t zeros[SEGMENT_BLOCK_BYTES] = {0};
		size_t at = prng_below(&d.prng, to->size / sizeof zeros) * sizeof zeros;
		size_t other = prng_below(&d.prng, from->size / sizeof zeros) * sizeof zeros;
		const uint8_t *block = i % 3 ? from->data + other : zeros;
		int fd = open(to->path, O_WRONLY);
		assert_int_equal(pwrite(fd, block, sizeof zeros, (off_t)at), sizeof zeros);
		refusals += refused(&d);
		assert_int_equal(pwrite(fd, to->data + at, sizeof zeros, (off_t)at), sizeof zeros);
		close(fd);
	}
	assert_false(refused(&d));
	assert_true(refusals > 30 / BUILD_SLOWNESS);
	end(&d);
}

// The end of a log that was closed is known: damage there is no torn write.
static void a_damaged_last_batch_of_a_closed_log_is_refused(void **unused)
{
	struct damage d;
	begin(&d, 6, 40, 1);
	struct batch_place place = find_batch(d.directory, d.last);
	file_write_byte(place.file, place.at + 4, 99);
	assert_true(refused(&d));
	assert_non_null(strstr(message, "is damaged in the batch of index"));
	end(&d);
}

// What follows a damaged beginning can be read, for a snapshot that does not need it.
static void the_log_begins_after_a_damaged_first_batch(void **unused)
{
	struct damage d;
	begin(&d, 9, 400, 1);
	struct batch_place place = find_batch(d.directory, 1);
	file_write_byte(place.file, place.at + 4, 99);
	assert_true(refused(&d));
	assert_non_null(strstr(message, "has no batch of index 1: the next one begins at"));
	struct journal *j = try_open(&d);
	d.from = journal_first_index(j) - 1;
	assert_in_range(d.from, 1, 5);
	journal_close(j);
	assert_false(refused(&d));
	end(&d);
}

static void cut_off_missing_and_doubled_files(void **unused)
{
	struct damage d;
	char copy[128];
	begin(&d, 7, 600, 1);
	assert_true(d.file_count > 3);
	uint32_t refusals = 0, noticed = 0;
	for (uint32_t i = 0; i < d.file_count; i++) {
		const struct file *f = &d.files[i];
		assert_int_equal(truncate(f->path, (off_t)(f->size - SEGMENT_BLOCK_BYTES)), 0);
		assert_true(refused(&d));
		restore(&d, f);
		snprintf(copy, sizeof copy, "%s/log/segment-99", d.directory);
		file_write(copy, f->data, f->size);
		refusals += refused(&d);
		assert_int_equal(unlink(copy), 0);
		// The newest is not noticed when it is gone: nothing tells that the log went on.
		struct batch_place last = find_batch(d.directory, d.last);
		if (strcmp(last.file, f->path) == 0)
			continue;
		assert_int_equal(unlink(f->path), 0);
		noticed += refused(&d);
		restore(&d, f);
	}
	assert_true(refusals >= d.file_count - 1); // a spare one may be there twice, or not at all
	assert_true(noticed >= d.file_count - 2);
	assert_false(refused(&d));
	end(&d);
}

static void random_bytes_are_refused(void **unused)
{
	struct damage d;
	begin(&d, 8, 3, 1);
	const struct file *f = &d.files[0];
	uint8_t *noise = malloc(f->size);
	for (int i = 0; i < 30; i++) {
		for (size_t k = 0; k < f->size; k++)
			noise[k] = (uint8_t)prng_u64(&d.prng);
		memcpy(noise, f->data, prng_below(&d.prng, SEGMENT_HEAD_BYTES));
		file_write(f->path, noise, f->size);
		assert_true(refused(&d));
	}
	free(noise);
	end(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_flipped_bit_of_a_small_log),
		cmocka_unit_test(flipped_bits_anywhere_in_a_large_log),
		cmocka_unit_test(misdirected_and_lost_blocks),
		cmocka_unit_test(a_damaged_last_batch_of_a_closed_log_is_refused),
		cmocka_unit_test(the_log_begins_after_a_damaged_first_batch),
		cmocka_unit_test(cut_off_missing_and_doubled_files),
		cmocka_unit_test(random_bytes_are_refused),
	};
	log_configure(LOG_ERROR, false);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
