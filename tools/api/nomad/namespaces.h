// The namespaces of jobs.
#pragma once
#include "tools/api/lists/name_set.h"

// Adds the names of all namespaces.
void namespaces_collect(const struct state *, struct name_set *);
