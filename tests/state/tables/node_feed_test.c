// The feed of changed nodes: nothing is passed over unless the reader is told so.
#include "state/tables/nodes/node_feed.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define ROOM 4096u

static void a_reader_gets_every_slot_in_order(void **unused)
{
	struct node_feed feed = {0};
	uint32_t slots[100];
	uint64_t seen = 0;

	assert_true(node_feed_create(&feed, 10));
	assert_int_equal(node_feed_read(&feed, &seen, slots, 100), 0);
	for (uint32_t i = 0; i < 250; i++)
		node_feed_note(&feed, 7 * i);
	assert_int_equal(node_feed_head(&feed), 250);
	for (uint32_t got = 0; got < 250;) {
		uint32_t count = node_feed_read(&feed, &seen, slots, 100);
		assert_int_equal(count, got < 200 ? 100 : 50);
		for (uint32_t i = 0; i < count; i++)
			assert_int_equal(slots[i], 7 * (got + i));
		got += count;
	}
	assert_int_equal(node_feed_read(&feed, &seen, slots, 100), 0);
	assert_int_equal(seen, 250);
	node_feed_destroy(&feed);
}

static void a_reader_that_is_too_far_behind_is_told(void **unused)
{
	struct node_feed feed = {0};
	uint32_t slot;
	uint64_t seen = 0;

	assert_true(node_feed_create(&feed, 10));
	for (uint32_t i = 0; i < ROOM; i++)
		node_feed_note(&feed, i);
	assert_int_equal(node_feed_read(&feed, &seen, &slot, 1), 1);
	assert_int_equal(slot, 0);
	node_feed_note(&feed, 1);
	assert_int_equal(node_feed_read(&feed, &seen, &slot, 1), 1);
	assert_int_equal(slot, 1);
	for (uint32_t i = 0; i < 2; i++)
		node_feed_note(&feed, 1);
	assert_int_equal(node_feed_read(&feed, &seen, &slot, 1), NODE_FEED_LOST);
	assert_int_equal(seen, 2);
	node_feed_destroy(&feed);
}

static void a_feed_has_room_for_the_fleet(void **unused)
{
	struct node_feed feed = {0};
	uint32_t slot;
	uint64_t seen = 0;

	assert_true(node_feed_create(&feed, 3 * ROOM));
	for (uint32_t i = 0; i < 3 * ROOM; i++)
		node_feed_note(&feed, i);
	assert_int_equal(node_feed_read(&feed, &seen, &slot, 1), 1);
	node_feed_destroy(&feed);
}

#define NOTES 400000u

static void *write_all(void *feed)
{
	for (uint32_t i = 0; i < NOTES; i++)
		node_feed_note(feed, i);
	return NULL;
}

// What is read while the writer runs round the ring is what was written, or is known to be lost.
static void a_reader_beside_the_writer_is_never_deceived(void **unused)
{
	struct node_feed feed = {0};
	uint32_t slots[64], lost = 0, got = 0;
	uint64_t seen = 0;
	pthread_t writer;

	assert_true(node_feed_create(&feed, 10));
	assert_int_equal(pthread_create(&writer, NULL, write_all, &feed), 0);
	while (seen < NOTES) {
		uint64_t from = seen;
		uint32_t count = node_feed_read(&feed, &seen, slots, 64);
		if (count == NODE_FEED_LOST) {
			seen = node_feed_head(&feed);
			lost++;
			continue;
		}
		for (uint32_t i = 0; i < count; i++)
			assert_int_equal(slots[i], from + i);
		got += count;
	}
	assert_int_equal(pthread_join(writer, NULL), 0);
	assert_true(got > 0 || lost > 0);
	node_feed_destroy(&feed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reader_gets_every_slot_in_order),
		cmocka_unit_test(a_reader_that_is_too_far_behind_is_told),
		cmocka_unit_test(a_feed_has_room_for_the_fleet),
		cmocka_unit_test(a_reader_beside_the_writer_is_never_deceived),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
