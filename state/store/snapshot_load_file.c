#include "state/store/snapshot_load_file.h"
#include "state/base/memory.h"
#include "state/store/read_ahead.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_ITEMS 256u
#define PIECE_BYTES (32u * 1024)

// Items that are decoded, and the bytes of what is not.
struct piece {
	struct snapshot_item items[PIECE_ITEMS];
	uint32_t count, size, capacity;
	uint8_t bytes[];
};

struct snapshot_reading {
	struct read_ahead *ahead;
	struct snapshot_load *load;
	const char *path;
	struct piece *open;
	bool approaches; // of the open piece
	struct snapshot_info info;
	int error;
};

static void piece_free(void *which)
{
	struct piece *piece = which;

	for (uint32_t i = 0; i < piece->count; i++)
		snapshot_item_release(&piece->items[i]);
	free(piece);
}

// Nobody waits for the tables' old versions while this thread waits: it is in no read section then.
static int pass_on(struct snapshot_reading *reading)
{
	struct piece *piece = reading->open;

	if (!piece)
		return 0;
	reading->open = NULL;
	state_read_end();
	bool is_wanted = read_ahead_put(reading->ahead, piece, sizeof *piece + piece->capacity);
	state_read_begin();
	if (is_wanted)
		return 0;
	piece_free(piece);
	return -ECANCELED;
}

static struct piece *piece_create(uint32_t size)
{
	uint32_t capacity = size > PIECE_BYTES ? size : PIECE_BYTES;
	// Items and bytes are written before they are read, so they are not zeroed.
	struct piece *piece = memory_resize(NULL, sizeof *piece + capacity);

	piece->count = piece->size = 0;
	piece->capacity = capacity;
	return piece;
}

// The reader's block is used again, so what is left of the item moves into the piece.
static void keep_rest(struct piece *piece, struct bytes_reader *rest)
{
	size_t size = bytes_left(rest);
	bool failed = rest->failed;

	if (size > 0)
		memcpy(piece->bytes + piece->size, rest->data + rest->at, size);
	*rest = bytes_reader_over(piece->bytes + piece->size, size);
	rest->failed = failed;
	piece->size += (uint32_t)size;
}

static int gather_items(void *context, const void *bytes, uint32_t size)
{
	struct snapshot_reading *reading = context;
	const struct piece *full = reading->open;

	if (full && (full->count == PIECE_ITEMS || full->capacity - full->size < size)) {
		int error = pass_on(reading);
		if (error)
			return error;
	}
	if (!reading->open) {
		reading->open = piece_create(size);
		reading->approaches = read_ahead_is_far(reading->ahead);
	}
	struct piece *piece = reading->open;
	struct snapshot_item *item = &piece->items[piece->count++];
	snapshot_load_decode(reading->load, bytes, size, reading->approaches, item);
	keep_rest(piece, &item->rest);
	return 0;
}

// Runs on the thread that reads. What it has when it fails comes before the error.
static void read_items(struct read_ahead *ahead, void *context)
{
	struct snapshot_reading *reading = context;
	const struct complaint none = {0};

	reading->ahead = ahead;
	state_read_begin();
	reading->error = snapshot_read_file(reading->path, SNAPSHOT_ITEMS_VERSION, gather_items,
		reading, &reading->info, &none);
	int error = pass_on(reading);
	if (!reading->error)
		reading->error = error;
	state_read_end();
}

static int put_back(struct snapshot_load *load, struct piece *piece)
{
	int error = 0;

	for (uint32_t i = 0; i < piece->count && !error; i++)
		error = snapshot_load_decoded(load, &piece->items[i]);
	piece_free(piece);
	return error;
}

int snapshot_load_file(struct snapshot_load *load, const char *path, struct snapshot_info *info)
{
	struct snapshot_reading reading = {.load = load, .path = path};
	struct read_ahead *ahead;
	struct piece *piece;

	int error = read_ahead_begin(&ahead, read_items, &reading);
	if (error)
		return error;
	while (!error && (piece = read_ahead_take(ahead)))
		error = put_back(load, piece);
	read_ahead_end(ahead, piece_free);
	*info = reading.info;
	return error ? error : reading.error;
}
