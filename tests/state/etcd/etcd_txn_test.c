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

#define TIMEOUT_MS 100000u // nothing here is about how long it takes
#define BIG_BYTES (900u * 1024)
#define MANY 200u

static struct etcd_server server;
static struct etcd *etcd;

static int begin_all(void **unused)
{
	char message[ETCD_MESSAGE_BYTES];
	etcd_server_start(&server, 0);
	struct etcd_settings settings = {.endpoints = server.url, .timeout_ms = TIMEOUT_MS};
	return etcd_open(&settings, &etcd, message, sizeof message);
}

static int end_all(void **unused)
{
	etcd_close(etcd);
	etcd_server_stop(&server);
	return 0;
}

static struct etcd_txn_result put(const char *key, const void *value, uint32_t size)
{
	struct etcd_put one = {key, value, size, 0};
	struct etcd_txn txn = {.puts = &one, .put_count = 1};
	struct etcd_txn_result result;
	assert_int_equal(etcd_txn(etcd, &txn, TIMEOUT_MS, &result), 0);
	return result;
}

struct seen {
	bool is_there;
	struct etcd_item item;
	uint8_t *value; // a copy
};

static bool see(void *context, const struct etcd_item *item)
{
	struct seen *seen = context;
	assert_false(seen->is_there);
	seen->is_there = true;
	seen->item = *item;
	seen->value = memory_take(item->size + 1);
	memcpy(seen->value, item->value, item->size);
	return true;
}

static struct seen get(const char *key)
{
	struct seen seen = {0};
	struct etcd_range range = {.key = key, .visit = see, .context = &seen};
	struct etcd_range_result result;
	assert_int_equal(etcd_range(etcd, &range, TIMEOUT_MS, &result), 0);
	assert_int_equal(result.count, seen.is_there);
	assert_true(result.revision > 0);
	return seen;
}

static bool try_compare(struct etcd_compare compare)
{
	struct etcd_put one = {"compared", "x", 1, 0};
	struct etcd_txn txn = {
		.compares = &compare, .compare_count = 1, .puts = &one, .put_count = 1};
	struct etcd_txn_result result;
	assert_int_equal(etcd_txn(etcd, &txn, TIMEOUT_MS, &result), 0);
	assert_int_equal(result.error, 0);
	return result.succeeded;
}

static void compares_of_all_kinds_hold_or_not(void **unused)
{
	uint64_t created = put("key", "1", 1).revision, changed = put("key", "2", 1).revision;
	assert_true(changed > created);
	assert_true(try_compare((struct etcd_compare){"key", true, created}));
	assert_false(try_compare((struct etcd_compare){"key", true, changed}));
	assert_true(try_compare((struct etcd_compare){"key", false, changed}));
	assert_false(try_compare((struct etcd_compare){"key", false, created}));
	assert_false(try_compare((struct etcd_compare){"key", true, 0}));
	assert_false(try_compare((struct etcd_compare){"key", false, 0}));
	assert_true(try_compare((struct etcd_compare){"no key", true, 0}));
	assert_true(try_compare((struct etcd_compare){"no key", false, 0}));
}

static void all_compares_must_hold(void **unused)
{
	uint64_t changed = put("both", "1", 1).revision;
	struct etcd_compare compares[] = {{"both", false, changed}, {"neither", false, changed}};
	struct etcd_put one = {"neither", "x", 1, 0};
	struct etcd_txn txn = {
		.compares = compares, .compare_count = 2, .puts = &one, .put_count = 1};
	struct etcd_txn_result result;
	assert_int_equal(etcd_txn(etcd, &txn, TIMEOUT_MS, &result), 0);
	assert_false(result.succeeded);
	assert_false(get("neither").is_there);
}

