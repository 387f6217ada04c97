#include "dataplane/port/port_memory.h"
#include <rte_mbuf.h>

#define DESCRIPTORS_USUAL 2048u
// net_af_xdp fills its own ring of 2048 before any of ours, and completes as many.
#define DRIVER_MBUFS 4096u
#define MBUF_BYTES (sizeof(struct rte_mbuf) + RTE_MBUF_DEFAULT_BUF_SIZE + 2 * RTE_CACHE_LINE_SIZE)
// DPDK lets no packet straddle small pages, so each takes one.
#define MBUF_BYTES_SMALL_PAGES 4096u
// What EAL and the drivers use beside the pools.
#define OTHER_BYTES (48ull << 20)

uint32_t port_descriptors(uint32_t descriptors)
{
	return descriptors > 0 ? descriptors : DESCRIPTORS_USUAL;
}

uint32_t port_queue_mbufs(const struct port_settings *s)
{
	return port_descriptors(s->rx_descriptors) + port_descriptors(s->tx_descriptors) +
	       DRIVER_MBUFS + 2 * PORT_POOL_CACHE + 4 * BURST_MAX;
}

uint64_t ports_memory_bytes(const struct port_settings *ports, uint32_t count, bool huge)
{
	uint64_t bytes = OTHER_BYTES;
	uint64_t each = huge ? MBUF_BYTES : MBUF_BYTES_SMALL_PAGES;
	for (uint32_t i = 0; i < count; i++)
		if (!port_is_sockets(&ports[i]))
			bytes += (uint64_t)port_queue_mbufs(&ports[i]) * each *
				 port_queues(&ports[i]);
	return bytes;
}
