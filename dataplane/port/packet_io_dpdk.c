#include "dataplane/port/packet_io_dpdk.h"
#include <rte_ethdev.h>
#include <rte_mbuf.h>

static uint8_t checksum_of(const struct rte_mbuf *m)
{
	uint64_t ip = m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK;
	uint64_t l4 = m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK;
	if (ip == RTE_MBUF_F_RX_IP_CKSUM_BAD || l4 == RTE_MBUF_F_RX_L4_CKSUM_BAD)
		return PACKET_CHECKSUM_BAD;
	return l4 == RTE_MBUF_F_RX_L4_CKSUM_GOOD ? PACKET_CHECKSUM_GOOD : PACKET_CHECKSUM_UNKNOWN;
}

static void view(struct packet *packet, struct rte_mbuf *m)
{
	*packet = (struct packet){
		.data = rte_pktmbuf_mtod(m, uint8_t *),
		.size = m->data_len,
		.capacity = (uint32_t)m->buf_len - m->data_off,
		.checksum = checksum_of(m),
		.segments = m->nb_segs > UINT8_MAX ? UINT8_MAX : (uint8_t)m->nb_segs,
	};
}

static void dpdk_receive(void *context, struct packet_burst *burst)
{
	const struct dpdk_queue *q = context;
	struct rte_mbuf **mbufs = (struct rte_mbuf **)burst->handles;
	burst->count = rte_eth_rx_burst(q->port, q->queue, mbufs, BURST_MAX);
	// Nobody looks into a packet before the whole burst is there.
	for (uint32_t i = 0; i < burst->count; i++) {
		view(&burst->packets[i], mbufs[i]);
		rte_prefetch0(burst->packets[i].data);
	}
}

static void dpdk_take(void *context, struct packet_burst *burst, uint32_t count)
{
	const struct dpdk_queue *q = context;
	burst->count = 0;
	while (burst->count < count && burst->count < BURST_MAX) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(q->pool);
		if (m == NULL)
			return;
		burst->handles[burst->count] = m;
		view(&burst->packets[burst->count++], m);
	}
}

static uint32_t dpdk_finish(void *context, struct packet_burst *burst)
{
	const struct dpdk_queue *q = context;
	// Replies move up in the burst itself: a list of their own would be more of the first-level cache.
	struct rte_mbuf *dropped[BURST_MAX], **replies = (struct rte_mbuf **)burst->handles;
	uint16_t reply_count = 0;
	uint32_t drop_count = 0;
	for (uint32_t i = 0; i < burst->count; i++) {
		struct rte_mbuf *m = burst->handles[i];
		if (burst->packets[i].verdict != PACKET_REPLY) {
			dropped[drop_count++] = m;
			continue;
		}
		// Receive flags mean something else on the way out.
		m->ol_flags = 0;
		m->data_len = (uint16_t)burst->packets[i].size;
		m->pkt_len = burst->packets[i].size;
		replies[reply_count++] = m;
	}
	burst->count = 0;
	uint16_t sent =
		reply_count == 0 ? 0 : rte_eth_tx_burst(q->port, q->queue, replies, reply_count);
	if (sent < reply_count)
		rte_pktmbuf_free_bulk(&replies[sent], reply_count - sent);
	if (drop_count > 0)
		rte_pktmbuf_free_bulk(dropped, drop_count);
	return (uint32_t)reply_count - sent;
}

static int dpdk_bell(void *context)
{
	return ((const struct dpdk_queue *)context)->bell;
}

struct packet_io dpdk_queue_io(struct dpdk_queue *queue)
{
	return (struct packet_io){.context = queue,
		.receive = dpdk_receive,
		.take = dpdk_take,
		.finish = dpdk_finish,
		.bell = dpdk_bell};
}
