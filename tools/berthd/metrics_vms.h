// Virtual machines and their workers.
#pragma once
#include "tools/berthd/daemon.h"

void berthd_metrics_vms(
	const struct metric_sink *, const struct berthd *, const struct watchers_stats *);
