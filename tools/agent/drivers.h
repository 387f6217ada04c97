// The drivers that tasks may name.
#pragma once
#include "tools/agent/task/task.h"

extern const struct driver *const agent_drivers[]; // NULL ends them
