// Metrics of this process under the names that exporters for Prometheus give them, and what it was built of.
#pragma once
#include "tools/metrics/sink.h"

// What the system does not tell is left out.
void process_metrics(const struct metric_sink *);
