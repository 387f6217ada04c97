#include "state/base/memory.h"
#include "state/etcd/etcd.h"
#include "tests/support/etcd/etcd_server.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// 26 MB go there and come back, which a busy machine takes its time for; nothing here is about how long.
#define TIMEOUT_MS 100000u
#define ITEMS 1500u
#define BIG_BYTES (64u * 1024)
#define BIG_ITEMS 400u

static struct etcd_server server;
static struct etcd *etcd;

static void put_many(const char *folder, uint32_t count, uint32_t size)
{
	char(*keys)[32] = memory_take_array(count, sizeof *keys);
	struct etcd_put *puts = memory_take_array(count, sizeof *puts);
	struct etcd_txn *txns = memory_take_array(count, sizeof *txns);
	struct etcd_txn_result *results = memory_take_array(count, sizeof *results);
	uint8_t *values = memory_take((size_t)count * size);
	for (uint32_t i = 0; i < count; i++) {
		snprintf(keys[i], sizeof *keys, "%s%05u", folder, i);
		memset(values + (size_t)i * size, (int)(i & 255), size);
		puts[i] = (struct etcd_put){keys[i], values + (size_t)i * size, size, 0};
		txns[i] = (struct etcd_txn){.puts = &puts[i], .put_count = 1};
	}
	assert_int_equal(etcd_txn_many(etcd, txns, count, 4, TIMEOUT_MS, results), 0);
	free(values);
	free(results);
	free(txns);
	free(puts);
	free(keys);
}

static int begin_all(void **unused)
{
	char message[ETCD_MESSAGE_BYTES];
	etcd_server_start(&server, 0);
	struct etcd_settings settings = {.endpoints = server.url, .timeout_ms = TIMEOUT_MS};
	int error = etcd_open(&settings, &etcd, message, sizeof message);
	if (error)
		return error;
	put_many("r/", ITEMS, 8);
	put_many("big/", BIG_ITEMS, BIG_BYTES);
	return 0;
}

static int end_all(void **unused)
{
	etcd_close(etcd);
	etcd_server_stop(&server);
	return 0;
}

struct walk {
	const char *folder;
	uint32_t count, last, value_bytes;
	uint32_t ends_after; // 0: never
	bool descending;
};

// Each is the next, with its own bytes.
static bool step(void *context, const struct etcd_item *item)
{
	struct walk *w = context;
	char key[32];
	uint32_t at = w->descending ? w->last - w->count : w->count;
	snprintf(key, sizeof key, "%s%05u", w->folder, at);
	assert_string_equal(item->key, key);
	assert_int_equal(item->size, w->value_bytes);
	const uint8_t *value = item->value;
	for (uint32_t i = 0; i < item->size; i++)
		if (value[i] != (at & 255))
			fail_msg("value of %s", key);
	w->count++;
	return w->count != w->ends_after;
}

static struct etcd_range_result walk(struct walk *w, struct etcd_range range)
{
	struct etcd_range_result result;
	range.visit = step;
	range.context = w;
	range.descending = w->descending;
	assert_int_equal(etcd_range(etcd, &range, TIMEOUT_MS, &result), 0);
	assert_true(result.revision > ITEMS + BIG_ITEMS);
	return result;
}

static void more_than_a_thousand_items_come_in_order(void **unused)
{
	struct walk w = {"r/", .value_bytes = 8};
	assert_int_equal(walk(&w, (struct etcd_range){"r/", "r0"}).count, ITEMS);
	assert_int_equal(w.count, ITEMS);
	struct walk down = {"r/", .value_bytes = 8, .last = ITEMS - 1, .descending = true};
	assert_int_equal(walk(&down, (struct etcd_range){"r/", "r0"}).count, ITEMS);
	assert_int_equal(down.count, ITEMS);
	struct walk keys = {"r/"};
	walk(&keys, (struct etcd_range){"r/", "r0", .keys_only = true, .is_stale = true});
	assert_int_equal(keys.count, ITEMS);
}

static void no_more_than_the_limit_come(void **unused)
{
	for (uint32_t limit = 1; limit < ITEMS; limit = limit * 3 + 1) {
		struct walk w = {"r/", .value_bytes = 8};
		assert_int_equal(
			walk(&w, (struct etcd_range){"r/", "r0", .limit = limit}).count, ITEMS);
		assert_int_equal(w.count, limit);
		struct walk down = {"r/", .last = ITEMS - 1, .descending = true};
		walk(&down, (struct etcd_range){"r/", "r0", .limit = limit, .keys_only = true});
		assert_int_equal(down.count, limit);
	}
}

static void large_values_come_whole(void **unused)
{
	struct walk w = {"big/", .value_bytes = BIG_BYTES};
	assert_int_equal(walk(&w, (struct etcd_range){"big/", "big0"}).count, BIG_ITEMS);
	assert_int_equal(w.count, BIG_ITEMS);
}

static void a_visitor_may_have_seen_enough(void **unused)
{
	struct walk w = {"r/", .value_bytes = 8, .ends_after = 40};
	assert_int_equal(walk(&w, (struct etcd_range){"r/", "r0"}).count, ITEMS);
	assert_int_equal(w.count, 40);
}

static void what_is_not_there_is_no_error(void **unused)
{
	struct walk w = {"none/"};
	assert_int_equal(walk(&w, (struct etcd_range){"none/", "none0"}).count, 0);
	assert_int_equal(walk(&w, (struct etcd_range){"none"}).count, 0);
	assert_int_equal(w.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_than_a_thousand_items_come_in_order),
		cmocka_unit_test(no_more_than_the_limit_come),
		cmocka_unit_test(large_values_come_whole),
		cmocka_unit_test(a_visitor_may_have_seen_enough),
		cmocka_unit_test(what_is_not_there_is_no_error),
	};
	return cmocka_run_group_tests(tests, begin_all, end_all);
}
