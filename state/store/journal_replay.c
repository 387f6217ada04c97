#include "state/store/journal_replay.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/store/read_ahead.h"
#include "state/tables/table.h"
#include "state/tables/widener.h"
#include <errno.h>
#include <stdlib.h>

// Small batches go together.
#define PIECE_BATCHES 64u
#define PIECE_BYTES (64u * 1024)

struct piece {
	struct {
		struct journal_batch journal; // without data
		struct replay_batch *replay;
	} batches[PIECE_BATCHES];
	uint32_t count;
	size_t bytes;
	bool is_decoded_ahead; // else by who applies
};

struct journal_reading {
	struct read_ahead *ahead;
	struct journal *journal;
	uint64_t index;
	const struct state *state;
	uint32_t slots_backed;
	struct piece *open;
	int error;
	char why[COMPLAINT_BYTES];
};

static void piece_free(void *which)
{
	struct piece *piece = which;

	for (uint32_t i = 0; i < piece->count; i++)
		replay_batch_free(piece->batches[i].replay);
	free(piece);
}

static int pass_on(struct journal_reading *reading)
{
	struct piece *piece = reading->open;

	reading->open = NULL;
	if (!piece || read_ahead_put(reading->ahead, piece, piece->bytes))
		return 0;
	piece_free(piece);
	return -ECANCELED;
}

// Whoever has the time decodes: this thread while the other one has enough to do.
static struct piece *piece_create(struct journal_reading *reading)
{
	struct piece *piece = memory_take(sizeof *piece);

	piece->is_decoded_ahead = read_ahead_is_far(reading->ahead);
	return piece;
}

static int gather_batch(void *context, const struct journal_batch *batch)
{
	struct journal_reading *reading = context;
	struct replay_batch *replay = replay_batch_open(batch->data, batch->size);

	if (!reading->open)
		reading->open = piece_create(reading);
	struct piece *piece = reading->open;
	if (piece->is_decoded_ahead) {
		replay_batch_decode(replay);
		replay_batch_back(replay, reading->state, &reading->slots_backed);
	}
	piece->batches[piece->count].journal = *batch;
	piece->batches[piece->count].journal.data = NULL;
	piece->batches[piece->count++].replay = replay;
	piece->bytes += replay_batch_bytes(replay);
	bool is_full = piece->count == PIECE_BATCHES || piece->bytes >= PIECE_BYTES;
	return is_full ? pass_on(reading) : 0;
}

// Runs on the thread that reads. What it has when it fails comes before the error.
static void read_batches(struct read_ahead *ahead, void *context)
{
	struct journal_reading *reading = context;
	const struct complaint complaint = {reading->why, sizeof reading->why};

	reading->ahead = ahead;
	reading->error =
		journal_walk(reading->journal, reading->index, gather_batch, reading, &complaint);
	(void)pass_on(reading);
}

static int apply_piece(struct piece *piece, journal_apply *apply, void *context)
{
	int error = 0;

	for (uint32_t i = 0; i < piece->count && !error; i++)
		error = apply(context, &piece->batches[i].journal, piece->batches[i].replay);
	piece_free(piece);
	return error;
}

static int apply_all(struct read_ahead *ahead, journal_apply *apply, void *context)
{
	struct piece *piece;
	int error = 0;

	while (!error && (piece = read_ahead_take(ahead)))
		error = apply_piece(piece, apply, context);
	return error;
}

int journal_replay(struct journal *j, uint64_t index, struct state *state, journal_apply *apply,
	void *context, const struct complaint *complaint)
{
	struct journal_reading reading = {.journal = j, .index = index, .state = state};
	struct read_ahead *ahead;

	int error = read_ahead_begin(&ahead, read_batches, &reading);
	if (error)
		return complain(complaint, error, "cannot start the thread that reads the log: %s",
			error_text(error));
	tables_gather(state, true);
	error = apply_all(ahead, apply, context);
	tables_add_gathered(state);
	read_ahead_end(ahead, piece_free);
	if (error || !reading.error)
		return error;
	return complain(complaint, reading.error, "%s", reading.why);
}
