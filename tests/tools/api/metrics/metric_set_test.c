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
	uint64_t buckets[METRIC_BUCKETS] = {[0] = 1, [3] = 2, [31] = 4};
	metric_put_of(&sink, METRIC_PORT_SENT_BYTES_TOTAL, "type=\"x\"", 3);
	metric_put(&sink, METRIC_UPTIME_SECONDS, 0.25);
	metric_put_histogram(&sink, METRIC_PLAN_EVALUATE, buckets, 5e6);
	metric_put_of(&sink, METRIC_PORT_SENT_BYTES_TOTAL, "type=\"y\",why=\"z\"", 1e18);
	metric_put(&sink, METRIC_PLAN_NODE_REJECTED, 2);
	metric_put(&sink, METRIC_PROCESS_CPU_SECONDS_TOTAL, 1.75);
	metric_put(&sink, METRIC_HTTP_CONNECTIONS, 1);
	metric_put(&sink, METRIC_HTTP_CONNECTIONS_TOTAL, 9);
	metric_put_of(&sink, METRIC_BUILD_INFO, "version=\"1\"", 1);
	metric_set_sort(set);
}

typedef void form_writer(const struct metric_set *, struct json_writer *);
typedef bool form_reader(const char *, struct prometheus *, char *, size_t);

static char *written(form_writer *write, form_reader *read, struct prometheus *p)
{
	struct metric_set set = {0};
	struct json_writer w = {0};
	char problem[256];
	fill(&set);
	write(&set, &w);
	metric_set_free(&set);
	char *text = json_writer_take(&w);
	if (!read(text, p, problem, sizeof problem))
		fail_msg("%s\n%s", problem, text);
	return text;
}

// Both forms have the same series with the same values.
static void expect_series(const struct prometheus *p)
{
	static const struct {
		const char *name, *labels;
		double value;
	} series[] = {{"berth_uptime_seconds", "", 0.25},
		{"berth_port_sent_bytes_total", "type=\"x\"", 3},
		{"berth_port_sent_bytes_total", "type=\"y\",why=\"z\"", 1e18},
		{"nomad_nomad_plan_evaluate_count", "", 7},
		{"nomad_nomad_plan_evaluate_sum", "", 5}, {"nomad_nomad_plan_node_rejected", "", 2},
		{"process_cpu_seconds_total", "", 1.75}, {"berth_http_connections", "", 1},
		{"berth_http_connections_total", "", 9}, {"berth_build_info", "version=\"1\"", 1}};
	uint32_t count = sizeof series / sizeof series[0];
	for (uint32_t i = 0; i < count; i++)
		if (prometheus_value(p, series[i].name, series[i].labels) != series[i].value)
			fail_msg("%s is %f", series[i].name,
				prometheus_value(p, series[i].name, series[i].labels));
	assert_int_equal(p->count, count + METRIC_BUCKETS);
}

static const struct prometheus_family *family_of(const struct prometheus *p, const char *name)
{
	for (uint32_t i = 0; i < p->family_count; i++)
		if (strcmp(p->families[i].name, name) == 0)
			return &p->families[i];
	fail_msg("no family %s", name);
	return NULL;
}

static void prometheus_text_is_strict(void **unused)
{
	struct prometheus p;
	char *text = written(metric_set_prometheus, prometheus_read, &p);
	expect_series(&p);
	assert_non_null(strstr(text, "# HELP nomad_nomad_plan_evaluate Seconds that the check of a "
				     "plan against its nodes took.\n"
				     "# TYPE nomad_nomad_plan_evaluate histogram\n"));
	assert_non_null(strstr(text, "nomad_nomad_plan_evaluate_bucket{le=\"+Inf\"} 7\n"));
	assert_null(strstr(text, "# UNIT"));
	assert_null(strstr(text, "# EOF"));
	assert_string_equal(family_of(&p, "berth_build_info")->type, "gauge");
	assert_string_equal(family_of(&p, "berth_port_sent_bytes_total")->type, "counter");
	assert_string_equal(family_of(&p, "nomad_nomad_plan_node_rejected")->type, "counter");
	prometheus_free(&p);
	free(text);
}

static void openmetrics_text_is_strict(void **unused)
{
	static const struct {
		const char *name, *type, *unit;
	} families[] = {{"berth_build", "info", NULL}, {"berth_uptime_seconds", "gauge", "seconds"},
		{"berth_port_sent_bytes", "counter", "bytes"},
		{"nomad_nomad_plan_evaluate", "histogram", NULL},
		{"nomad_nomad_plan_node_rejected", "unknown", NULL},
		{"process_cpu_seconds", "counter", "seconds"},
		{"berth_http_connections", "gauge", NULL},
		{"berth_http_connections_total", "unknown", NULL}};
	struct prometheus p;
	char *text = written(metric_set_openmetrics, openmetrics_read, &p);
	expect_series(&p);
	assert_int_equal(p.family_count, sizeof families / sizeof families[0]);
	for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
		const struct prometheus_family *f = family_of(&p, families[i].name);
		assert_string_equal(f->type, families[i].type);
		assert_non_null(f->help);
		if (families[i].unit)
			assert_string_equal(f->unit, families[i].unit);
		else
			assert_null(f->unit);
	}
	prometheus_free(&p);
	free(text);
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

static void the_reader_of_openmetrics_is_strict(void **unused)
{
	static const char *const wrong[] = {
		"# TYPE a gauge\na 1\n",                        // no end
		"# TYPE a gauge\na 1\n# EOF\n# EOF\n",          // more after it
		"# TYPE a counter\na 1\n# EOF\n",               // no _total
		"# TYPE a_total counter\na_total 1\n# EOF\n",   // _total in the family
		"# TYPE a info\na 1\n# EOF\n",                  // no _info
		"# TYPE a gauge\n# UNIT a bytes\na 1\n# EOF\n", // another unit than the name's
		"# TYPE a_bytes gauge\n# UNIT b_bytes bytes\n# EOF\n",       // of another family
		"# TYPE a counter\na_total 1\n# TYPE a gauge\na 1\n# EOF\n", // a name twice
	};
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct prometheus p;
		char problem[256];
		if (openmetrics_read(wrong[i], &p, problem, sizeof problem))
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
	assert_int_equal(json_array_size(counters), 5);
	json_t *counter = json_array_get(counters, 2);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(counter, "Labels"), "why")), "z");
	assert_true(json_number_value(json_object_get(json_array_get(counters, 1), "Rate")) == 0.3);
	json_t *seconds = json_array_get(counters, 4);
	assert_true(json_is_integer(json_object_get(seconds, "Count")));
	assert_int_equal(json_integer_value(json_object_get(seconds, "Count")), 1);
	assert_true(json_number_value(json_object_get(seconds, "Sum")) == 1.75);
	assert_int_equal(json_array_size(json_object_get(root, "Gauges")), 3);
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
		cmocka_unit_test(openmetrics_text_is_strict),
		cmocka_unit_test(the_reader_itself_is_strict),
		cmocka_unit_test(the_reader_of_openmetrics_is_strict),
		cmocka_unit_test(json_has_nomads_shape),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
