// The parts of the daemon, as one object.
#pragma once
#include "dataplane/wire/auth.h"
#include "placement/pipeline/pipeline.h"
#include "placement/watch/watchers.h"
#include "state/cluster/cluster.h"
#include "state/store/store.h"
#include "tools/api/api.h"
#include "tools/berthd/config.h"
#include <pthread.h>

#define BERTHD_REASON_BYTES 512u

struct berthd {
	pthread_mutex_t
		changing; // guards what a reload changes of these two; all zeros is unlocked
	struct config config;
	struct master_keys keys;
	struct topology_plan plan;
	struct state *state;
	struct command_queue *queue;
	struct store *store;
	struct cluster *cluster; // NULL: this controller stands alone
	char **arguments;        // of the process, to begin anew with
	bool (*lead)(struct berthd *, char *message);
	struct applier *applier;
	struct placement *placement;
	struct pipeline *pipeline;
	struct watchers *watchers, *region_watchers;
	struct peer_controllers *peers;
	struct dataplane *dataplane;
	struct event_log *events;
	struct keyring *keyring;
	struct rekeyer *rekeyer;
	struct api *api;
	int agents_fd; // where nodes dial, until the API has it; -1: nowhere
	bool applier_runs, dataplane_runs, snapshots_run;
	bool clock_is_off;    // the machine's, as the log says
	atomic_bool is_ready; // the start is over
	atomic_bool
		is_restored; // another state waits for the next start, and nothing is decided any more
	struct store_recovery recovery;
	uint64_t started_ns;
	uint64_t patience_ns; // what the applier is at may take so long before health fails
};

// The master keys as they are now. Any thread; the caller wipes them.
static inline struct master_keys berthd_keys(struct berthd *b)
{
	pthread_mutex_lock(&b->changing);
	struct master_keys keys = b->keys;
	pthread_mutex_unlock(&b->changing);
	return keys;
}
