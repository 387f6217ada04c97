// A snapshot that is read ahead is put back as one that is read item by item: the same state, or the same error.
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/base/prng.h"
#include "state/snapshot/snapshot_view.h"
#include "state/store/snapshot_load_file.h"
#include "tests/state/store/world.h"
#include "tests/support/core/slowness.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define NODES 40u
#define ALLOCATIONS 700u // more than a piece holds
#define TRIALS (300u / BUILD_SLOWNESS)

struct items {
	struct bytes_writer all; // per item u32 size, bytes
	uint32_t count;
};

static int collect(void *context, const void *item, uint32_t size)
{
	struct items *items = context;

	bytes_put_u32(&items->all, size);
	bytes_put(&items->all, item, size);
	items->count++;
	return 0;
}

static void begin(struct world *w, struct items *items, char path[128])
{
	struct command_place place;
	struct snapshot_info info;
	char message[256];
	const struct complaint complaint = {message, sizeof message};

	world_init(w);
	assert_int_equal(world_open(w), 0);
	for (uint32_t i = 0; i < NODES; i++)
		assert_int_equal(world_register(w, i), OUTCOME_DONE);
	assert_int_equal(world_job(w, 1), OUTCOME_DONE);
	for (uint32_t i = 0; i < ALLOCATIONS; i++)
		(void)world_place(w, i + 1, &place);
	assert_int_equal(store_snapshot(w->store, w->state), 0);
	snprintf(path, 128, "%s/snapshot-%lu", w->directory, state_index(w->state));
	*items = (struct items){.all = bytes_writer_growing(4096)};
	assert_int_equal(
		snapshot_read_file(path, SNAPSHOT_ITEMS_VERSION, collect, items, &info, &complaint),
		0);
	world_close(w);
	snprintf(path, 128, "%s/changed", w->directory);
}

static void end(struct world *w, struct items *items, const char *path)
{
	unlink(path);
	bytes_writer_free(&items->all);
	world_remove(w);
}

// Writes the items; with a prng, one byte of one of them is changed, or its end cut off.
static void write_changed(const struct items *items, const char *path, struct prng *prng)
{
	uint32_t which = prng ? (uint32_t)prng_below(prng, items->count) : items->count;
	struct bytes_reader r = bytes_reader_over(items->all.data, items->all.size);
	struct snapshot_writer *writer;

	assert_int_equal(snapshot_writer_open(path, SNAPSHOT_ITEMS_VERSION, 1, &writer), 0);
	for (uint32_t i = 0; i < items->count; i++) {
		uint32_t size = bytes_take_u32(&r);
		uint8_t *item = memory_take(size);
		memcpy(item, bytes_take(&r, size), size);
		if (i == which && prng_below(prng, 4) == 0)
			size = (uint32_t)prng_below(prng, size);
		else if (i == which)
			item[prng_below(prng, size)] ^= (uint8_t)(1u << prng_below(prng, 8));
		bytes_put(snapshot_item_begin(writer), item, size);
		snapshot_item_keep(writer);
		free(item);
	}
	assert_int_equal(snapshot_writer_close(writer), 0);
}

static int load_item(void *context, const void *item, uint32_t size)
{
	return snapshot_load_item(context, item, size);
}

static int load_one_by_one(struct snapshot_load *load, const char *path)
{
	struct snapshot_info info;
	const struct complaint none = {0};

	return snapshot_read_file(path, SNAPSHOT_ITEMS_VERSION, load_item, load, &info, &none);
}

static int load_ahead(struct snapshot_load *load, const char *path)
{
	struct snapshot_info info;

	return snapshot_load_file(load, path, &info);
}

// The whole state, item by item; nothing after an error.
static struct bytes_writer image_after(int load(struct snapshot_load *, const char *),
	const char *path, uint32_t allocations_max, int *error)
{
	struct state *state = state_create(&(struct state_limits){.nodes = 4096,
		.jobs = 16,
		.allocations = allocations_max,
		.place_requests = 100000,
		.clients = 16});
	struct bytes_writer image = bytes_writer_growing(4096);
	struct snapshot_load *begun = snapshot_load_begin(state);

	*error = load(begun, path);
	int at_end = snapshot_load_end(begun);
	*error = *error ? *error : at_end;
	if (!*error) {
		struct snapshot_view *view = snapshot_view_begin(state);
		while (snapshot_view_next(view, &image))
			;
		snapshot_view_end(view);
	}
	state_destroy(state);
	return image;
}

