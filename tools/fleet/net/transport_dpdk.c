// The fleet behind a DPDK device: the only file here that knows DPDK. It asks for the controller's address by ARP, and
// answers such questions about its own.
#include "state/base/memory.h"
#include "tools/client/endpoint.h"
#include "tools/fleet/net/packet.h"
#include "tools/fleet/net/transport.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <rte_arp.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define PORT_FROM 20000u
#define RING_SIZE 2048u
#define MBUFS 16383u
#define MBUF_CACHE 256u
#define ARP_TRIES 200u
#define ARP_WAIT_US 100000u
#define EAL_ARGUMENTS_MAX 32

struct dpdk {
	struct transport transport; // first
	uint16_t port;
	struct rte_mempool *pool;
	struct packet_flow flow;
	bool peer_known;
};

static bool say_failure(char *message, uint32_t size, const char *what, int error)
{
	snprintf(message, size, "%s: %s", what, rte_strerror(error < 0 ? -error : error));
	return false;
}

static bool send_packet(struct dpdk *d, struct rte_mbuf *m)
{
	if (rte_eth_tx_burst(d->port, 0, &m, 1) == 1)
		return true;
	rte_pktmbuf_free(m);
	return false;
}

static void send_arp(struct dpdk *d, uint16_t operation, const uint8_t *mac, const uint8_t *address)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(d->pool);
	uint8_t *p = m ? (uint8_t *)rte_pktmbuf_append(m, 60) : NULL;
	if (!p) {
		rte_pktmbuf_free(m);
		return;
	}
	memset(p, 0, 60);
	struct rte_ether_hdr *ethernet = (struct rte_ether_hdr *)p;
	struct rte_arp_hdr *arp = (struct rte_arp_hdr *)(ethernet + 1);
	memset(&ethernet->dst_addr, 0xff, 6);
	if (mac)
		memcpy(&ethernet->dst_addr, mac, 6);
	memcpy(&ethernet->src_addr, d->flow.mac_from, 6);
	ethernet->ether_type = htons(RTE_ETHER_TYPE_ARP);
	arp->arp_hardware = htons(RTE_ARP_HRD_ETHER);
	arp->arp_protocol = htons(RTE_ETHER_TYPE_IPV4);
	arp->arp_hlen = 6;
	arp->arp_plen = 4;
	arp->arp_opcode = htons(operation);
	memcpy(&arp->arp_data.arp_sha, d->flow.mac_from, 6);
	memcpy(&arp->arp_data.arp_sip, d->flow.from, 4);
	if (mac)
		memcpy(&arp->arp_data.arp_tha, mac, 6);
	memcpy(&arp->arp_data.arp_tip, address, 4);
	send_packet(d, m);
}

static void take_arp(struct dpdk *d, const uint8_t *packet, uint32_t bytes)
{
	const struct rte_ether_hdr *ethernet = (const struct rte_ether_hdr *)packet;
	const struct rte_arp_hdr *arp = (const struct rte_arp_hdr *)(ethernet + 1);
	if (bytes < sizeof *ethernet + sizeof *arp ||
		ethernet->ether_type != htons(RTE_ETHER_TYPE_ARP))
		return;
	bool from_peer = memcmp(&arp->arp_data.arp_sip, d->flow.to, 4) == 0;
	if (from_peer) {
		memcpy(d->flow.mac_to, &arp->arp_data.arp_sha, 6);
		d->peer_known = true;
	}
	if (arp->arp_opcode == htons(RTE_ARP_OP_REQUEST) &&
		memcmp(&arp->arp_data.arp_tip, d->flow.from, 4) == 0)
		send_arp(d, RTE_ARP_OP_REPLY, (const uint8_t *)&arp->arp_data.arp_sha,
			(const uint8_t *)&arp->arp_data.arp_sip);
}

static uint32_t send_burst(struct transport *t, uint32_t lane, struct frame *frames, uint32_t count)
{
	struct dpdk *d = (struct dpdk *)t;
	struct rte_mbuf *burst[BURST_MAX];
	struct packet_flow flow = d->flow;
	flow.port_from = (uint16_t)(PORT_FROM + lane);
	if (rte_pktmbuf_alloc_bulk(d->pool, burst, count) < 0)
		return 0;
	for (uint32_t i = 0; i < count; i++) {
		uint8_t *packet = (uint8_t *)rte_pktmbuf_append(
			burst[i], (uint16_t)(PACKET_HEADER_BYTES + frames[i].size));
		packet_wrap(&flow, frames[i].data, frames[i].size, packet);
	}
	uint32_t sent = rte_eth_tx_burst(d->port, 0, burst, (uint16_t)count);
	rte_pktmbuf_free_bulk(burst + sent, count - sent);
	return sent;
}

// True when the packet holds a frame for the fleet; copies it then.
static bool take_packet(struct dpdk *d, struct rte_mbuf *m, struct frame *frame)
{
	const uint8_t *packet = rte_pktmbuf_mtod(m, const uint8_t *), *data;
	uint32_t bytes = rte_pktmbuf_data_len(m), size;
	if (m->nb_segs != 1 || !packet_unwrap(packet, bytes, d->flow.from, PORT_FROM,
				       (uint16_t)d->transport.lanes, &data, &size)) {
		take_arp(d, packet, bytes);
		return false;
	}
	if (size > sizeof frame->data)
		return false;
	frame->size = size;
	memcpy(frame->data, data, size);
	return true;
}

