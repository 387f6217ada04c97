// A worker's queue pair of an Ethernet device.
#pragma once
#include "dataplane/port/packet_io.h"
#include <rte_mempool.h>

struct dpdk_queue {
	uint16_t port, queue;
	struct rte_mempool *pool;
	int bell; // of its socket, which is the driver's; -1: it has none
};

// The queue must outlive it.
struct packet_io dpdk_queue_io(struct dpdk_queue *);
