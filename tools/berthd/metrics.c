// Every metric of the process, from the counters of its parts. Label sets are closed.
#include "tools/berthd/metrics.h"
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

static void emit(
	const struct metric_sink *m, char kind, const char *name, const char *labels, double value)
{
	m->value(m->sink, kind, name, labels, value);
}

struct counter {
	const char *name;
	size_t offset;
};

// The counters of one packet thread that are neither refusals nor sums of others.
static const struct counter packet_thread_counters[] = {
	{"berth_packets_received_total", offsetof(struct hot_counters, received)},
	{"berth_heartbeats_accepted_total", offsetof(struct hot_counters, heartbeats)},
	{"berth_heartbeats_foreign_total", offsetof(struct hot_counters, foreign)},
	{"berth_requests_total", offsetof(struct hot_counters, requests)},
	{"berth_neighbour_answers_total", offsetof(struct hot_counters, neighbours)},
	{"berth_replies_total", offsetof(struct hot_counters, replies)},
	{"berth_reply_drops_total", offsetof(struct hot_counters, reply_drops)},
	{"berth_notices_total", offsetof(struct hot_counters, notices)},
	{"berth_specs_sealed_total", offsetof(struct hot_counters, specs_sealed)},
	{"berth_specs_clear_total", offsetof(struct hot_counters, specs_clear)},
	{"berth_bursts_total", offsetof(struct hot_counters, bursts)},
	{"berth_busy_cycles_total", offsetof(struct hot_counters, busy_cycles)},
	{"berth_nodes_expired_total", offsetof(struct hot_counters, expired)},
	{"berth_nodes_returned_total", offsetof(struct hot_counters, returned)},
	{"berth_reports_deferred_total", offsetof(struct hot_counters, reports_deferred)},
	{"berth_stalls_total", offsetof(struct hot_counters, stalls)},
	{"berth_stalled_ms_total", offsetof(struct hot_counters, stalled_ms)},
};

// Counters of the applier beside those of each command's result.
static const struct counter applier_own_counters[] = {
	{"berth_batches_total", offsetof(struct applier_counters, batches)},
	{"berth_log_entries_total", offsetof(struct applier_counters, entries)},
	{"berth_log_bytes_total", offsetof(struct applier_counters, batch_bytes)},
	{"berth_log_waits_total", offsetof(struct applier_counters, log_waits)},
	{"berth_log_slow_total", offsetof(struct applier_counters, log_slow)},
	{"berth_placement_bad_choices_total", offsetof(struct applier_counters, bad_choices)},
	{"berth_vm_worker_claims_refused_total", offsetof(struct applier_counters, worker_claims)},
};

