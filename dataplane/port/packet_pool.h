// The packets of one queue.
#pragma once
#include <rte_mempool.h>
#include <stdint.h>

// Makes a pool of a queue's packets. numa_node: where they shall lie, in huge pages; SOCKET_ID_ANY: in small pages,
// of what EAL was given. NULL and rte_errno when memory is short. Free with rte_mempool_free() after the device.
struct rte_mempool *packet_pool_create(const char *name, uint32_t packets, int numa_node);