static uint32_t receive_burst(struct transport *t, struct frame *frames, uint32_t count)
{
	struct dpdk *d = (struct dpdk *)t;
	struct rte_mbuf *burst[BURST_MAX];
	uint32_t taken = 0;
	while (taken + BURST_MAX <= count) {
		uint16_t n = rte_eth_rx_burst(d->port, 0, burst, BURST_MAX);
		for (uint16_t i = 0; i < n; i++)
			taken += take_packet(d, burst[i], &frames[taken]);
		rte_pktmbuf_free_bulk(burst, n);
		if (n < BURST_MAX)
			break;
	}
	return taken;
}

static void wait_a_little(struct transport *t, uint32_t timeout_us)
{
	struct timespec time = {.tv_nsec = 20000};
	if (timeout_us > 20)
		nanosleep(&time, NULL);
}

static void close_port(struct transport *t)
{
	struct dpdk *d = (struct dpdk *)t;
	rte_eth_dev_stop(d->port);
	rte_eth_dev_close(d->port);
	rte_mempool_free(d->pool);
	free(d);
	rte_eal_cleanup();
}

static bool start_eal(const struct transport_dpdk_settings *s, char *message, uint32_t message_size)
{
	char vdev[512], extra[512], *arguments[EAL_ARGUMENTS_MAX];
	char prefix[64];
	snprintf(vdev, sizeof vdev, "--vdev=%s", s->vdev);
	snprintf(prefix, sizeof prefix, "--file-prefix=berth-fleet-%d", getpid());
	const char *fixed[] = {s->program, "--no-huge", "--no-pci", "--no-telemetry",
		"--log-level=error", "-m", "256", prefix, vdev};
	int count = 0;
	for (uint32_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
		arguments[count++] = (char *)fixed[i];
	snprintf(extra, sizeof extra, "%s", s->eal ? s->eal : "");
	char *rest;
	for (char *word = strtok_r(extra, " ", &rest); word && count < EAL_ARGUMENTS_MAX;
		word = strtok_r(NULL, " ", &rest))
		arguments[count++] = word;
	if (rte_eal_init(count, arguments) < 0)
		return say_failure(message, message_size, "DPDK does not start", rte_errno);
	if (rte_eth_dev_count_avail() == 0)
		return say_failure(message, message_size, s->vdev, ENODEV);
	return true;
}

static bool start_port(struct dpdk *d, char *message, uint32_t message_size)
{
	struct rte_eth_conf conf = {0};
	d->port = (uint16_t)rte_eth_find_next(0);
	d->pool = rte_pktmbuf_pool_create(
		"fleet", MBUFS, MBUF_CACHE, 0, RTE_MBUF_DEFAULT_BUF_SIZE, (int)rte_socket_id());
	if (!d->pool)
		return say_failure(message, message_size, "no memory for packets", rte_errno);
	uint16_t receive_slots = RING_SIZE, send_slots = RING_SIZE;
	int rc = rte_eth_dev_configure(d->port, 1, 1, &conf);
	if (rc == 0)
		rc = rte_eth_dev_adjust_nb_rx_tx_desc(d->port, &receive_slots, &send_slots);
	if (rc == 0)
		rc = rte_eth_rx_queue_setup(
			d->port, 0, receive_slots, rte_socket_id(), NULL, d->pool);
	if (rc == 0)
		rc = rte_eth_tx_queue_setup(d->port, 0, send_slots, rte_socket_id(), NULL);
	if (rc == 0)
		rc = rte_eth_dev_start(d->port);
	if (rc < 0)
		return say_failure(message, message_size, "the DPDK device does not start", rc);
	rte_eth_promiscuous_enable(d->port); // a device without this mode receives everything
	struct rte_ether_addr mac;
	rc = rte_eth_macaddr_get(d->port, &mac);
	memcpy(d->flow.mac_from, &mac, 6);
	return rc == 0 ||
	       say_failure(message, message_size, "the DPDK device has no MAC address", rc);
}

// Tries for twenty seconds: the other end of a memif or TAP may still be starting, on a machine with much to do.
static bool find_peer(struct dpdk *d, char *message, uint32_t message_size)
{
	struct frame *frames = memory_take_array(BURST_MAX, sizeof *frames);
	for (uint32_t i = 0; i < ARP_TRIES && !d->peer_known; i++) {
		send_arp(d, RTE_ARP_OP_REQUEST, NULL, d->flow.to);
		for (uint32_t us = 0; us < ARP_WAIT_US && !d->peer_known; us += 100) {
			struct timespec time = {.tv_nsec = 100000};
			receive_burst(&d->transport, frames, BURST_MAX);
			nanosleep(&time, NULL);
		}
	}
	free(frames);
	if (!d->peer_known)
		snprintf(message, message_size,
			"nobody answers ARP for the controller's address on this device");
	return d->peer_known;
}

struct transport *transport_dpdk_open(
	const struct transport_dpdk_settings *settings, char *message, uint32_t message_size)
{
	struct sockaddr_storage server;
	socklen_t size;
	if (endpoint_resolve(settings->server, &server, &size, message, message_size) < 0)
		return NULL;
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)&server;
	struct dpdk *d = memory_take(sizeof *d);
	d->transport = (struct transport){.lanes = settings->lanes ? settings->lanes : 1,
		.may_be_full = true,
		.send = send_burst,
		.receive = receive_burst,
		.wait = wait_a_little,
		.close = close_port};
	bool good = server.ss_family == AF_INET &&
		    inet_pton(AF_INET, settings->address, d->flow.from) == 1;
	if (!good)
		snprintf(message, message_size, "--vdev needs IPv4 in --server and --address");
	memcpy(d->flow.to, &v4->sin_addr, 4);
	d->flow.port_to = ntohs(v4->sin_port);
	if (good && start_eal(settings, message, message_size) &&
		start_port(d, message, message_size) && find_peer(d, message, message_size))
		return &d->transport;
	free(d);
	return NULL;
}
