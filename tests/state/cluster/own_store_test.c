// The own store of a member, written behind the log: in order whatever the order in which it comes, whole at the end,
// and waited for only where it is far behind or has no room.
#include "state/base/memory.h"
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include "state/cluster/own_store.h"
#include "tests/support/memory_log.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WITHIN_S = 20 };

static struct memory_log disk;
static struct own_store *store;
static _Atomic int failed;

static void note_failure(void *context, int error)
{
	atomic_store(&failed, error);
}

static int begin(void **unused)
{
	memory_log_init(&disk);
	atomic_store(&failed, 0);
	store = own_store_create(memory_log_of(&disk), note_failure, NULL);
	assert_int_equal(own_store_start(store, 10), 0);
	return 0;
}

static int end(void **unused)
{
	own_store_destroy(store);
	memory_log_free(&disk);
	return 0;
}

static void put(uint64_t first_index, uint32_t indexes)
{
	own_store_put(store, first_index, indexes, &first_index, sizeof first_index);
}

#define AWAIT_OF_STORE(condition)                                                               \
	do {                                                                                    \
		uint64_t until_ns = time_monotonic_ns(&time_source_real) + WITHIN_S * NS_PER_S; \
		while (!(condition)) {                                                          \
			assert_true(time_monotonic_ns(&time_source_real) < until_ns);           \
			sched_yield();                                                          \
		}                                                                               \
	} while (0)

static void in_order_whatever_comes_first(void **unused)
{
	put(14, 1);
	put(11, 1);
	put(15, 5);
	AWAIT_OF_STORE(own_store_index(store) == 11);
	put(12, 2);
	AWAIT_OF_STORE(own_store_index(store) == 19);
	own_store_stop(store);
	assert_int_equal(disk.count, 4);
	static const uint64_t first[] = {11, 12, 14, 15};
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(disk.batches[i].first_index, first[i]);
		assert_memory_equal(disk.batches[i].data, &first[i], sizeof first[i]);
	}
	assert_int_equal(disk.batches[3].entries, 5);
}

// Whose answer is on its way has the disk and the processors first; the end does not wait.
static void it_begins_a_moment_later(void **unused)
{
	uint64_t put_ns = time_monotonic_ns(&time_source_real);

	put(11, 1);
	AWAIT_OF_STORE(own_store_index(store) == 11);
	assert_true(time_monotonic_ns(&time_source_real) - put_ns >= 10 * NS_PER_MS);
	for (uint64_t index = 12; index < 112; index++)
		put(index, 1);
	own_store_stop(store);
	assert_int_equal(own_store_index(store), 111);
}

static void the_end_writes_what_waits_but_nothing_behind_a_gap(void **unused)
{
	disk.block = 1;
	for (uint64_t index = 11; index < 61; index++)
		put(index, 1);
	put(62, 1);
	disk.block = 0;
	own_store_stop(store);
	assert_int_equal(own_store_index(store), 60);
	assert_int_equal(disk.count, 50);
}

static void put_much(uint64_t first_index)
{
	uint8_t *much = memory_take(OWN_STORE_BEHIND_BYTES);

	own_store_put(store, first_index, 1, much, OWN_STORE_BEHIND_BYTES);
	free(much);
}

static void *await_patiently(void *context)
{
	*(int *)context = own_store_await_room(store, true);
	return NULL;
}

static void who_is_far_ahead_waits(void **unused)
{
	pthread_t thread;
	int result = -1;

	assert_int_equal(own_store_await_room(store, false), 0);
	disk.block = 1;
	put_much(11);
	assert_int_equal(own_store_await_room(store, false), 0);
	put(12, 1);
	assert_int_equal(pthread_create(&thread, NULL, await_patiently, &result), 0);
	disk.block = 0;
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(result, 0);
	assert_true(own_store_index(store) >= 11);
	disk.block = 1;
	put_much(13);
	put(14, 1);
	own_store_hurry(store);
	assert_int_equal(own_store_await_room(store, true), -ECANCELED);
	disk.block = 0;
	own_store_stop(store);
	assert_int_equal(own_store_index(store), 14);
}

static void without_room_only_the_patient_wait(void **unused)
{
	pthread_t thread;
	int result = -1;

	disk.error = -ENOSPC;
	put(11, 1);
	AWAIT_OF_STORE(own_store_await_room(store, false) == -ENOSPC);
	assert_int_equal(pthread_create(&thread, NULL, await_patiently, &result), 0);
	disk.error = 0;
	assert_int_equal(pthread_join(thread, NULL), 0); // it is tried again every second
	assert_int_equal(result, 0);
	assert_int_equal(own_store_index(store), 11);
	disk.error = -ENOSPC;
	put(12, 1);
	own_store_stop(store); // etcd has it
	assert_int_equal(own_store_index(store), 11);
	assert_int_equal(failed, 0);
}

static void a_disk_that_fails_is_told(void **unused)
{
	disk.error = -EIO;
	put(11, 1);
	AWAIT_OF_STORE(failed == -EIO);
	own_store_stop(store);
	assert_int_equal(own_store_index(store), 10);
}

static void what_waits_takes_room(void **unused)
{
	disk.room_bytes = 1000;
	assert_int_equal(own_store_room_bytes(store), 1000);
	put(12, 1); // not its turn
	assert_int_equal(own_store_room_bytes(store), 1000 - (int64_t)sizeof(uint64_t));
	own_store_stop(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(in_order_whatever_comes_first, begin, end),
		cmocka_unit_test_setup_teardown(it_begins_a_moment_later, begin, end),
		cmocka_unit_test_setup_teardown(
			the_end_writes_what_waits_but_nothing_behind_a_gap, begin, end),
		cmocka_unit_test_setup_teardown(who_is_far_ahead_waits, begin, end),
		cmocka_unit_test_setup_teardown(without_room_only_the_patient_wait, begin, end),
		cmocka_unit_test_setup_teardown(a_disk_that_fails_is_told, begin, end),
		cmocka_unit_test_setup_teardown(what_waits_takes_room, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
