// Deployments, drains, launches, regions and virtual machines, as the watchers count them.
#pragma once
#include "tools/berthd/daemon.h"

void berthd_metrics_watchers(const struct metric_sink *, const struct berthd *);
