// A log that is read and decoded ahead is replayed as one that is replayed entry by entry: the same state, or the same
// error with the same sentence at the same batch.
#include "state/apply/apply.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/base/prng.h"
#include "state/log/batch.h"
#include "state/store/journal_replay.h"
#include "state/tables/publish.h"
#include "tests/state/store/batch_place.h"
#include "tests/state/store/store_dir.h"
#include "tests/state/store/world.h"
#include "tests/support/controller.h"
#include "tests/support/core/slowness.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NODES 40u
#define ALLOCATIONS 400u // several pieces
#define JOINED_MOST 12u
#define TRIALS (120u / BUILD_SLOWNESS)

struct stored {
	struct batch_header header;
	struct bytes_writer entries;
};

struct fixture {
	struct stored *batches;
	uint32_t count;
	struct prng prng;
	struct journal_settings settings; // of the log that is replayed
	uint64_t *indexes;                // of its batches
	uint32_t journal_batches;
};

static char message[COMPLAINT_BYTES];
static const struct complaint complaint = {message, sizeof message};

static int keep_batch(void *context, const struct journal_batch *batch)
{
	struct fixture *f = context;
	struct bytes_reader r = bytes_reader_over(batch->data, batch->size);
	f->batches = memory_resize(f->batches, (f->count + 1) * sizeof f->batches[0]);
	struct stored *stored = &f->batches[f->count++];

	assert_int_equal(batch_open(&r, &stored->header), 0);
	stored->entries = bytes_writer_growing(64);
	bytes_put(&stored->entries, r.data + r.at, bytes_left(&r));
	return 0;
}

static struct journal *open_journal(const struct journal_settings *settings)
{
	struct journal *j;
	assert_int_equal(journal_open(settings, &j, &complaint), 0);
	return j;
}

// The log of a small fleet, batch by batch.
static void begin(struct fixture *f, uint64_t seed)
{
	struct world w;
	struct command_place place;

	*f = (struct fixture){0};
	prng_seed(&f->prng, seed);
	world_init(&w);
	assert_int_equal(world_open(&w), 0);
	for (uint32_t i = 0; i < NODES; i++)
		assert_int_equal(world_register(&w, i), OUTCOME_DONE);
	assert_int_equal(world_job(&w, 1), OUTCOME_DONE);
	for (uint32_t i = 0; i < ALLOCATIONS; i++)
		(void)world_place(&w, i + 1, &place);
	assert_int_equal(world_expire(&w, 3), OUTCOME_DONE);
	world_close(&w);
	struct journal *j =
		open_journal(&(struct journal_settings){w.directory, 256ll << 20, true, false});
	assert_int_equal(journal_walk(j, 0, keep_batch, f, &complaint), 0);
	journal_close(j);
	world_remove(&w);
	f->indexes = memory_take_array(f->count, sizeof f->indexes[0]);
}

static void end(struct fixture *f)
{
	for (uint32_t i = 0; i < f->count; i++)
		bytes_writer_free(&f->batches[i].entries);
	free(f->batches);
	free(f->indexes);
}

// Several batches as one; returns behind the last.
static uint32_t join_batches(
	struct fixture *f, uint32_t from, struct bytes_writer *w, struct batch_header *header)
{
	uint32_t end = from + 1 + (uint32_t)prng_below(&f->prng, JOINED_MOST);

	end = end < f->count ? end : f->count;
	*header = (struct batch_header){.first_index = f->batches[from].header.first_index};
	bytes_put_zeros(w, BATCH_HEADER_BYTES);
	for (uint32_t i = from; i < end; i++) {
		header->entries += f->batches[i].header.entries;
		header->indexes += f->batches[i].header.indexes;
		bytes_put(w, f->batches[i].entries.data, f->batches[i].entries.size);
	}
	return end;
}

// What only who decodes or applies notices: the checksums are those of the changed batch.
static void change_batch(struct fixture *f, struct bytes_writer *w, struct batch_header *header)
{
	size_t at = BATCH_HEADER_BYTES + prng_below(&f->prng, w->size - BATCH_HEADER_BYTES);

	switch (prng_below(&f->prng, 8)) {
	case 0: w->size = at; break;
	case 1: header->entries++; break;
	case 2: header->entries--; break;
	case 3: header->indexes++; break;
	case 4: bytes_put_u8(w, 0); break;
	default: w->data[at] ^= (uint8_t)(1u << prng_below(&f->prng, 8));
	}
}

