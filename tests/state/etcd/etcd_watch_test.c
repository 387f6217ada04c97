#include "state/base/memory.h"
#include "state/etcd/etcd.h"
#include "tests/support/etcd/etcd_server.h"
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define STILL_MS 1000u // after which a server that stands still is left
#define PATIENCE_MS 100000u
#define EVENTS_MAX 4000u
#define BIG_BYTES (64u * 1024)
#define STEP_US 10000u
// Far more than any step of a test takes.
#define STEPS_MAX 10000u

static struct etcd_server server;
static struct etcd *etcd; // patient: no test but one is about how long it takes

struct event {
	char key[32];
	uint64_t changed;
	uint32_t size;
	uint8_t first;
	bool was_deleted;
};

struct watcher {
	struct etcd *etcd;
	struct etcd_watch watch;
	pthread_t thread;
	_Atomic bool has_begun, is_cancelled, has_ended;
	_Atomic uint32_t count;
	struct event events[EVENTS_MAX];
	uint32_t ends_after; // 0: never by itself
	int error;
};

static bool note(void *context, const struct etcd_item *item, bool was_deleted)
{
	struct watcher *w = context;
	assert_true(w->count < EVENTS_MAX);
	struct event *event = &w->events[w->count];
	snprintf(event->key, sizeof event->key, "%s", item->key);
	event->changed = item->changed;
	event->size = item->size;
	event->first = item->size ? *(const uint8_t *)item->value : 0;
	event->was_deleted = was_deleted;
	w->count++;
	return w->ends_after == 0 || w->count < w->ends_after;
}

static void note_begin(void *context)
{
	struct watcher *w = context;
	w->has_begun = true;
}

static bool ask_cancelled(void *context)
{
	struct watcher *w = context;
	return w->is_cancelled;
}

static void *watch_thread(void *context)
{
	struct watcher *w = context;
	w->error = etcd_watch(w->etcd, &w->watch);
	w->has_ended = true;
	return NULL;
}

static void await(const _Atomic bool *flag)
{
	for (uint32_t i = 0; !*flag; i++) {
		assert_true(i < STEPS_MAX);
		usleep(STEP_US);
	}
}

static void await_count(struct watcher *w, uint32_t count)
{
	for (uint32_t i = 0; w->count < count; i++) {
		assert_true(i < STEPS_MAX);
		usleep(STEP_US);
	}
}

static struct watcher *watcher_start_with(
	struct etcd *client, const char *key, const char *end, uint64_t from)
{
	struct watcher *w = memory_take(sizeof *w);
	w->etcd = client;
	w->watch = (struct etcd_watch){key, end, from, note, note_begin, ask_cancelled, w};
	assert_int_equal(pthread_create(&w->thread, NULL, watch_thread, w), 0);
	return w;
}

static struct watcher *watcher_start(const char *key, const char *end, uint64_t from)
{
	return watcher_start_with(etcd, key, end, from);
}

static int watcher_end(struct watcher *w)
{
	assert_int_equal(pthread_join(w->thread, NULL), 0);
	return w->error;
}

static int watcher_cancel(struct watcher *w)
{
	w->is_cancelled = true;
	return watcher_end(w);
}

static uint64_t put(const char *key, const void *value, uint32_t size)
{
	struct etcd_put one = {key, value, size, 0};
	struct etcd_txn txn = {.puts = &one, .put_count = 1};
	struct etcd_txn_result result;
	assert_int_equal(etcd_txn(etcd, &txn, PATIENCE_MS, &result), 0);
	return result.revision;
}

static uint64_t delete (const char *key, const char *end)
{
	struct etcd_delete one = {key, end};
	struct etcd_txn txn = {.deletes = &one, .delete_count = 1};
	struct etcd_txn_result result;
	assert_int_equal(etcd_txn(etcd, &txn, PATIENCE_MS, &result), 0);
	return result.revision;
}

static struct etcd *open_within(uint32_t timeout_ms)
{
	char message[ETCD_MESSAGE_BYTES];
	struct etcd *client;
	struct etcd_settings settings = {.endpoints = server.url, .timeout_ms = timeout_ms};

	assert_int_equal(etcd_open(&settings, &client, message, sizeof message), 0);
	return client;
}

static int begin_all(void **unused)
{
	etcd_server_start(&server, 0);
	etcd = open_within(PATIENCE_MS);
	return 0;
}

static int end_all(void **unused)
{
	etcd_close(etcd);
	etcd_server_stop(&server);
	return 0;
}

static void expect(const struct event *event, const char *key, uint64_t changed, bool was_deleted)
{
	assert_string_equal(event->key, key);
	assert_int_equal(event->changed, changed);
	assert_int_equal(event->was_deleted, was_deleted);
}

