#include "tools/berthd/metrics_cluster.h"
#include "state/base/check.h"
#include <stdatomic.h>

_Static_assert(ETCD_LATENCY_BUCKETS == 32, "as many as a histogram has");

static void emit_member(const struct metric_sink *m, const struct cluster_status *s)
{
	uint32_t alive = 0;
	CHECK(s->member_count <= CLUSTER_MEMBERS_MAX);
	for (uint32_t i = 0; i < s->member_count; i++)
		alive += s->members[i].is_alive;
	metric_put(m, METRIC_CLUSTER_ROLE, s->role == CLUSTER_LEADER);
	metric_put(m, METRIC_CLUSTER_LEADER_KNOWN, s->knows_leader);
	metric_put(m, METRIC_CLUSTER_TERM, (double)s->term);
	metric_put(m, METRIC_CLUSTER_INDEX, (double)s->index);
	metric_put(m, METRIC_CLUSTER_LAG_ENTRIES,
		s->leader_index > s->index ? (double)(s->leader_index - s->index) : 0);
	metric_put(m, METRIC_CLUSTER_LAST_CONTACT_MILLISECONDS, (double)s->last_contact_ms);
	metric_put(m, METRIC_CLUSTER_MEMBERS, s->member_count);
	metric_put(m, METRIC_CLUSTER_MEMBERS_ALIVE, alive);
	metric_put(m, METRIC_CLUSTER_TAKEOVERS_TOTAL, s->takeovers);
	metric_put(m, METRIC_CLUSTER_BATCHES_UNDER_WAY, (double)s->batches_under_way);
	metric_put(m, METRIC_CLUSTER_LOG_BYTES_TOTAL, s->log_bytes);
	metric_put(m, METRIC_CLUSTER_ETCD_AWAY, s->etcd_is_away);
	metric_put(m, METRIC_CLUSTER_CLOCK_ODD, s->clock_is_odd);
}

static void emit_etcd(const struct metric_sink *m, const struct etcd_counters *etcd)
{
	uint64_t buckets[ETCD_LATENCY_BUCKETS];
	for (uint32_t i = 0; i < ETCD_LATENCY_BUCKETS; i++)
		buckets[i] = atomic_load(&etcd->txn_us[i]);
	metric_put(m, METRIC_ETCD_REQUESTS_TOTAL, atomic_load(&etcd->requests));
	metric_put(m, METRIC_ETCD_FAILURES_TOTAL, atomic_load(&etcd->failures));
	metric_put(m, METRIC_ETCD_FAILOVERS_TOTAL, atomic_load(&etcd->failovers));
	metric_put(
		m, METRIC_ETCD_TRANSACTIONS_UNDER_WAY, (double)atomic_load(&etcd->txns_under_way));
	metric_put_histogram(m, METRIC_ETCD_TRANSACTION_SECONDS, buckets,
		(double)atomic_load(&etcd->txn_us_sum));
}

void berthd_metrics_cluster(const struct metric_sink *m, const struct cluster_status *status,
	const struct etcd_counters *etcd)
{
	emit_member(m, status);
	if (etcd)
		emit_etcd(m, etcd);
}
