// Settings of the schedulers and of the cluster by operators: one record each, always there. For state/ only.
#pragma once
#include "state/records/scheduler_config.h"
#include "state/tables/table.h"

extern const struct kind scheduler_config_kind, cluster_settings_kind;

// The working records; applier thread.
const struct scheduler_config *scheduler_config_working(const struct state *);
const struct cluster_settings *cluster_settings_working(const struct state *);
