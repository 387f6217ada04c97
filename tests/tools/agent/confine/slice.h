// A control group that no test beside this one has: their allocations have the same numbers.
#pragma once
#include "tools/agent/confine/groups.h"

// Of this process.
const char *slice_name(void);
// Removes what groups_open() made; 0 when nothing is left of it.
int slice_remove(const struct groups *);
