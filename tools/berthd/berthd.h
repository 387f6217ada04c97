// The daemon as one object: everything started and stopped in order, in one place.
#pragma once
#include "dataplane/wire/auth.h"
#include "placement/pipeline/pipeline.h"
#include "placement/watch/watchers.h"
#include "state/store/store.h"
#include "tools/api/api.h"
#include "tools/berthd/config.h"

struct berthd {
	struct config config;
	struct master_keys keys;
	struct topology_plan plan;
	struct state *state;
	struct command_queue *queue;
	struct store *store;
	struct applier *applier;
	struct placement *placement;
	struct pipeline *pipeline;
	struct watchers *watchers, *region_watchers;
	struct peer_controllers *peers;
	struct dataplane *dataplane;
	struct event_log *events;
	struct api *api;
	bool applier_runs, dataplane_runs, snapshots_run;
	struct store_recovery recovery;
	uint64_t started_ns;
};

#define BERTHD_MESSAGE_BYTES 512

// Opens the store and recovers; nothing runs yet. read_only: for --verify-state.
bool berthd_open(struct berthd *, bool read_only, char *message);
// Starts applier, schedulers, watchers, dataplane, API and snapshots. On failure everything started is stopped again by
// berthd_close.
bool berthd_start(struct berthd *, char *message);
// Stops in the reverse order and frees; what was never started is skipped.
void berthd_close(struct berthd *);

// Plans threads to cores for the configuration. Also fills the plan's problems.
bool berthd_plan(const struct config *, struct topology_plan *, char *message);

// metrics.c: every metric of the process.
void berthd_metrics(void *berthd, const struct metric_sink *);
void berthd_metrics_pipeline(const struct metric_sink *, struct pipeline *);
void berthd_metrics_watchers(const struct metric_sink *, const struct berthd *);
void berthd_metrics_vms(
	const struct metric_sink *, const struct berthd *, const struct watchers_stats *);
// Names of jobs and workers may hold what would end a label.
void metric_label_tame(char *text);
void berthd_metrics_nomad(const struct metric_sink *, const struct berthd *);
// Healthy: the applier answers and every worker turns.
bool berthd_healthy(void *berthd, char *message, uint32_t message_size);
