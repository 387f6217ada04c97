// Log entries and snapshot items that nobody wrote. The first byte says which. Whatever the bytes
// are, nothing aborts; and entries that pass their checks leave a state without a broken invariant,
// which its own snapshot restores.
#include "state/apply/apply.h"
#include "state/apply/replay.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/log/batch.h"
#include "state/snapshot/snapshot_view.h"
#include "state/tables/publish.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct state_limits limits = {64, 8, 64, 16, 4};

struct loaded {
	struct state *state;
	struct change_list changes;
};

static struct loaded loaded_create(void)
{
	struct loaded l = {.state = state_create(&limits)};

	CHECK(l.state);
	return l;
}

static void loaded_destroy(struct loaded *l)
{
	l->state->changes = NULL;
	free(l->changes.items);
	state_destroy(l->state);
}

// --- Snapshot items ------------------------------------------------------------------------------

static int load(struct state *state, const uint8_t *data, size_t size)
{
	struct bytes_reader r = bytes_reader_over(data, size);
	struct snapshot_load *load = snapshot_load_begin(state);
	int error = 0;

	while (!error && bytes_left(&r) > 0) {
		uint32_t item_size = bytes_take_u32(&r);
		const uint8_t *item = bytes_take(&r, item_size);
		if (!item)
			break;
		error = snapshot_load_item(load, item, item_size);
	}
	int end = snapshot_load_end(load);
	CHECK(!error || end == error);
	return end;
}

static struct bytes_writer image_of(struct state *state)
{
	struct bytes_writer image = bytes_writer_growing(4096);
	struct bytes_writer item = bytes_writer_growing(4096);
	struct snapshot_view *view = snapshot_view_begin(state);

	while (snapshot_view_next(view, &item)) {
		bytes_put_u32(&image, (uint32_t)item.size);
		bytes_put(&image, item.data, item.size);
		item.size = 0;
	}
	snapshot_view_end(view);
	bytes_writer_free(&item);
	return image;
}

static void check_restores(struct state *state)
{
	struct bytes_writer image = image_of(state);
	struct loaded again = loaded_create();

	CHECK(load(again.state, image.data, image.size) == 0);
	struct bytes_writer second = image_of(again.state);
	CHECK(image.size == second.size && memcmp(image.data, second.data, image.size) == 0);
	bytes_writer_free(&image);
	bytes_writer_free(&second);
	loaded_destroy(&again);
}

static void fuzz_items(const uint8_t *data, size_t size)
{
	struct loaded l = loaded_create();

	if (load(l.state, data, size) == 0)
		check_restores(l.state);
	loaded_destroy(&l);
}

// --- Entries -------------------------------------------------------------------------------------

static void report(const char *text, void *context)
{
	fprintf(stderr, "violated: %s\n", text);
}

static void publish(struct loaded *l)
{
	struct summary summary = state_summary_now(l->state);

	state_publish(l->state, &l->changes, l->state->index, &summary);
	l->state->unpublished_from = l->state->index + 1;
}

// What does not pass is left out, so that what follows is tried as well.
static void fuzz_entries(const uint8_t *data, size_t size)
{
	struct bytes_reader r = bytes_reader_over(data, size);
	struct node_registration *description = memory_take(sizeof *description);
	struct loaded l = loaded_create();
	struct entry e;

	l.state->changes = &l.changes;
	state_read_begin();
	for (uint32_t i = 1; bytes_left(&r) > 0 && entry_decode(&e, description, &r) == 0; i++) {
		if (entry_check(l.state, &e) == 0)
			entry_apply(l.state, &e);
		else
			entry_release(&e);
		if (i % 5 == 0)
			publish(&l);
	}
	publish(&l);
	state_read_end();
	CHECK(state_verify(l.state, report, NULL) == 0);
	check_restores(l.state);
	loaded_destroy(&l);
	free(description);
}

static void replay(struct state *state, const void *bytes, size_t size)
{
	struct replay_batch *batch = replay_batch_open(bytes, (uint32_t)size);

	(void)replay_batch_apply(batch, state, 1);
	replay_batch_free(batch);
}

// A whole batch, with its header put right; then most of it is refused in the middle.
static void fuzz_batch(const uint8_t *data, size_t size)
{
	struct bytes_writer w = bytes_writer_growing(size + BATCH_HEADER_BYTES);
	struct loaded l = loaded_create();
	struct batch_header header = {.first_index = 1, .entries = 2, .indexes = 2};

	bytes_put_zeros(&w, BATCH_HEADER_BYTES);
	bytes_put(&w, data, size);
	batch_seal(&w, &header);
	l.state->changes = &l.changes;
	state_read_begin();
	replay(l.state, w.data, w.size);
	replay(l.state, data, size);
	state_read_end();
	loaded_destroy(&l);
	bytes_writer_free(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	switch (data[0] % 3) {
	case 0: fuzz_entries(data + 1, size - 1); break;
	case 1: fuzz_items(data + 1, size - 1); break;
	default: fuzz_batch(data + 1, size - 1); break;
	}
	return 0;
}
