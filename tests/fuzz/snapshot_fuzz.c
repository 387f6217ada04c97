// A snapshot that nobody may have written: refused, or a state that keeps every invariant and is written
// again as it was read. The first byte chooses: 0, the rest is a file, checksums and all; else the rest
// is items, each after its size (u16), so that a mutation gets past the checksums.
#include "state/base/check.h"
#include "state/snapshot/snapshot_view.h"
#include "state/store/snapshot_file.h"
#include <stdio.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print_violation(const char *text, void *context)
{
	fprintf(stderr, "%s\n", text);
}

static int load_item(void *load, const void *item, uint32_t size)
{
	return snapshot_load_item(load, item, size);
}

static int64_t read_bytes(void *context, void *to, size_t size)
{
	struct bytes_reader *r = context;
	size_t taken = size < bytes_left(r) ? size : bytes_left(r);
	if (taken > 0)
		memcpy(to, bytes_take(r, taken), taken);
	return (int64_t)taken;
}

static int load_file(struct snapshot_load *load, struct bytes_reader *r)
{
	char message[256] = "";
	struct snapshot_info info;
	struct complaint complaint = {message, sizeof message};
	int error = snapshot_read(&(struct snapshot_source){read_bytes, r}, SNAPSHOT_ITEMS_VERSION,
		load_item, load, &info, "input", &complaint);
	return error;
}

static int load_items(struct snapshot_load *load, struct bytes_reader *r)
{
	int error = 0;
	while (error == 0 && bytes_left(r) > 0) {
		uint16_t size = bytes_take_u16(r);
		const uint8_t *item = bytes_take(r, size);
		if (r->failed)
			break;
		error = snapshot_load_item(load, item, size);
	}
	return error;
}

static struct state *small_state(void)
{
	struct state_limits limits = {NODE_BLOCK_SLOTS, 64, 1024, 1024, 64};
	struct state *state = state_create(&limits);
	CHECK(state != NULL);
	return state;
}

// As items with their sizes.
static struct bytes_writer image_of(struct state *state)
{
	struct bytes_writer image = bytes_writer_growing(1024);
	struct snapshot_view *view = snapshot_view_begin(state);
	for (;;) {
		size_t at = image.size;
		bytes_put_u16(&image, 0);
		if (!snapshot_view_next(view, &image)) {
			image.size = at;
			break;
		}
		uint16_t size = (uint16_t)(image.size - at - 2);
		memcpy(image.data + at, &size, sizeof size);
	}
	snapshot_view_end(view);
	CHECK(!image.failed);
	return image;
}

// What was accepted is written and read again, and then written the same.
static void check_image(struct state *state)
{
	struct bytes_writer first = image_of(state);
	struct state *again = small_state();
	struct snapshot_load *load = snapshot_load_begin(again);
	struct bytes_reader r = bytes_reader_over(first.data, first.size);
	CHECK(load_items(load, &r) == 0);
	CHECK(snapshot_load_end(load) == 0);
	struct bytes_writer second = image_of(again);
	CHECK(first.size == second.size && memcmp(first.data, second.data, first.size) == 0);
	bytes_writer_free(&second);
	bytes_writer_free(&first);
	state_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes_reader r = bytes_reader_over(data, size);
	bool is_file = bytes_take_u8(&r) == 0;
	struct state *state = small_state();
	struct snapshot_load *load = snapshot_load_begin(state);
	int error = is_file ? load_file(load, &r) : load_items(load, &r);
	int end = snapshot_load_end(load);
	if (error == 0 && end == 0) {
		CHECK(state_verify(state, print_violation, NULL) == 0);
		check_image(state);
	}
	state_destroy(state);
	return 0;
}
