// Evaluations under way, and evaluations that wait for a reschedule.
#pragma once
#include "tools/berthd/daemon.h"

void berthd_metrics_pipeline(const struct metric_sink *, struct pipeline *);

// Replaces characters that would end the value of a label, because names of jobs and workers may hold them.
void metrics_tame_label(char *text);
