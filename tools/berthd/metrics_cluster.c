#include "tools/berthd/metrics_cluster.h"
#include "state/base/check.h"
#include <stdatomic.h>

_Static_assert(ETCD_LATENCY_BUCKETS == 32, "as many as a histogram has");

static void cluster_gauge(const struct metric_sink *m, const char *name, double value)
{
	m->value(m->sink, 'g', name, "", value);
}

static void cluster_counter(const struct metric_sink *m, const char *name, uint64_t value)
{
	m->value(m->sink, 'c', name, "", (double)value);
}

static void emit_member(const struct metric_sink *m, const struct cluster_status *s)
{
	uint32_t alive = 0;
	CHECK(s->member_count <= CLUSTER_MEMBERS_MAX);
	for (uint32_t i = 0; i < s->member_count; i++)
		alive += s->members[i].is_alive;
	cluster_gauge(m, "berth_cluster_role", s->role == CLUSTER_LEADER);
	cluster_gauge(m, "berth_cluster_leader_known", s->knows_leader);
	cluster_gauge(m, "berth_cluster_term", (double)s->term);
	cluster_gauge(m, "berth_cluster_index", (double)s->index);
	cluster_gauge(m, "berth_cluster_lag_entries",
		s->leader_index > s->index ? (double)(s->leader_index - s->index) : 0);
	cluster_gauge(m, "berth_cluster_last_contact_milliseconds", (double)s->last_contact_ms);
	cluster_gauge(m, "berth_cluster_members", s->member_count);
	cluster_gauge(m, "berth_cluster_members_alive", alive);
	cluster_counter(m, "berth_cluster_takeovers_total", s->takeovers);
	cluster_gauge(m, "berth_cluster_batches_under_way", (double)s->batches_under_way);
	cluster_counter(m, "berth_cluster_log_bytes_total", s->log_bytes);
	cluster_gauge(m, "berth_cluster_etcd_away", s->etcd_is_away);
	cluster_gauge(m, "berth_cluster_clock_odd", s->clock_is_odd);
}

static void emit_etcd(const struct metric_sink *m, const struct etcd_counters *etcd)
{
	uint64_t buckets[ETCD_LATENCY_BUCKETS];
	for (uint32_t i = 0; i < ETCD_LATENCY_BUCKETS; i++)
		buckets[i] = atomic_load(&etcd->txn_us[i]);
	cluster_counter(m, "berth_etcd_requests_total", atomic_load(&etcd->requests));
	cluster_counter(m, "berth_etcd_failures_total", atomic_load(&etcd->failures));
	cluster_counter(m, "berth_etcd_failovers_total", atomic_load(&etcd->failovers));
	cluster_gauge(
		m, "berth_etcd_transactions_under_way", (double)atomic_load(&etcd->txns_under_way));
	m->histogram(m->sink, "berth_etcd_transaction_seconds", "", buckets,
		(double)atomic_load(&etcd->txn_us_sum));
}

void berthd_metrics_cluster(const struct metric_sink *m, const struct cluster_status *status,
	const struct etcd_counters *etcd)
{
	emit_member(m, status);
	if (etcd)
		emit_etcd(m, etcd);
}
