// Power cuts in the middle of a write: of the last batch, which nobody was told of, any of its sectors are on the
// disk, and for the others what was there before. Everything before it is there, it is there as a whole or not at all,
// and the log goes on.
#include "state/base/error.h"
#include "state/base/log.h"
#include "state/base/prng.h"
#include "tests/state/store/batch_place.h"
#include "tests/state/store/numbered_batches.h"
#include "tests/state/store/store_dir.h"
#include "tests/support/core/slowness.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { SECTOR_BYTES = 512 };
#define LIVES (60u / BUILD_SLOWNESS)
#define LIVES_USED_AGAIN (90u / BUILD_SLOWNESS)

static char message[1024];
static const struct complaint complaint = {message, sizeof message};

static struct journal *open_log(const char *path)
{
	struct journal *j;
	struct journal_settings settings = {path, 64ll << 20, false, false};
	if (journal_open(&settings, &j, &complaint) < 0)
		fail_msg("%s", message);
	return j;
}

struct tearing {
	char directory[64], before[64];
	struct prng prng;
	uint64_t torn, gone; // batches, as a count of what happened
};

// Appends in a process that is gone before it could close the log; returns the index after the last batch.
static uint64_t append_and_die(const struct tearing *t, uint64_t from, uint64_t batches)
{
	int pipes[2], status;
	uint64_t index = 0;
	assert_int_equal(pipe(pipes), 0);
	pid_t child = fork();
	if (child == 0) {
		struct numbered_seen seen;
		struct journal *j = open_log(t->directory);
		bool good = numbered_walk(j, from, &seen, &complaint) == 0;
		journal_cut(j, from);
		index = seen.last_index + 1;
		for (; good && batches > 0; batches--)
			good = numbered_append(j, &index) == 0;
		good = good && write(pipes[1], &index, sizeof index) == sizeof index;
		_exit(good ? 0 : 1);
	}
	close(pipes[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(read(pipes[0], &index, sizeof index), sizeof index);
	close(pipes[0]);
	return index;
}

// Puts back what some sectors of the newest batch held before it was written.
static void tear(struct tearing *t, uint64_t index)
{
	struct batch_place place = find_batch(t->directory, index);
	char before[400];
	size_t size = 0;
	snprintf(before, sizeof before, "%s%s", t->before, place.file + strlen(t->directory));
	uint8_t *old = access(before, F_OK) == 0 ? file_read(before, &size) : NULL;
	uint8_t *new = file_read(place.file, &size);
	uint64_t kept_of_8 = prng_below(&t->prng, 9);
	for (size_t at = place.at; at < place.at + place.bytes; at += SECTOR_BYTES)
		if (prng_below(&t->prng, 8) >= kept_of_8 && old)
			memcpy(new + at, old + at, SECTOR_BYTES);
		else if (!old && prng_below(&t->prng, 8) >= kept_of_8)
			memset(new + at, 0, SECTOR_BYTES);
	file_write(place.file, new, size);
	free(old);
	free(new);
}

// What is there after the batch of `index` was torn: all before it, and it or nothing. Returns the index to go on with.
static uint64_t look(struct tearing *t, uint64_t from, uint64_t index)
{
	struct journal *j;
	struct numbered_seen seen;
	struct journal_settings settings = {t->directory, 64ll << 20, true, false};
	if (journal_open(&settings, &j, &complaint) < 0 ||
		numbered_walk(j, from, &seen, &complaint) < 0)
		fail_msg("%s", message);
	assert_false(seen.wrong);
	assert_in_range(seen.last_index, index - 1, index + 4);
	t->gone += seen.last_index == index - 1;
	t->torn += journal_tails_cut(j);
	journal_close(j);
	return seen.last_index + 1;
}

// One life: some batches, then one that is torn. `from`: nothing before needs to be kept.
static uint64_t live_and_tear(struct tearing *t, uint64_t from, uint64_t index)
{
	uint64_t last = append_and_die(t, from, prng_below(&t->prng, 60));
	assert_true(last >= index);
	dir_remove(t->before);
	dir_copy(t->directory, t->before);
	(void)append_and_die(t, from, 1);
	tear(t, last);
	return look(t, from, last);
}

static void begin(struct tearing *t, uint64_t seed)
{
	*t = (struct tearing){0};
	snprintf(t->directory, sizeof t->directory, "%s", dir_create());
	snprintf(t->before, sizeof t->before, "%s", dir_create());
	prng_seed(&t->prng, seed);
}

static void end(struct tearing *t)
{
	dir_remove(t->directory);
	dir_remove(t->before);
}

static void a_torn_batch_is_whole_or_gone(void **unused)
{
	struct tearing t;
	uint64_t index = 1;
	begin(&t, 1);
	for (uint32_t life = 0; life < LIVES; life++)
		index = live_and_tear(&t, 0, index);
	assert_true(t.torn > LIVES / 6); // and said so
	assert_true(t.gone > LIVES / 2 && t.gone < LIVES);
	end(&t);
}

// With segments that are used again, sectors of before are those of older batches.
static void what_was_there_before_is_never_taken_for_new(void **unused)
{
	struct tearing t;
	uint64_t index = 1;
	begin(&t, 2);
	for (uint32_t life = 0; life < LIVES_USED_AGAIN; life++)
		index = live_and_tear(&t, index - 1, index);
	assert_true(dir_bytes(t.directory) < 8 << 20 && index > 7000 / BUILD_SLOWNESS);
	assert_true(t.torn > LIVES_USED_AGAIN / 9);
	end(&t);
}

// A reader leaves what it finds as it is.
static void a_reader_repairs_nothing(void **unused)
{
	struct tearing t;
	begin(&t, 3);
	uint64_t index = 1;
	struct journal *j = open_log(t.directory);
	while (index < 20)
		assert_int_equal(numbered_append(j, &index), 0);
	uint8_t large[9000] = {1};
	assert_int_equal(journal_append(j, index, 1, large, sizeof large), 0);
	journal_close(j);
	struct batch_place place = find_batch(t.directory, index);
	file_write_byte(place.file, place.at + 8500, 2);
	file_write_byte(place.file, place.at + place.bytes, 0); // the mark of a closed log
	size_t size;
	uint8_t *before = file_read(place.file, &size);
	struct journal_settings settings = {t.directory, 64ll << 20, true, true};
	assert_int_equal(journal_open(&settings, &j, &complaint), 0);
	struct numbered_seen seen;
	assert_int_equal(numbered_walk(j, 0, &seen, &complaint), 0);
	assert_int_equal(seen.last_index, index - 1);
	assert_int_equal(journal_tails_cut(j), 1);
	journal_close(j);
	uint8_t *after = file_read(place.file, &size);
	assert_memory_equal(before, after, size);
	free(before);
	free(after);
	end(&t);
}

// As a power cut leaves the newest batch of a log that was not closed.
static void tear_batch(const struct tearing *t, uint64_t index, uint64_t offset)
{
	struct batch_place place = find_batch(t->directory, index);
	file_write_byte(place.file, place.at + offset, 1);
	file_write_byte(place.file, place.at + place.bytes, 0); // the mark of a closed log
}

// A segment whose only batch was torn does not tell how far the log has come: the one before it stays, however far the
// log is cut.
static void an_empty_segment_is_never_all_there_is(void **unused)
{
	static uint8_t batch[700000]; // two do not fit in a segment
	struct tearing t;
	begin(&t, 4);
	struct journal *j = open_log(t.directory);
	for (uint64_t index = 1; index <= 3; index++)
		assert_int_equal(journal_append(j, index, 1, batch, sizeof batch), 0);
	journal_close(j);
	tear_batch(&t, 3, 5000);
	j = open_log(t.directory);
	assert_int_equal(journal_tails_cut(j), 1);
	journal_cut(j, 2);
	assert_int_equal(journal_first_index(j), 2);
	assert_int_equal(journal_append(j, 3, 1, batch, sizeof batch), 0);
	journal_cut(j, 2); // no longer empty
	assert_int_equal(journal_first_index(j), 3);
	journal_close(j);
	end(&t);
}

// What was written before it, by the first version, is still needed then.
static void a_log_of_one_torn_batch_has_no_first_index(void **unused)
{
	struct tearing t;
	begin(&t, 5);
	struct journal *j = open_log(t.directory);
	assert_int_equal(journal_append(j, 7, 1, "batch", 5), 0);
	journal_close(j);
	tear_batch(&t, 7, 42);
	j = open_log(t.directory);
	assert_int_equal(journal_tails_cut(j), 1);
	assert_int_equal(journal_first_index(j), 0);
	journal_close(j);
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_torn_batch_is_whole_or_gone),
		cmocka_unit_test(what_was_there_before_is_never_taken_for_new),
		cmocka_unit_test(a_reader_repairs_nothing),
		cmocka_unit_test(an_empty_segment_is_never_all_there_is),
		cmocka_unit_test(a_log_of_one_torn_batch_has_no_first_index),
	};
	log_configure(LOG_ERROR, false);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
