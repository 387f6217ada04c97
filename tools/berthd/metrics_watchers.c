// Metrics of the watchers: what they did, and what they watch.
#include "tools/berthd/metrics_watchers.h"
#include "placement/watch/nodes/standings.h"
#include "tools/berthd/metrics_vms.h"

static void counter(
	const struct metric_sink *m, const char *name, const char *labels, uint64_t value)
{
	m->value(m->sink, 'c', name, labels, (double)value);
}

static void watchers_gauge(const struct metric_sink *m, const char *name, uint32_t value)
{
	m->value(m->sink, 'g', name, "", value);
}

static void emit_regions(const struct metric_sink *m, const struct watchers_stats *s)
{
	watchers_gauge(m, "berth_rollouts_watched", s->rollouts_watched);
	counter(m, "berth_regions_told_total", "outcome=\"done\"", s->regions_told);
	counter(m, "berth_regions_told_total", "outcome=\"refused\"", s->regions_refused);
	counter(m, "berth_region_steps_total", "", s->region_steps);
}

static void emit_standings(
	const struct metric_sink *m, const struct berthd *b, const struct watchers_stats *s)
{
	struct state_counts counts;

	state_counts(b->state, &counts);
	struct node_standings standings = node_standings_of(&counts);
	watchers_gauge(m, "berth_nodes_available", standings.healthy);
	watchers_gauge(m, "berth_nodes_free", standings.free);
	watchers_gauge(m, "berth_nodes_running", standings.running);
	watchers_gauge(m, "berth_nodes_lost", standings.suspended);
	watchers_gauge(m, "berth_nodes_flaky", counts.nodes_flaky);
	watchers_gauge(m, "berth_nodes_offlined", counts.nodes_standing[NODE_OFFLINED]);
	counter(m, "berth_nodes_swept_total", "", s->nodes_swept);
	counter(m, "berth_node_updates_total", "outcome=\"changed\"", s->looks_changed);
	counter(m, "berth_node_updates_total", "outcome=\"unchanged\"", s->looks_unchanged);
	m->value(m->sink, 'g', "berth_node_update_seconds", "", s->sweep_us / 1e6);
	// The same values under the names that dashboards for Scoot need (row E28).
	watchers_gauge(m, "availableNodes", standings.healthy);
	watchers_gauge(m, "freeNodes", standings.free);
	watchers_gauge(m, "runningNodes", standings.running);
	watchers_gauge(m, "lostNodes", standings.suspended);
	m->value(m->sink, 'g', "schedUpdateClusterLatency_ms", "", s->sweep_us / 1e3);
}

void berthd_metrics_watchers(const struct metric_sink *m, const struct berthd *b)
{
	struct watchers_stats s, regions;

	watchers_stats(b->watchers, &s);
	watchers_stats(b->region_watchers, &regions);
	emit_regions(m, &regions);
	emit_standings(m, b, &s);
	berthd_metrics_vms(m, b, &s);
	watchers_gauge(m, "berth_deployments_watched", s.deployments_watched);
	watchers_gauge(m, "berth_nodes_draining_watched", s.nodes_draining);
	watchers_gauge(m, "berth_periodic_jobs", s.periodic_jobs);
	watchers_gauge(m, "berth_nodes_disconnected_watched", s.nodes_disconnected);
	counter(m, "berth_deployments_total", "outcome=\"failed\"", s.deployments_failed);
	counter(m, "berth_deployments_total", "outcome=\"promoted\"", s.deployments_promoted);
	counter(m, "berth_deployments_total", "outcome=\"reverted\"", s.deployments_reverted);
	counter(m, "berth_drains_total", "outcome=\"complete\"", s.drains_completed);
	counter(m, "berth_drains_total", "outcome=\"deadline\"", s.drains_forced);
	counter(m, "berth_allocations_flagged_total", "", s.allocations_flagged);
	counter(m, "berth_periodic_launches_total", "outcome=\"launched\"", s.periodic_launched);
	counter(m, "berth_periodic_launches_total", "outcome=\"skipped\"", s.periodic_skipped);
	counter(m, "berth_watcher_commands_refused_total", "",
		s.commands_refused + regions.commands_refused);
}