static void emit_counters(const struct metric_sink *m, const struct counter *counters, size_t count,
	const void *values)
{
	for (size_t i = 0; i < count; i++)
		emit(m, 'c', counters[i].name, "",
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
		emit(m, 'c', packet_thread_counters[i].name, "",
			sum_packet_threads(d, packet_thread_counters[i].offset));
	for (uint32_t r = 0; r < HOT_REFUSED_KINDS; r++) {
		snprintf(labels, sizeof labels, "reason=\"%s\"", hot_refusal_labels[r]);
		emit(m, 'c', "berth_packets_refused_total", labels,
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
	emit(m, 'g', "berth_packets_unaccounted", "", unaccounted);
}

static void emit_ports(const struct metric_sink *m, const struct dataplane *d)
{
	for (uint32_t p = 0; p < dataplane_ports(d); p++) {
		struct dataplane_port_counters c;
		char labels[96];
		dataplane_port_counters(d, p, &c);
		snprintf(labels, sizeof labels, "port=\"%u\",driver=\"%.31s\"", p, c.driver);
		emit(m, 'c', "berth_port_received_total", labels, (double)c.received);
		emit(m, 'c', "berth_port_received_bytes_total", labels, (double)c.received_bytes);
		emit(m, 'c', "berth_port_sent_total", labels, (double)c.sent);
		emit(m, 'c', "berth_port_sent_bytes_total", labels, (double)c.sent_bytes);
		emit(m, 'c', "berth_port_missed_total", labels, (double)c.missed);
		emit(m, 'c', "berth_port_errors_total", labels, (double)c.errors);
		emit(m, 'c', "berth_port_no_mbuf_total", labels, (double)c.no_mbuf);
		emit(m, 'g', "berth_port_link_up", labels, !dataplane_port_signs(d, p).link_down);
	}
}

static void emit_expiry(const struct metric_sink *m, const struct dataplane *d)
{
	struct expiry_status status = dataplane_expiry(d);
	emit(m, 'g', "berth_nodes_armed", "", (double)status.nodes);
	emit(m, 'g', "berth_nodes_silent", "", (double)status.silent);
	emit(m, 'g', "berth_expiry_held", "", status.state >= HOLD_DRAINING);
	emit(m, 'c', "berth_expiry_holds_total", "", (double)status.holds);
}

static void emit_histogram(const struct metric_sink *m, const char *name,
	const _Atomic uint64_t *from, const _Atomic uint64_t *sum)
{
	uint64_t buckets[32];
	for (uint32_t i = 0; i < 32; i++)
		buckets[i] = atomic_load_explicit(&from[i], memory_order_relaxed);
	m->histogram(m->sink, name, "", buckets, counter_load(sum));
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
			emit(m, 'c', "berth_commands_total", labels, value);
		}
	}
	emit_counters(m, applier_own_counters,
		sizeof applier_own_counters / sizeof applier_own_counters[0], c);
	emit(m, 'g', "berth_command_queue_depth", "", command_queue_depth(b->queue));
	emit_histogram(m, "berth_journal_commit_seconds", c->journal_us, &c->journal_us_sum);
	emit_histogram(m, "berth_place_seconds", c->place_us, &c->place_us_sum);
	emit_histogram(m, "nomad.nomad.plan.evaluate", c->evaluate_us, &c->evaluate_us_sum);
	emit_histogram(m, "nomad.nomad.plan.apply", c->apply_us, &c->apply_us_sum);
}

static void emit_state(const struct metric_sink *m, const struct berthd *b)
{
	struct state_counts counts;
	char labels[64];
	state_counts(b->state, &counts);
	for (uint32_t s = 0; s < NODE_STATUSES; s++) {
		snprintf(labels, sizeof labels, "status=\"%s\"", node_status_names[s]);
		emit(m, 'g', "berth_nodes", labels, counts.nodes[s]);
	}
	emit(m, 'g', "berth_nodes_ineligible", "", counts.nodes_ineligible);
	emit(m, 'g', "berth_node_classes", "", counts.node_classes);
	emit(m, 'g', "berth_jobs", "", counts.jobs);
	emit(m, 'g', "berth_allocations", "", counts.allocations);
	emit(m, 'g', "berth_allocations_terminal", "", counts.allocations_terminal);
	emit(m, 'g', "berth_evaluations", "", counts.evaluations);
	emit(m, 'g', "berth_jobs_marked", "", counts.jobs_marked);
	emit(m, 'g', "berth_evaluations_pending", "", counts.evaluations_pending);
	emit(m, 'g', "berth_evaluations_blocked", "", counts.evaluations_blocked);
	emit(m, 'g', "berth_place_requests_remembered", "", counts.place_requests);
	emit(m, 'g', "berth_clients", "", counts.clients);
	emit(m, 'g', "berth_node_bytes", "", (double)counts.bytes_nodes);
	emit(m, 'g', "berth_variables", "", counts.variables);
	emit(m, 'g', "berth_state_index", "", (double)state_index(b->state));
	emit(m, 'g', "berth_term", "", (double)state_node_table(b->state)->term);
}

static void emit_keyring(const struct metric_sink *m, struct keyring *keyring)
{
	struct keyring_entry keys[KEYRING_KEYS_MAX];
	emit(m, 'g', "berth_keyring_keys", "", keyring_list(keyring, keys));
	emit(m, 'c', "berth_variables_unreadable_total", "reason=\"no-key\"",
		(double)keyring_count(keyring, KEYRING_NO_KEY));
	emit(m, 'c', "berth_variables_unreadable_total", "reason=\"tampered\"",
		(double)keyring_count(keyring, KEYRING_TAMPERED));
}

static void emit_store(const struct metric_sink *m, const struct berthd *b)
{
	const struct store_counters *c = store_counters(b->store);
	emit(m, 'c', "berth_store_appends_total", "", counter_load(&c->appends));
	emit(m, 'c', "berth_store_append_bytes_total", "", counter_load(&c->append_bytes));
	emit(m, 'c', "berth_snapshots_total", "", counter_load(&c->snapshots));
	emit(m, 'c', "berth_snapshot_failures_total", "", counter_load(&c->snapshot_failures));
	emit(m, 'g', "berth_snapshot_index", "", counter_load(&c->snapshot_index));
	emit(m, 'g', "berth_store_log_bytes", "", counter_load(&c->log_bytes));
	emit(m, 'g', "berth_store_room_bytes", "", counter_load(&c->room_bytes));
	emit(m, 'c', "berth_store_log_tails_cut_total", "", counter_load(&c->tails_cut));
	emit(m, 'c', "berth_store_segments_late_total", "", counter_load(&c->segments_late));
}

static void emit_placement(const struct metric_sink *m, const struct berthd *b)
{
	const struct placement_counters *c = placement_counters(b->placement);
	emit(m, 'c', "berth_placement_decisions_total", "", counter_load(&c->decisions));
	emit(m, 'c', "berth_placement_refusals_total", "", counter_load(&c->refusals));
	emit(m, 'c', "berth_placement_scans_total", "", counter_load(&c->scans));
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
	emit(m, 'g', "berth_uptime_seconds", "", (double)up_ns / 1e9);
}
