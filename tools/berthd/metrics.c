// Every metric of the process, from the counters of its parts. Label sets are closed.
#include "tools/berthd/metrics.h"
#include "state/base/clock/steady_time.h"
#include "state/decide/command_kinds.h"
#include "tools/berthd/metrics_cluster.h"
#include "tools/berthd/metrics_nomad.h"
#include "tools/berthd/metrics_pipeline.h"
#include "tools/berthd/metrics_watchers.h"
#include "tools/keyring/keyring.h"
#include <stdio.h>

static double counter_load(const _Atomic uint64_t *counter)
{
	return (double)atomic_load_explicit(counter, memory_order_relaxed);
}

struct counter {
	enum metric_family family;
	size_t offset;
};

// The counters of one packet thread that are neither refusals nor sums of others.
static const struct counter packet_thread_counters[] = {
	{METRIC_PACKETS_RECEIVED_TOTAL, offsetof(struct hot_counters, received)},
	{METRIC_HEARTBEATS_ACCEPTED_TOTAL, offsetof(struct hot_counters, heartbeats)},
	{METRIC_HEARTBEATS_FOREIGN_TOTAL, offsetof(struct hot_counters, foreign)},
	{METRIC_REQUESTS_TOTAL, offsetof(struct hot_counters, requests)},
	{METRIC_NEIGHBOUR_ANSWERS_TOTAL, offsetof(struct hot_counters, neighbours)},
	{METRIC_REPLIES_TOTAL, offsetof(struct hot_counters, replies)},
	{METRIC_REPLY_DROPS_TOTAL, offsetof(struct hot_counters, reply_drops)},
	{METRIC_NOTICES_TOTAL, offsetof(struct hot_counters, notices)},
	{METRIC_SPECS_SEALED_TOTAL, offsetof(struct hot_counters, specs_sealed)},
	{METRIC_SPECS_CLEAR_TOTAL, offsetof(struct hot_counters, specs_clear)},
	{METRIC_BURSTS_TOTAL, offsetof(struct hot_counters, bursts)},
	{METRIC_BUSY_CYCLES_TOTAL, offsetof(struct hot_counters, busy_cycles)},
	{METRIC_NODES_EXPIRED_TOTAL, offsetof(struct hot_counters, expired)},
	{METRIC_NODES_RETURNED_TOTAL, offsetof(struct hot_counters, returned)},
	{METRIC_REPORTS_DEFERRED_TOTAL, offsetof(struct hot_counters, reports_deferred)},
	{METRIC_STALLS_TOTAL, offsetof(struct hot_counters, stalls)},
	{METRIC_STALLED_MS_TOTAL, offsetof(struct hot_counters, stalled_ms)},
};

// Counters of the applier beside those of each command's result.
static const struct counter applier_own_counters[] = {
	{METRIC_BATCHES_TOTAL, offsetof(struct applier_counters, batches)},
	{METRIC_LOG_ENTRIES_TOTAL, offsetof(struct applier_counters, entries)},
	{METRIC_LOG_BYTES_TOTAL, offsetof(struct applier_counters, batch_bytes)},
	{METRIC_LOG_WAITS_TOTAL, offsetof(struct applier_counters, log_waits)},
	{METRIC_LOG_SLOW_TOTAL, offsetof(struct applier_counters, log_slow)},
	{METRIC_PLACEMENTS_TOTAL, offsetof(struct applier_counters, placements)},
	{METRIC_PLACEMENT_BAD_CHOICES_TOTAL, offsetof(struct applier_counters, bad_choices)},
	{METRIC_VM_WORKER_CLAIMS_REFUSED_TOTAL, offsetof(struct applier_counters, worker_claims)},
};

static void emit_counters(const struct metric_sink *m, const struct counter *counters, size_t count,
	const void *values)
{
	for (size_t i = 0; i < count; i++)
		metric_put(m, counters[i].family,
			counter_load((const _Atomic uint64_t *)((const char *)values +
								counters[i].offset)));
}

static double sum_packet_threads(const struct dataplane *d, size_t offset)
{
	double sum = 0;
	for (uint32_t w = 0; w < dataplane_workers(d); w++)
		sum += counter_load((
			const _Atomic uint64_t *)((const char *)dataplane_counters(d, w) + offset));
	return sum;
}

static double sum_refusals(const struct dataplane *d)
{
	double sum = 0;
	for (uint32_t r = 0; r < HOT_REFUSED_KINDS; r++)
		sum += sum_packet_threads(
			d, offsetof(struct hot_counters, refused) + r * sizeof(uint64_t));
	return sum;
}

static void emit_hot(const struct metric_sink *m, const struct dataplane *d)
{
	char labels[96];
	for (size_t i = 0; i < sizeof packet_thread_counters / sizeof packet_thread_counters[0];
		i++)
		metric_put(m, packet_thread_counters[i].family,
			sum_packet_threads(d, packet_thread_counters[i].offset));
	for (uint32_t r = 0; r < HOT_REFUSED_KINDS; r++) {
		snprintf(labels, sizeof labels, "reason=\"%s\"", hot_refusal_labels[r]);
		metric_put_of(m, METRIC_PACKETS_REFUSED_TOTAL, labels,
			sum_packet_threads(
				d, offsetof(struct hot_counters, refused) + r * sizeof(uint64_t)));
	}
}

