// Emits every metric of the process, and says whether it is healthy. context is the struct berthd.
#pragma once
#include "tools/berthd/daemon.h"

void berthd_metrics(void *context, const struct metric_sink *);
// Healthy: the applier answers and every worker makes turns.
bool berthd_healthy(void *context, char *message, uint32_t message_size);
