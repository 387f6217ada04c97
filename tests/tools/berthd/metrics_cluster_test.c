// What a member of a cluster counts is among its metrics, in the place where it belongs.
#include "tools/berthd/metrics_cluster.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct {
	const char *name;
	enum metric_type type;
	double value;
} told[64];
static uint32_t told_count;
static uint64_t told_buckets[METRIC_BUCKETS];
static double told_sum_us;

static void keep_value(void *sink, enum metric_family family, const char *labels, double value)
{
	assert_true(told_count < 64);
	assert_string_equal(labels, "");
	told[told_count].name = metric_descriptions[family].name;
	told[told_count].type = metric_descriptions[family].type;
	told[told_count++].value = value;
}

static void keep_histogram(void *sink, enum metric_family family,
	const uint64_t buckets[METRIC_BUCKETS], double sum_us)
{
	assert_string_equal(metric_descriptions[family].name, "berth_etcd_transaction_seconds");
	memcpy(told_buckets, buckets, sizeof told_buckets);
	told_sum_us = sum_us;
}

static void expect(const char *name, enum metric_type type, double value)
{
	for (uint32_t i = 0; i < told_count; i++) {
		if (strcmp(told[i].name, name) != 0)
			continue;
		assert_int_equal(told[i].type, type);
		assert_true(told[i].value == value);
		return;
	}
	fail_msg("%s is not told", name);
}

static void tell(const struct cluster_status *status, const struct etcd_counters *etcd)
{
	const struct metric_sink sink = {NULL, keep_value, keep_histogram};
	told_count = 0;
	berthd_metrics_cluster(&sink, status, etcd);
}

static void a_follower_tells_how_far_it_lags(void **unused)
{
	struct cluster_status status = {.role = CLUSTER_FOLLOWER,
		.knows_leader = true,
		.term = 9,
		.index = 100,
		.leader_index = 107,
		.last_contact_ms = 250,
		.member_count = 3,
		.takeovers = 2,
		.batches_under_way = 4,
		.log_bytes = 77,
		.etcd_is_away = true,
		.clock_is_odd = true};
	status.members[1].is_alive = status.members[2].is_alive = true;
	tell(&status, NULL);
	expect("berth_cluster_role", METRIC_TYPE_GAUGE, 0);
	expect("berth_cluster_leader_known", METRIC_TYPE_GAUGE, 1);
	expect("berth_cluster_term", METRIC_TYPE_GAUGE, 9);
	expect("berth_cluster_index", METRIC_TYPE_GAUGE, 100);
	expect("berth_cluster_lag_entries", METRIC_TYPE_GAUGE, 7);
	expect("berth_cluster_last_contact_milliseconds", METRIC_TYPE_GAUGE, 250);
	expect("berth_cluster_members", METRIC_TYPE_GAUGE, 3);
	expect("berth_cluster_members_alive", METRIC_TYPE_GAUGE, 2);
	expect("berth_cluster_takeovers_total", METRIC_TYPE_COUNTER, 2);
	expect("berth_cluster_batches_under_way", METRIC_TYPE_GAUGE, 4);
	expect("berth_cluster_log_bytes_total", METRIC_TYPE_COUNTER, 77);
	expect("berth_cluster_etcd_away", METRIC_TYPE_GAUGE, 1);
	expect("berth_cluster_clock_odd", METRIC_TYPE_GAUGE, 1);
}

// The end of the log is known later than this member's own index.
static void a_leader_does_not_lag(void **unused)
{
	struct cluster_status status = {
		.role = CLUSTER_LEADER, .knows_leader = true, .index = 10, .leader_index = 8};
	tell(&status, NULL);
	expect("berth_cluster_role", METRIC_TYPE_GAUGE, 1);
	expect("berth_cluster_lag_entries", METRIC_TYPE_GAUGE, 0);
}

static void etcd_is_counted(void **unused)
{
	struct cluster_status status = {0};
	struct etcd_counters etcd = {.requests = 5,
		.failures = 2,
		.failovers = 1,
		.txn_us = {[11] = 3},
		.txn_us_sum = 4500,
		.txns_under_way = 6};
	tell(&status, &etcd);
	expect("berth_etcd_requests_total", METRIC_TYPE_COUNTER, 5);
	expect("berth_etcd_failures_total", METRIC_TYPE_COUNTER, 2);
	expect("berth_etcd_failovers_total", METRIC_TYPE_COUNTER, 1);
	expect("berth_etcd_transactions_under_way", METRIC_TYPE_GAUGE, 6);
	assert_int_equal(told_buckets[11], 3);
	assert_int_equal(told_buckets[10], 0);
	assert_true(told_sum_us == 4500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_follower_tells_how_far_it_lags),
		cmocka_unit_test(a_leader_does_not_lag),
		cmocka_unit_test(etcd_is_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
