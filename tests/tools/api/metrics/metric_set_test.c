#include "tests/tools/api/prometheus_reader.h"
#include "tools/api/metrics/metric_set.h"
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void fill(struct metric_set *set)
{
	struct metric_sink sink = metric_set_sink(set);
	uint64_t buckets[32] = {[0] = 1, [3] = 2, [31] = 4};
	sink.value(sink.sink, 'c', "berth_b_total", "type=\"x\"", 3);
	sink.value(sink.sink, 'g', "berth_a", "", 0.25);
	sink.histogram(sink.sink, "berth_h_seconds", "kind=\"k\"", buckets, 5e6);
	sink.value(sink.sink, 'c', "berth_b_total", "type=\"y\",why=\"z\"", 1e18);
	metric_set_sort(set);
}

static void prometheus_text_is_strict(void **unused)
{
	struct metric_set set = {0};
	struct json_writer w = {0};
	fill(&set);
	metric_set_prometheus(&set, &w);
	char *text = json_writer_take(&w);
	struct prometheus p;
	char problem[256];
	if (!prometheus_read(text, &p, problem, sizeof problem))
		fail_msg("%s\n%s", problem, text);
	assert_true(prometheus_value(&p, "berth_a", "") == 0.25);
	assert_true(prometheus_value(&p, "berth_b_total", "type=\"x\"") == 3);
	assert_true(prometheus_value(&p, "berth_b_total", "type=\"y\",why=\"z\"") == 1e18);
	assert_true(prometheus_value(&p, "berth_h_seconds_count", "kind=\"k\"") == 7);
	assert_true(prometheus_value(&p, "berth_h_seconds_sum", "kind=\"k\"") == 5);
	prometheus_free(&p);
	assert_non_null(strstr(text, "# HELP berth_h_seconds berth_h_seconds\n"
				     "# TYPE berth_h_seconds histogram\n"));
	assert_non_null(strstr(text, "berth_h_seconds_bucket{kind=\"k\",le=\"+Inf\"} 7\n"));
	free(text);
	metric_set_free(&set);
}

static void the_reader_itself_is_strict(void **unused)
{
	static const char *const wrong[] = {
		"berth_a 1\n",                                  // no type
		"# TYPE berth_a gauge\nberth_a 1",              // no newline
		"# TYPE berth_a gauge\nberth_a one\n",          // no number
		"# TYPE berth_a gauge\nberth_a{x=1} 1\n",       // no quotes
		"# TYPE berth_a gauge\nberth_a 1\nberth_a 1\n", // twice
		"# TYPE berth_a gauge\n# TYPE berth_a gauge\n", // family twice
		"# TYPE berth_a gauge\nberth_a 1\n# TYPE berth_b counter\nberth_b "
		"1\nberth_a{x=\"1\"} 2\n",
		"# TYPE berth_a counter\nberth_a -1\n", // a counter below zero
		"# TYPE 9a gauge\n9a 1\n",              // a bad name
		"# TYPE h histogram\nh_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 1\nh_sum "
		"1\nh_count 1\n",
		"# TYPE h histogram\nh_bucket{le=\"1\"} 1\nh_sum 1\nh_count 1\n",
		"# TYPE h histogram\nh_bucket{le=\"+Inf\"} 1\nh_sum 1\nh_count 2\n",
	};
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct prometheus p;
		char problem[256];
		if (prometheus_read(wrong[i], &p, problem, sizeof problem))
			fail_msg("taken: %s", wrong[i]);
	}
}

static void json_has_nomads_shape(void **unused)
{
	struct metric_set set = {0};
	struct json_writer w = {0};
	fill(&set);
	metric_set_json(&set, &w, 10, 1795225440);
	char *text = json_writer_take(&w);
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	assert_string_equal(json_string_value(json_object_get(root, "Timestamp")),
		"2026-11-21 01:44:00 +0000 UTC");
	json_t *counters = json_object_get(root, "Counters");
	assert_int_equal(json_array_size(counters), 2);
	json_t *counter = json_array_get(counters, 1);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(counter, "Labels"), "why")), "z");
	assert_true(json_number_value(json_object_get(json_array_get(counters, 0), "Rate")) == 0.3);
	assert_int_equal(json_array_size(json_object_get(root, "Gauges")), 1);
	json_t *sample = json_array_get(json_object_get(root, "Samples"), 0);
	assert_true(json_number_value(json_object_get(sample, "Count")) == 7);
	assert_true(json_number_value(json_object_get(sample, "Sum")) == 5);
	assert_true(json_is_array(json_object_get(root, "Points")));
	json_decref(root);
	free(text);
	metric_set_free(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prometheus_text_is_strict),
		cmocka_unit_test(the_reader_itself_is_strict),
		cmocka_unit_test(json_has_nomads_shape),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
