// The drivers that a task may name.
#pragma once
#include "tools/agent/task/task.h"

extern const struct driver *const agent_drivers[]; // NULL-ended
