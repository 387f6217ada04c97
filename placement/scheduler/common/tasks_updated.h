// Whether an instance must be replaced to get from one version of a job to another (docs/spec/reconciler.md).
#pragma once
#include "state/records/job.h"

// True when instances of the group must be replaced; also when one of the versions has no such group.
bool tasks_updated(const struct job *before, const struct job *after, const char *group);
