// Whether another version of a job replaces its instances (docs/spec/reconciler.md).
#pragma once
#include "state/records/job.h"

// True when instances of the group must be replaced; also when one of the versions lacks the group.
bool tasks_updated(const struct job *before, const struct job *after, const char *group);