// received = accepted + requests + neighbour answers + refused. A packet thread counts a burst
// as received before it judges it, so a reader may see up to a burst per thread under way.
static void emit_balance(const struct metric_sink *m, const struct dataplane *d)
{
	double judged = sum_packet_threads(d, offsetof(struct hot_counters, heartbeats)) +
			sum_packet_threads(d, offsetof(struct hot_counters, requests)) +
			sum_packet_threads(d, offsetof(struct hot_counters, neighbours)) +
			sum_refusals(d);
	double unaccounted =
		sum_packet_threads(d, offsetof(struct hot_counters, received)) - judged;
	if (unaccounted >= 0 && unaccounted <= (double)BURST_MAX * dataplane_workers(d))
		unaccounted = 0;
	metric_put(m, METRIC_PACKETS_UNACCOUNTED, unaccounted);
}

static void emit_ports(const struct metric_sink *m, const struct dataplane *d)
{
	for (uint32_t p = 0; p < dataplane_ports(d); p++) {
		struct dataplane_port_counters c;
		char labels[96];
		dataplane_port_counters(d, p, &c);
		snprintf(labels, sizeof labels, "port=\"%u\",driver=\"%.31s\"", p, c.driver);
		metric_put_of(m, METRIC_PORT_RECEIVED_TOTAL, labels, (double)c.received);
		metric_put_of(
			m, METRIC_PORT_RECEIVED_BYTES_TOTAL, labels, (double)c.received_bytes);
		metric_put_of(m, METRIC_PORT_SENT_TOTAL, labels, (double)c.sent);
		metric_put_of(m, METRIC_PORT_SENT_BYTES_TOTAL, labels, (double)c.sent_bytes);
		metric_put_of(m, METRIC_PORT_MISSED_TOTAL, labels, (double)c.missed);
		metric_put_of(m, METRIC_PORT_ERRORS_TOTAL, labels, (double)c.errors);
		metric_put_of(m, METRIC_PORT_NO_MBUF_TOTAL, labels, (double)c.no_mbuf);
		metric_put_of(
			m, METRIC_PORT_LINK_UP, labels, !dataplane_port_signs(d, p).link_down);
	}
}

static void emit_expiry(const struct metric_sink *m, const struct dataplane *d)
{
	struct expiry_status status = dataplane_expiry(d);
	metric_put(m, METRIC_NODES_ARMED, (double)status.nodes);
	metric_put(m, METRIC_NODES_SILENT, (double)status.silent);
	metric_put(m, METRIC_EXPIRY_HELD, status.state >= HOLD_DRAINING);
	metric_put(m, METRIC_EXPIRY_HOLDS_TOTAL, (double)status.holds);
}

static void emit_histogram(const struct metric_sink *m, enum metric_family family,
	const _Atomic uint64_t *from, const _Atomic uint64_t *sum)
{
	uint64_t buckets[METRIC_BUCKETS];
	for (uint32_t i = 0; i < METRIC_BUCKETS; i++)
		buckets[i] = atomic_load_explicit(&from[i], memory_order_relaxed);
	metric_put_histogram(m, family, buckets, counter_load(sum));
}

static void emit_applier(const struct metric_sink *m, const struct berthd *b)
{
	const struct applier_counters *c = applier_counters(b->applier);
	char labels[96];
	for (uint32_t t = 0; t < COMMAND_TYPES; t++) {
		for (uint32_t o = 0; o < COMMAND_OUTCOMES; o++) {
			double value = counter_load(&c->outcomes[t][o]);
			if (value == 0 && o != OUTCOME_DONE)
				continue;
			snprintf(labels, sizeof labels, "type=\"%s\",outcome=\"%s\"",
				command_type_name(t), command_outcomes[o].name);
			metric_put_of(m, METRIC_COMMANDS_TOTAL, labels, value);
		}
	}
	emit_counters(m, applier_own_counters,
		sizeof applier_own_counters / sizeof applier_own_counters[0], c);
	metric_put(m, METRIC_COMMAND_QUEUE_DEPTH, command_queue_depth(b->queue));
	emit_histogram(m, METRIC_JOURNAL_COMMIT_SECONDS, c->journal_us, &c->journal_us_sum);
	emit_histogram(m, METRIC_PLACE_SECONDS, c->place_us, &c->place_us_sum);
	emit_histogram(m, METRIC_PLAN_EVALUATE, c->evaluate_us, &c->evaluate_us_sum);
	emit_histogram(m, METRIC_PLAN_APPLY, c->apply_us, &c->apply_us_sum);
}

