// Emits every metric of the process, and says whether it is healthy. context is the struct berthd.
#pragma once
#include "tools/berthd/daemon.h"

void berthd_metrics(void *context, const struct metric_sink *);
// Every worker makes turns: what the watchdog asks.
bool berthd_alive(const struct berthd *);
// Alive, and every port hears. Else, or when expiry is held although it is healthy ("degraded: …"), message says why.
bool berthd_healthy(void *context, char *message, uint32_t message_size);