static void puts_and_deletes_are_one_change(void **unused)
{
	put("old/1", "a", 1);
	put("old/2", "b", 1);
	put("older", "c", 1);
	struct etcd_put one = {"new", "x", 1, 0};
	struct etcd_delete deletes[] = {{"old/", "old0"}, {"older", NULL}};
	struct etcd_txn txn = {.puts = &one, .put_count = 1, .deletes = deletes, .delete_count = 2};
	struct etcd_txn_result result;
	assert_int_equal(etcd_txn(etcd, &txn, TIMEOUT_MS, &result), 0);
	assert_true(result.succeeded);
	assert_false(get("old/1").is_there || get("old/2").is_there || get("older").is_there);
	struct seen seen = get("new");
	assert_true(seen.is_there);
	assert_int_equal(seen.item.changed, result.revision);
	assert_int_equal(seen.item.created, result.revision);
	free(seen.value);
}

static void check_value(const char *key, const uint8_t *value, uint32_t size)
{
	put(key, value, size);
	struct seen seen = get(key);
	assert_true(seen.is_there);
	assert_int_equal(seen.item.size, size);
	assert_memory_equal(seen.value, value, size);
	free(seen.value);
}

static void values_are_any_bytes(void **unused)
{
	uint8_t value[256 + 2];
	for (uint32_t i = 0; i < sizeof value; i++)
		value[i] = (uint8_t)i;
	for (uint32_t size = 0; size < 4; size++)
		check_value("bytes", value + 254, size);
	check_value("bytes", value, sizeof value);
}

static void a_value_may_have_900_kib_and_no_more_than_etcd_takes(void **unused)
{
	uint8_t *value = memory_take(BIG_BYTES * 3);
	for (uint32_t i = 0; i < BIG_BYTES * 3; i++)
		value[i] = (uint8_t)(i * 2654435761u >> 13);
	check_value("big", value, BIG_BYTES);
	struct etcd_put one = {"bigger", value, BIG_BYTES * 3, 0};
	struct etcd_txn txn = {.puts = &one, .put_count = 1};
	struct etcd_txn_result result;
	assert_int_equal(etcd_txn(etcd, &txn, TIMEOUT_MS, &result), -EMSGSIZE);
	assert_int_equal(result.error, -EMSGSIZE);
	char trouble[ETCD_MESSAGE_BYTES];
	etcd_trouble(etcd, trouble, sizeof trouble);
	assert_non_null(strstr(trouble, server.url));
	free(value);
}

static void many_are_done_at_once_or_one_by_one(void **unused)
{
	static char keys[MANY][16];
	static struct etcd_put puts[MANY];
	static struct etcd_txn txns[MANY];
	static struct etcd_txn_result results[MANY];
	for (uint32_t together = 1; together <= 8; together *= 2) {
		for (uint32_t i = 0; i < MANY; i++) {
			snprintf(keys[i], sizeof keys[i], "many/%u/%u", together, i);
			puts[i] = (struct etcd_put){keys[i], &puts[i], sizeof puts[i], 0};
			txns[i] = (struct etcd_txn){.puts = &puts[i], .put_count = 1};
		}
		assert_int_equal(etcd_txn_many(etcd, txns, MANY, together, TIMEOUT_MS, results), 0);
		for (uint32_t i = 0; i < MANY; i++) {
			assert_int_equal(results[i].error, 0);
			assert_true(results[i].succeeded);
			if (together == 1 && i > 0)
				assert_int_equal(results[i].revision, results[i - 1].revision + 1);
		}
	}
	assert_int_equal(etcd_counters(etcd)->txns_under_way, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compares_of_all_kinds_hold_or_not),
		cmocka_unit_test(all_compares_must_hold),
		cmocka_unit_test(puts_and_deletes_are_one_change),
		cmocka_unit_test(values_are_any_bytes),
		cmocka_unit_test(a_value_may_have_900_kib_and_no_more_than_etcd_takes),
		cmocka_unit_test(many_are_done_at_once_or_one_by_one),
	};
	return cmocka_run_group_tests(tests, begin_all, end_all);
}