// A log of the batches, some of them joined, the one of `changed` changed (UINT32_MAX: none).
static void write_journal(struct fixture *f, uint32_t changed)
{
	f->settings = (struct journal_settings){dir_create(), 256ll << 20, false, false};
	struct journal *j = open_journal(&f->settings);
	f->journal_batches = 0;
	for (uint32_t i = 0, next; i < f->count; i = next) {
		struct bytes_writer w = bytes_writer_growing(4096);
		struct batch_header header;
		next = join_batches(f, i, &w, &header);
		struct batch_header said = header;
		if (i <= changed && changed < next)
			change_batch(f, &w, &said);
		batch_seal(&w, &said);
		assert_int_equal(journal_append(j, header.first_index, header.indexes, w.data,
					 (uint32_t)w.size),
			0);
		f->indexes[f->journal_batches++] = header.first_index;
		bytes_writer_free(&w);
	}
	journal_close(j);
}

// Replays into a state that nothing was in.
struct replayed {
	struct controller c;
	uint32_t batches; // that were applied
	uint32_t slots_backed;
	int error;
	char why[COMPLAINT_BYTES];
	struct bytes_writer image; // without an error
};

// The naive way: entry by entry, each decoded when its turn comes.
static int apply_entries(struct state *state, struct bytes_reader *r, uint32_t count)
{
	static struct node_registration description;
	struct entry e;
	int error = 0;

	for (uint32_t i = 0; i < count && !error; i++) {
		error = entry_decode(&e, &description, r);
		if (error)
			return error;
		error = entry_check(state, &e);
		if (error)
			entry_release(&e);
		else
			entry_apply(state, &e);
	}
	return !error && bytes_left(r) > 0 ? -ERROR_CORRUPT : error;
}

static int apply_plainly(struct state *state, const struct journal_batch *batch)
{
	struct bytes_reader r = bytes_reader_over(batch->data, batch->size);
	struct batch_header header;
	int error = batch_open(&r, &header);

	if (error)
		return error;
	if (header.first_index != batch->first_index || header.indexes == 0)
		return -ERROR_CORRUPT;
	uint64_t last = header.first_index + header.indexes - 1;
	if (last <= state->index)
		return 0;
	if (header.first_index != state->index + 1)
		return -ERROR_CORRUPT;
	error = apply_entries(state, &r, header.entries);
	if (!error && state->index != last)
		error = -ERROR_CORRUPT;
	if (error)
		return error;
	struct summary summary = state_summary_now(state);
	state_publish(state, state->changes, last, &summary);
	state->unpublished_from = last + 1;
	return 0;
}

static int visit_plainly(void *context, const struct journal_batch *batch)
{
	struct replayed *replayed = context;

	state_read_begin();
	int error = apply_plainly(replayed->c.state, batch);
	state_read_end();
	replayed->batches += !error;
	return error;
}

static int apply_decoded(
	void *context, const struct journal_batch *batch, struct replay_batch *decoded)
{
	struct replayed *replayed = context;
	int error = applier_replay(replayed->c.applier, batch->first_index, decoded);

	assert_null(batch->data);
	replayed->batches += !error;
	return error;
}

// All of each batch is decoded before anything of it is applied.
static int visit_decoding(void *context, const struct journal_batch *batch)
{
	struct replayed *replayed = context;
	struct journal_batch without = *batch;
	struct replay_batch *decoded = replay_batch_open(batch->data, batch->size);

	without.data = NULL;
	replay_batch_decode(decoded);
	replay_batch_back(decoded, replayed->c.state, &replayed->slots_backed);
	int error = apply_decoded(context, &without, decoded);
	replay_batch_free(decoded);
	return error;
}

static int walk_plainly(struct journal *j, struct replayed *r)
{
	return journal_walk(j, 0, visit_plainly, r, &complaint);
}

static int walk_decoding(struct journal *j, struct replayed *r)
{
	return journal_walk(j, 0, visit_decoding, r, &complaint);
}

// However it ended, everything is in the tables, where threads find it that do not know what was gathered.
static int replay_ahead(struct journal *j, struct replayed *r)
{
	int error = journal_replay(j, 0, r->c.state, apply_decoded, r, &complaint);

	for (uint32_t i = 0; i < STATE_TABLES; i++)
		assert_null(r->c.state->tables[i].gathered);
	return error;
}

