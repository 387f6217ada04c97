// Names of keys in etcd: they sort as what they name.
#include "state/cluster/keys.h"
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void keys_are_below_the_cluster(void **state)
{
	assert_string_equal(cluster_key("prod-1", "leader").text, "/berth/prod-1/leader");
	assert_string_equal(cluster_key_of("c", "members", "x").text, "/berth/c/members/x");
	assert_string_equal(
		cluster_log_key("c", 0x1ab, 2).text, "/berth/c/log/00000000000001ab.0002");
	assert_string_equal(cluster_key_last("/berth/c/members/x"), "x");
}

static void log_keys_are_read_as_they_are_written(void **state)
{
	static const uint64_t indexes[] = {1, 9, 10, 0xffff, 1ull << 40, UINT64_MAX};
	uint64_t index;
	uint32_t piece;

	for (size_t i = 0; i < sizeof indexes / sizeof indexes[0]; i++) {
		struct cluster_key key = cluster_log_key("c", indexes[i], (uint32_t)(i * 0x333));
		assert_true(cluster_log_key_read(key.text, &index, &piece));
		assert_int_equal(index, indexes[i]);
		assert_int_equal(piece, i * 0x333);
	}
}

static void other_keys_are_no_log(void **state)
{
	static const char *const others[] = {"", "/berth/c/leader", "/berth/c/log/",
		"/berth/c/log/00000000000001ab", "/berth/c/log/00000000000001ab.002",
		"/berth/c/log/00000000000001ab.00022", "/berth/c/log/00000000000001aB.0002",
		"/berth/c/log/0000000000000 ab.0002", "/berth/c/log/00000000000001ab-0002"};
	uint64_t index;
	uint32_t piece;

	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		assert_false(cluster_log_key_read(others[i], &index, &piece));
}

static void keys_of_the_log_are_in_order(void **state)
{
	struct cluster_key end = cluster_folder_end("c", "log/"),
			   before = cluster_key("c", "leader");
	struct cluster_key last = before;

	for (uint64_t index = 1; index < 1ull << 60; index = index * 3 + 1) {
		for (uint32_t piece = 0; piece < 3; piece++) {
			struct cluster_key key = cluster_log_key("c", index, piece);
			assert_true(strcmp(last.text, key.text) < 0);
			assert_true(strcmp(key.text, end.text) < 0);
			last = key;
		}
	}
	// A watch from the leader's key to the end of the log sees neither members nor what they have.
	assert_true(strcmp(cluster_key("c", "cut").text, before.text) < 0);
	assert_true(strcmp(cluster_key("c", "alive/").text, before.text) < 0);
	assert_true(strcmp(cluster_key("c", "members/").text, end.text) > 0);
	assert_true(strcmp(cluster_key("c", "stored/").text, end.text) > 0);
}

static void the_end_of_a_cluster_holds_no_other(void **state)
{
	struct cluster_key end = cluster_folder_end("a", "");

	assert_true(strcmp(cluster_key("a", "stored/zz").text, end.text) < 0);
	assert_true(strcmp(cluster_key("a0", "alive/x").text, end.text) > 0);
	assert_true(strcmp(cluster_key("b", "alive/x").text, end.text) > 0);
}

static void names_are_words(void **state)
{
	char longest[65];

	memset(longest, 'n', 63);
	longest[63] = '\0';
	assert_true(cluster_name_is_fit("prod-1.eu_west"));
	assert_true(cluster_name_is_fit(longest));
	longest[63] = 'n';
	longest[64] = '\0';
	assert_false(cluster_name_is_fit(longest));
	assert_false(cluster_name_is_fit(""));
	assert_false(cluster_name_is_fit("a/b"));
	assert_false(cluster_name_is_fit("a b"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_below_the_cluster),
		cmocka_unit_test(log_keys_are_read_as_they_are_written),
		cmocka_unit_test(other_keys_are_no_log),
		cmocka_unit_test(keys_of_the_log_are_in_order),
		cmocka_unit_test(the_end_of_a_cluster_holds_no_other),
		cmocka_unit_test(names_are_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
