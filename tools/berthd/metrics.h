// Emits every metric of the process. context is the struct berthd.
#pragma once
#include "tools/berthd/daemon.h"

void berthd_metrics(void *context, const struct metric_sink *);