static void replay(const struct fixture *f, int how(struct journal *, struct replayed *),
	uint32_t allocations_max, struct replayed *r)
{
	struct journal *j = open_journal(&f->settings);

	*r = (struct replayed){0};
	controller_init(
		&r->c, (struct state_limits){.nodes = 4096, .allocations = allocations_max});
	message[0] = 0;
	r->error = how(j, r);
	snprintf(r->why, sizeof r->why, "%s", message);
	if (!r->error)
		r->image = controller_image(&r->c);
	controller_free(&r->c);
	journal_close(j);
}

static void expect_same(struct replayed *a, struct replayed *b)
{
	assert_int_equal(a->error, b->error);
	assert_int_equal(a->batches, b->batches);
	assert_int_equal(a->image.size, b->image.size);
	if (!a->error)
		assert_memory_equal(a->image.data, b->image.data, a->image.size);
}

// Returns whether it was refused. The sentence about an entry is the caller's, that about the log journal_walk's.
static bool compare(const struct fixture *f, uint32_t allocations_max, bool is_log_damaged)
{
	struct replayed plain, decoded, ahead;

	replay(f, walk_plainly, allocations_max, &plain);
	replay(f, walk_decoding, allocations_max, &decoded);
	replay(f, replay_ahead, allocations_max, &ahead);
	expect_same(&plain, &decoded);
	expect_same(&plain, &ahead);
	if (is_log_damaged)
		assert_string_equal(plain.why, ahead.why);
	bytes_writer_free(&plain.image);
	bytes_writer_free(&decoded.image);
	bytes_writer_free(&ahead.image);
	return plain.error != 0;
}

static void a_changed_batch_gives_the_same_state_or_the_same_error(void **unused)
{
	struct fixture f;
	uint32_t refused = 0;

	begin(&f, 21);
	for (uint32_t i = 0; i < TRIALS; i++) {
		write_journal(&f, (uint32_t)prng_below(&f.prng, f.count));
		refused += compare(&f, 100000, false);
		dir_remove(f.settings.directory);
	}
	assert_in_range(refused, 1, TRIALS - 1);
	end(&f);
}

static void a_limit_that_is_too_low_is_met_at_the_same_batch(void **unused)
{
	struct fixture f;

	begin(&f, 22);
	for (uint32_t i = 0; i < TRIALS / 10; i++) {
		write_journal(&f, UINT32_MAX);
		assert_true(compare(&f, 1 + (uint32_t)prng_below(&f.prng, 300), false));
		assert_false(compare(&f, 100000, false));
		dir_remove(f.settings.directory);
	}
	end(&f);
}

// What comes before the damage is applied, and then the sentence names the batch.
static void a_damaged_record_is_met_at_the_same_batch(void **unused)
{
	struct fixture f;

	begin(&f, 23);
	for (uint32_t i = 0; i < TRIALS / 4; i++) {
		write_journal(&f, UINT32_MAX);
		uint32_t which = (uint32_t)prng_below(&f.prng, f.journal_batches);
		struct batch_place place = find_batch(f.settings.directory, f.indexes[which]);
		file_write_byte(place.file, place.at + 60 + prng_below(&f.prng, 20), 0xa5);
		assert_true(compare(&f, 100000, true));
		assert_non_null(strstr(message, "is damaged in the batch of index"));
		dir_remove(f.settings.directory);
	}
	end(&f);
}

// As when a snapshot holds what the log still has.
static void what_is_in_the_state_is_passed_over(void **unused)
{
	struct fixture f;
	struct replayed r = {0};

	begin(&f, 24);
	write_journal(&f, UINT32_MAX);
	struct journal *j = open_journal(&f.settings);
	controller_init(&r.c, (struct state_limits){.nodes = 4096, .allocations = 100000});
	assert_int_equal(replay_ahead(j, &r), 0);
	struct bytes_writer before = controller_image(&r.c);
	assert_int_equal(replay_ahead(j, &r), 0);
	assert_int_equal(walk_decoding(j, &r), 0);
	assert_int_equal(r.batches, 3 * f.journal_batches);
	struct bytes_writer after = controller_image(&r.c);
	assert_int_equal(before.size, after.size);
	assert_memory_equal(before.data, after.data, before.size);
	bytes_writer_free(&before);
	bytes_writer_free(&after);
	controller_free(&r.c);
	journal_close(j);
	dir_remove(f.settings.directory);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_changed_batch_gives_the_same_state_or_the_same_error),
		cmocka_unit_test(a_limit_that_is_too_low_is_met_at_the_same_batch),
		cmocka_unit_test(a_damaged_record_is_met_at_the_same_batch),
		cmocka_unit_test(what_is_in_the_state_is_passed_over),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
