#include "dataplane/port/numa.h"
#include <errno.h>
#include <linux/mempolicy.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NODE_BITS 1024u
#define WORD_BITS (8u * (unsigned)sizeof(unsigned long))

int numa_prefer(void *start, size_t bytes, int numa_node)
{
	unsigned long mask[NODE_BITS / WORD_BITS] = {0};
	if (numa_node < 0 || (unsigned)numa_node >= NODE_BITS)
		return -EINVAL;
	mask[(unsigned)numa_node / WORD_BITS] = 1ul << (unsigned)numa_node % WORD_BITS;
	return syscall(SYS_mbind, start, bytes, MPOL_PREFERRED, mask, NODE_BITS + 1,
		       MPOL_MF_MOVE) == 0
		       ? 0
		       : -errno;
}

int numa_nodes(void)
{
	int nodes = 0;
	char path[64];
	for (unsigned i = 0; i < NODE_BITS; i++) {
		snprintf(path, sizeof path, "/sys/devices/system/node/node%u", i);
		nodes += access(path, F_OK) == 0;
	}
	return nodes > 0 ? nodes : 1;
}
