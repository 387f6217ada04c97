// Evaluations under way, and evaluations that wait for a reschedule.
#pragma once
#include "tools/berthd/daemon.h"

void berthd_metrics_pipeline(const struct metric_sink *, struct pipeline *);
