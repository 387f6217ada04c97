// Metrics of the watchers: what they did, and what they watch.
#include "tools/berthd/metrics_watchers.h"
#include "placement/watch/nodes/standings.h"
#include "tools/berthd/metrics_vms.h"

static void emit_regions(const struct metric_sink *m, const struct watchers_stats *s)
{
	metric_put(m, METRIC_ROLLOUTS_WATCHED, s->rollouts_watched);
	metric_put_of(m, METRIC_REGIONS_TOLD_TOTAL, "outcome=\"done\"", s->regions_told);
	metric_put_of(m, METRIC_REGIONS_TOLD_TOTAL, "outcome=\"refused\"", s->regions_refused);
	metric_put(m, METRIC_REGION_STEPS_TOTAL, s->region_steps);
}

static void emit_standings(
	const struct metric_sink *m, const struct berthd *b, const struct watchers_stats *s)
{
	struct state_counts counts;

	state_counts(b->state, &counts);
	struct node_standings standings = node_standings_of(&counts);
	metric_put(m, METRIC_NODES_AVAILABLE, standings.healthy);
	metric_put(m, METRIC_NODES_FREE, standings.free);
	metric_put(m, METRIC_NODES_RUNNING, standings.running);
	metric_put(m, METRIC_NODES_LOST, standings.suspended);
	metric_put(m, METRIC_NODES_FLAKY, counts.nodes_flaky);
	metric_put(m, METRIC_NODES_OFFLINED, counts.nodes_standing[NODE_OFFLINED]);
	metric_put(m, METRIC_NODES_SWEPT_TOTAL, s->nodes_swept);
	metric_put_of(m, METRIC_NODE_UPDATES_TOTAL, "outcome=\"changed\"", s->looks_changed);
	metric_put_of(m, METRIC_NODE_UPDATES_TOTAL, "outcome=\"unchanged\"", s->looks_unchanged);
	metric_put(m, METRIC_NODE_UPDATE_SECONDS, s->sweep_us / 1e6);
	// The same values under the names that dashboards for Scoot need (row E28).
	metric_put(m, METRIC_SCOOT_AVAILABLE_NODES, standings.healthy);
	metric_put(m, METRIC_SCOOT_FREE_NODES, standings.free);
	metric_put(m, METRIC_SCOOT_RUNNING_NODES, standings.running);
	metric_put(m, METRIC_SCOOT_LOST_NODES, standings.suspended);
	metric_put(m, METRIC_SCOOT_UPDATE_MS, s->sweep_us / 1e3);
}

void berthd_metrics_watchers(const struct metric_sink *m, const struct berthd *b)
{
	struct watchers_stats s, regions;

	watchers_stats(b->watchers, &s);
	watchers_stats(b->region_watchers, &regions);
	emit_regions(m, &regions);
	emit_standings(m, b, &s);
	berthd_metrics_vms(m, b, &s);
	metric_put(m, METRIC_DEPLOYMENTS_WATCHED, s.deployments_watched);
	metric_put(m, METRIC_NODES_DRAINING_WATCHED, s.nodes_draining);
	metric_put(m, METRIC_PERIODIC_JOBS, s.periodic_jobs);
	metric_put(m, METRIC_NODES_DISCONNECTED_WATCHED, s.nodes_disconnected);
	metric_put_of(m, METRIC_DEPLOYMENTS_TOTAL, "outcome=\"failed\"", s.deployments_failed);
	metric_put_of(m, METRIC_DEPLOYMENTS_TOTAL, "outcome=\"promoted\"", s.deployments_promoted);
	metric_put_of(m, METRIC_DEPLOYMENTS_TOTAL, "outcome=\"reverted\"", s.deployments_reverted);
	metric_put_of(m, METRIC_DRAINS_TOTAL, "outcome=\"complete\"", s.drains_completed);
	metric_put_of(m, METRIC_DRAINS_TOTAL, "outcome=\"deadline\"", s.drains_forced);
	metric_put(m, METRIC_ALLOCATIONS_FLAGGED_TOTAL, s.allocations_flagged);
	metric_put_of(
		m, METRIC_PERIODIC_LAUNCHES_TOTAL, "outcome=\"launched\"", s.periodic_launched);
	metric_put_of(m, METRIC_PERIODIC_LAUNCHES_TOTAL, "outcome=\"skipped\"", s.periodic_skipped);
	metric_put(m, METRIC_WATCHER_COMMANDS_REFUSED_TOTAL,
		s.commands_refused + regions.commands_refused);
}
