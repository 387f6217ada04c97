// Metrics of a member of a cluster: its role, how far it lags, and the etcd that holds the log.
#pragma once
#include "state/cluster/cluster_status.h"
#include "state/etcd/etcd.h"
#include "tools/api/server/settings.h"

// etcd NULL: nothing was asked of it yet.
void berthd_metrics_cluster(const struct metric_sink *, const struct cluster_status *,
	const struct etcd_counters *etcd);