static void compare(const char *path, uint32_t allocations_max, uint32_t errors[2])
{
	int plain_error, error;
	struct bytes_writer plain =
		image_after(load_one_by_one, path, allocations_max, &plain_error);
	struct bytes_writer ahead = image_after(load_ahead, path, allocations_max, &error);

	assert_int_equal(error, plain_error);
	assert_int_equal(ahead.size, plain.size);
	assert_memory_equal(ahead.data, plain.data, plain.size);
	errors[error != 0]++;
	bytes_writer_free(&plain);
	bytes_writer_free(&ahead);
}

static void a_changed_item_gives_the_same_state_or_the_same_error(void **unused)
{
	struct world w;
	struct items items;
	struct prng prng;
	char path[128];
	uint32_t errors[2] = {0};

	prng_seed(&prng, 17);
	begin(&w, &items, path);
	for (uint32_t i = 0; i < TRIALS; i++) {
		write_changed(&items, path, &prng);
		compare(path, 100000, errors);
	}
	assert_true(errors[0] > 0 && errors[1] > 0);
	end(&w, &items, path);
}

// A name that the node shares with others stands among those that are its own: each by itself can be decoded.
static void a_node_that_breaks_a_rule_is_corrupt(void **unused)
{
	struct world w;
	struct items items;
	char path[128];
	uint32_t errors[2] = {0};

	begin(&w, &items, path);
	write_changed(&items, path, NULL);
	compare(path, 100000, errors);
	assert_int_equal(errors[0], 1);
	char *own = memmem(items.all.data, items.all.size, "unique.", 7);
	assert_non_null(own);
	own[0] = 'v';
	write_changed(&items, path, NULL);
	compare(path, 100000, errors);
	assert_int_equal(errors[1], 1);
	end(&w, &items, path);
}

// Where the items of a kind have what they are found by: the description of a node begins with its id.
static const struct {
	uint8_t kind;
	uint32_t at, bytes;
} keys[] = {{STATE_NODES, 46, 16}, {STATE_ALLOCATIONS, 1, 16}, {STATE_PLACE_REQUESTS, 9, 20}};

// Gives the last item of a kind the key of the first one.
static void double_key(struct items *items, size_t which)
{
	struct bytes_reader r = bytes_reader_over(items->all.data, items->all.size);
	uint8_t *first = NULL, *last = NULL;

	for (uint32_t i = 0; i < items->count; i++) {
		uint8_t *item = (uint8_t *)(uintptr_t)bytes_take(&r, bytes_take_u32(&r));
		if (item[0] != keys[which].kind)
			continue;
		first = first ? first : item;
		last = item;
	}
	assert_true(last != first);
	assert_memory_not_equal(last + keys[which].at, first + keys[which].at, keys[which].bytes);
	memcpy(last + keys[which].at, first + keys[which].at, keys[which].bytes);
}

static void what_is_there_twice_is_corrupt(void **unused)
{
	for (size_t which = 0; which < sizeof keys / sizeof keys[0]; which++) {
		struct world w;
		struct items items;
		char path[128];
		int error;

		begin(&w, &items, path);
		double_key(&items, which);
		write_changed(&items, path, NULL);
		struct bytes_writer image = image_after(load_ahead, path, 100000, &error);
		assert_int_equal(error, -ERROR_CORRUPT);
		bytes_writer_free(&image);
		compare(path, 100000, (uint32_t[2]){0});
		end(&w, &items, path);
	}
}

static void a_limit_that_is_too_low_is_met_at_the_same_item(void **unused)
{
	struct world w;
	struct items items;
	struct prng prng;
	char path[128];
	uint32_t errors[2] = {0};

	prng_seed(&prng, 18);
	begin(&w, &items, path);
	for (uint32_t i = 0; i < TRIALS / 10; i++) {
		write_changed(&items, path, &prng);
		compare(path, 1 + (uint32_t)prng_below(&prng, 300), errors);
	}
	assert_true(errors[1] > 0);
	end(&w, &items, path);
}

// The file is damaged while it is read: what stands before the damage is put back, and the damage is the error.
static void a_file_that_ends_too_early_is_corrupt(void **unused)
{
	struct world w;
	struct items items;
	struct prng prng;
	char path[128];
	uint32_t errors[2] = {0};

	prng_seed(&prng, 19);
	begin(&w, &items, path);
	write_changed(&items, path, &prng);
	for (off_t size = 0; size < 20000; size += 997) {
		write_changed(&items, path, &prng);
		assert_int_equal(truncate(path, size), 0);
		compare(path, 100000, errors);
	}
	assert_int_equal(errors[0], 0);
	end(&w, &items, path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_changed_item_gives_the_same_state_or_the_same_error),
		cmocka_unit_test(a_node_that_breaks_a_rule_is_corrupt),
		cmocka_unit_test(what_is_there_twice_is_corrupt),
		cmocka_unit_test(a_limit_that_is_too_low_is_met_at_the_same_item),
		cmocka_unit_test(a_file_that_ends_too_early_is_corrupt),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
