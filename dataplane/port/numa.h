// Where memory lies.
#pragma once
#include <stddef.h>

// Asks for a mapping to lie on a NUMA node: what is touched from here on, and what was touched already.
// start is page-aligned. Returns 0 or -errno.
int numa_prefer(void *start, size_t bytes, int numa_node);
// More than one node: else there is nothing to choose.
int numa_nodes(void);
