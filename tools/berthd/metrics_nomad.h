// Counts of allocations by job and by node, under the names that Nomad gives them.
#pragma once
#include "tools/berthd/daemon.h"

void berthd_metrics_nomad(const struct metric_sink *, const struct berthd *);