static void puts_and_deletes_are_seen_in_order_from_an_old_revision(void **unused)
{
	uint64_t first = put("w/a", "1", 1);
	uint64_t second = put("w/b", "22", 2);
	put("x", "no", 2);
	uint64_t third = delete ("w/a", NULL);
	struct watcher *w = watcher_start("w/", "w0", first);
	await_count(w, 3);
	uint64_t fourth = put("w/c", "", 0), fifth = delete ("w/", "w0");
	await_count(w, 6);
	assert_true(w->has_begun);
	assert_int_equal(watcher_cancel(w), -ECANCELED);
	expect(&w->events[0], "w/a", first, false);
	expect(&w->events[1], "w/b", second, false);
	assert_int_equal(w->events[1].size, 2);
	expect(&w->events[2], "w/a", third, true);
	expect(&w->events[3], "w/c", fourth, false);
	expect(&w->events[4], "w/b", fifth, true);
	expect(&w->events[5], "w/c", fifth, true);
	free(w);
}

static void what_comes_after_its_begin_is_seen(void **unused)
{
	put("now/a", "1", 1);
	struct watcher *w = watcher_start("now/", "now0", 0);
	await(&w->has_begun);
	uint64_t changed = put("now/b", "2", 1);
	await_count(w, 1);
	expect(&w->events[0], "now/b", changed, false);
	assert_int_equal(watcher_cancel(w), -ECANCELED);
	free(w);
}

// 19 MiB of old events come in pieces.
static void a_long_past_with_large_values_is_seen_whole(void **unused)
{
	uint8_t *value = memory_take(BIG_BYTES);
	uint64_t first = 0;
	for (uint32_t i = 0; i < 300; i++) {
		value[0] = (uint8_t)i;
		uint64_t revision = put("long/x", value, BIG_BYTES);
		first = first ? first : revision;
	}
	struct watcher *w = watcher_start("long/", "long0", first);
	await_count(w, 300);
	assert_int_equal(watcher_cancel(w), -ECANCELED);
	for (uint32_t i = 0; i < 300; i++) {
		assert_int_equal(w->events[i].first, (uint8_t)i);
		assert_int_equal(w->events[i].size, BIG_BYTES);
		assert_true(i == 0 || w->events[i].changed > w->events[i - 1].changed);
	}
	free(w);
	free(value);
}

static void its_reader_may_end_it(void **unused)
{
	uint64_t first = put("end/a", "1", 1);
	put("end/b", "1", 1);
	struct watcher *w = memory_take(sizeof *w);
	w->watch = (struct etcd_watch){"end/", "end0", first, note, note_begin, ask_cancelled, w};
	w->ends_after = 1;
	assert_int_equal(etcd_watch(etcd, &w->watch), -ECANCELED);
	assert_int_equal(w->count, 1);
	free(w);
}

static void a_compacted_revision_is_refused(void **unused)
{
	uint64_t first = put("c/a", "1", 1);
	uint64_t last = put("c/a", "2", 1);
	assert_int_equal(etcd_compact(etcd, last, PATIENCE_MS), 0);
	struct watcher *w = watcher_start("c/", "c0", first);
	assert_int_equal(watcher_end(w), -ERANGE);
	assert_int_equal(w->count, 0);
	free(w);
	assert_int_equal(etcd_compact(etcd, first, PATIENCE_MS), -ERANGE);
}

// The stream stays open and says nothing: only a question finds out.
static void a_server_that_stands_still_ends_it(void **unused)
{
	struct etcd *hasty = open_within(STILL_MS);
	struct watcher *w = watcher_start_with(hasty, "still/", "still0", 0);
	// Where it is too late to begin with, it ends as it should, too.
	while (!w->has_begun && !w->has_ended)
		usleep(STEP_US);
	etcd_server_signal(&server, SIGSTOP);
	assert_int_equal(watcher_end(w), -ETIMEDOUT);
	etcd_server_signal(&server, SIGCONT);
	etcd_close(hasty);
	free(w);
}

static void a_quiet_watch_goes_on(void **unused)
{
	struct watcher *w = watcher_start("quiet/", "quiet0", 0);
	await(&w->has_begun);
	usleep(2500 * 1000);
	assert_false(w->has_ended);
	put("quiet/a", "1", 1);
	await_count(w, 1);
	assert_int_equal(watcher_cancel(w), -ECANCELED);
	free(w);
}

static void a_server_that_dies_ends_it_and_one_that_is_back_goes_on(void **unused)
{
	struct watcher *w = watcher_start("dies/", "dies0", 0);
	await(&w->has_begun);
	uint64_t changed = put("dies/a", "1", 1);
	await_count(w, 1);
	etcd_server_kill(&server);
	assert_int_equal(watcher_end(w), -ETIMEDOUT);
	free(w);
	etcd_server_start_again(&server);
	w = watcher_start("dies/", "dies0", changed);
	await_count(w, 1);
	assert_int_equal(watcher_cancel(w), -ECANCELED);
	free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(puts_and_deletes_are_seen_in_order_from_an_old_revision),
		cmocka_unit_test(what_comes_after_its_begin_is_seen),
		cmocka_unit_test(a_long_past_with_large_values_is_seen_whole),
		cmocka_unit_test(its_reader_may_end_it),
		cmocka_unit_test(a_compacted_revision_is_refused),
		cmocka_unit_test(a_server_that_stands_still_ends_it),
		cmocka_unit_test(a_quiet_watch_goes_on),
		cmocka_unit_test(a_server_that_dies_ends_it_and_one_that_is_back_goes_on),
	};
	return cmocka_run_group_tests(tests, begin_all, end_all);
}