static void emit_state(const struct metric_sink *m, const struct berthd *b)
{
	struct state_counts counts;
	char labels[64];
	state_counts(b->state, &counts);
	for (uint32_t s = 0; s < NODE_STATUSES; s++) {
		snprintf(labels, sizeof labels, "status=\"%s\"", node_status_names[s]);
		metric_put_of(m, METRIC_NODES, labels, counts.nodes[s]);
	}
	metric_put(m, METRIC_NODES_INELIGIBLE, counts.nodes_ineligible);
	metric_put(m, METRIC_NODE_CLASSES, counts.node_classes);
	metric_put(m, METRIC_JOBS, counts.jobs);
	metric_put(m, METRIC_ALLOCATIONS, counts.allocations);
	metric_put(m, METRIC_ALLOCATIONS_TERMINAL, counts.allocations_terminal);
	metric_put(m, METRIC_EVALUATIONS, counts.evaluations);
	metric_put(m, METRIC_JOBS_MARKED, counts.jobs_marked);
	metric_put(m, METRIC_EVALUATIONS_PENDING, counts.evaluations_pending);
	metric_put(m, METRIC_EVALUATIONS_BLOCKED, counts.evaluations_blocked);
	metric_put(m, METRIC_PLACE_REQUESTS_REMEMBERED, counts.place_requests);
	metric_put(m, METRIC_CLIENTS, counts.clients);
	metric_put(m, METRIC_NODE_BYTES, (double)counts.bytes_nodes);
	metric_put(m, METRIC_VARIABLES, counts.variables);
	metric_put(m, METRIC_STATE_INDEX, (double)state_index(b->state));
	metric_put(m, METRIC_TERM, (double)state_node_table(b->state)->term);
}

static void emit_keyring(const struct metric_sink *m, struct keyring *keyring)
{
	struct keyring_entry keys[KEYRING_KEYS_MAX];
	metric_put(m, METRIC_KEYRING_KEYS, keyring_list(keyring, keys));
	metric_put_of(m, METRIC_VARIABLES_UNREADABLE_TOTAL, "reason=\"no-key\"",
		(double)keyring_count(keyring, KEYRING_NO_KEY));
	metric_put_of(m, METRIC_VARIABLES_UNREADABLE_TOTAL, "reason=\"tampered\"",
		(double)keyring_count(keyring, KEYRING_TAMPERED));
}

static void emit_store(const struct metric_sink *m, const struct berthd *b)
{
	const struct store_counters *c = store_counters(b->store);
	metric_put(m, METRIC_STORE_APPENDS_TOTAL, counter_load(&c->appends));
	metric_put(m, METRIC_STORE_APPEND_BYTES_TOTAL, counter_load(&c->append_bytes));
	metric_put(m, METRIC_SNAPSHOTS_TOTAL, counter_load(&c->snapshots));
	metric_put(m, METRIC_SNAPSHOT_FAILURES_TOTAL, counter_load(&c->snapshot_failures));
	metric_put(m, METRIC_SNAPSHOT_INDEX, counter_load(&c->snapshot_index));
	metric_put(m, METRIC_STORE_LOG_BYTES, counter_load(&c->log_bytes));
	metric_put(m, METRIC_STORE_ROOM_BYTES, counter_load(&c->room_bytes));
	metric_put(m, METRIC_STORE_LOG_TAILS_CUT_TOTAL, counter_load(&c->tails_cut));
	metric_put(m, METRIC_STORE_SEGMENTS_LATE_TOTAL, counter_load(&c->segments_late));
}

static void emit_placement(const struct metric_sink *m, const struct berthd *b)
{
	const struct placement_counters *c = placement_counters(b->placement);
	metric_put(m, METRIC_PLACEMENT_DECISIONS_TOTAL, counter_load(&c->decisions));
	metric_put(m, METRIC_PLACEMENT_REFUSALS_TOTAL, counter_load(&c->refusals));
	metric_put(m, METRIC_PLACEMENT_SCANS_TOTAL, counter_load(&c->scans));
}

static void emit_cluster(const struct metric_sink *m, struct cluster *cluster)
{
	struct cluster_status status;
	cluster_status(cluster, &status);
	berthd_metrics_cluster(m, &status, cluster_etcd(cluster));
}

void berthd_metrics(void *context, const struct metric_sink *m)
{
	const struct berthd *b = context;
	emit_hot(m, b->dataplane);
	emit_balance(m, b->dataplane);
	emit_ports(m, b->dataplane);
	emit_expiry(m, b->dataplane);
	emit_applier(m, b);
	emit_state(m, b);
	if (b->keyring)
		emit_keyring(m, b->keyring);
	emit_store(m, b);
	emit_placement(m, b);
	berthd_metrics_pipeline(m, b->pipeline);
	if (b->cluster)
		emit_cluster(m, b->cluster);
	berthd_metrics_watchers(m, b);
	berthd_metrics_nomad(m, b);
	uint64_t up_ns = time_monotonic_ns(&time_source_real) - b->started_ns;
	metric_put(m, METRIC_UPTIME_SECONDS, (double)up_ns / 1e9);
	metric_put(m, METRIC_CLOCK_AHEAD_SECONDS, (double)time_source_steady_lag_ns() / 1e9);
}
