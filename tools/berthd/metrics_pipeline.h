// Evaluations on their way, and what is rescheduled later.
#pragma once
#include "tools/berthd/daemon.h"

void berthd_metrics_pipeline(const struct metric_sink *, struct pipeline *);
