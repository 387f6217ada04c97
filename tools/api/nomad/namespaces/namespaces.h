// The namespaces that there are.
#pragma once
#include "tools/api/lists/name_set.h"

// Adds the names of all namespaces that the request may see.
void namespaces_collect_visible(const struct request *, struct name_set *);
