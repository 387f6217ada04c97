// Where memory lies.
#pragma once
#include <stddef.h>

// Asks the kernel to keep a mapping on a NUMA node: the pages touched from now on, and those touched already. start is
// page-aligned. Returns 0 or -errno.
int numa_prefer(void *start, size_t bytes, int numa_node);
// How many NUMA nodes there are; at least 1.
int numa_nodes(void);
