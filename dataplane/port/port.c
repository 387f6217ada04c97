#include "dataplane/port/port.h"
#include "dataplane/port/address.h"
#include "dataplane/port/eal.h"
#include "dataplane/port/packet_pool.h"
#include "dataplane/port/packet_sockets.h"
#include "dataplane/port/port_memory.h"
#include "dataplane/port/shared/shared_port.h"
#include "dataplane/port/xdp.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/log.h"
#include <errno.h>
#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <stdio.h>
#include <string.h>

#define LINK_WAIT_MS 2000u
#define FRAME_MTU 1500u

struct start {
	struct ethernet_port *port;
	const struct port_settings *settings;
	uint32_t index;
	struct rte_eth_dev_info info;
	uint16_t rx_descriptors, tx_descriptors;
	struct packet_sockets sockets; // that are not of queues still to be opened
	const char *step;              // what failed, for the message
	char text[128];                // of that, where it is not always the same
};

static void offload(const struct start *s, struct rte_eth_conf *conf)
{
	const uint64_t checksums = RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM;
	// A virtual device reports "good" for packets that nobody has checked.
	s->port->hot.trust_checksum = !device_is_virtual(&s->port->device) &&
				      (s->info.rx_offload_capa & checksums) == checksums;
	if (s->port->hot.trust_checksum)
		conf->rxmode.offloads |= checksums;
	// Every packet a queue sends comes from that queue's one pool and has one owner.
	conf->txmode.offloads |= s->info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
}

static void spread(const struct start *s, struct rte_eth_conf *conf)
{
	if (s->port->queue_count < 2)
		return;
	const uint64_t fields = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP;
	conf->rx_adv_conf.rss_conf.rss_hf = fields & s->info.flow_type_rss_offloads;
	if (conf->rx_adv_conf.rss_conf.rss_hf != 0)
		conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	else if (!device_is_virtual(&s->port->device))
		log_warn("port-without-rss", "port=%u queues=%u effect=\"all packets on queue 0\"",
			s->index, s->port->queue_count);
}

static int configure(struct start *s)
{
	struct ethernet_port *port = s->port;
	struct rte_eth_conf conf = {.rxmode.mtu = FRAME_MTU};
	s->step = "reading what the device can do";
	int error = rte_eth_dev_info_get(port->id, &s->info);
	if (error != 0)
		return error;
	s->step = "asking for more queues than the device has (lower queues)";
	if (port->queue_count > s->info.max_rx_queues || port->queue_count > s->info.max_tx_queues)
		return -ERANGE;
	if (s->info.max_mtu > 0 && s->info.max_mtu < FRAME_MTU)
		conf.rxmode.mtu = s->info.max_mtu;
	offload(s, &conf);
	spread(s, &conf);
	s->step = "configuring the device";
	error = rte_eth_dev_configure(port->id, port->queue_count, port->queue_count, &conf);
	if (error != 0)
		return error;
	s->rx_descriptors = (uint16_t)RTE_MIN(
		port_descriptors(s->settings->rx_descriptors), (uint32_t)UINT16_MAX);
	s->tx_descriptors = (uint16_t)RTE_MIN(
		port_descriptors(s->settings->tx_descriptors), (uint32_t)UINT16_MAX);
	s->step = "choosing descriptors";
	return rte_eth_dev_adjust_nb_rx_tx_desc(port->id, &s->rx_descriptors, &s->tx_descriptors);
}

static int open_queue(struct start *s, uint16_t queue, int numa_node)
{
	struct ethernet_port *port = s->port;
	char name[RTE_MEMPOOL_NAMESIZE];
	snprintf(name, sizeof name, "port%u-queue%u", s->index, queue);
	s->step = "taking memory for packets (raise memory_mb or the number of huge pages)";
	// A pool of its own per queue: no other core touches it, so its free list stays in this
	// core's cache.
	struct rte_mempool *pool =
		packet_pool_create(name, port_queue_mbufs(s->settings), numa_node);
	if (pool == NULL)
		return rte_errno > 0 ? -rte_errno : -ENOMEM;
	port->queues[queue] =
		(struct dpdk_queue){.port = port->id, .queue = queue, .pool = pool, .bell = -1};
	unsigned socket = numa_node < 0 ? (unsigned)SOCKET_ID_ANY : (unsigned)numa_node;
	s->step = "opening a receive queue";
	// A port over AF_XDP has its program loaded, and put on the interface, with its first queue.
	int error = CAN_BREAK(XDP_LOAD, -errno,
		rte_eth_rx_queue_setup(
			port->id, queue, s->rx_descriptors, socket, &s->info.default_rxconf, pool));
	if (error != 0)
		return error;
	port->queues[queue].bell = packet_sockets_take(&s->sockets);
	s->step = "opening a transmit queue";
	return rte_eth_tx_queue_setup(
		port->id, queue, s->tx_descriptors, socket, &s->info.default_txconf);
}

// Solicited-node addresses are multicast: without them nobody finds our IPv6 addresses.
static int hear_link(struct start *s)
{
	struct ethernet_port *port = s->port;
	bool promiscuous = s->settings->promiscuous;
	if (port->hot.ipv6_count > 0 && rte_eth_allmulticast_enable(port->id) != 0)
		promiscuous = true;
	s->step = "making the device promiscuous";
	int error = promiscuous ? rte_eth_promiscuous_enable(port->id) : 0;
	// Captures and loops deliver everything as it is.
	return error == -ENOTSUP && (port->device.any_mac || !s->settings->promiscuous) ? 0 : error;
}

static void wait_link(const struct start *s)
{
	struct rte_eth_link link = {0};
	uint32_t waits = device_is_virtual(&s->port->device) ? 1 : LINK_WAIT_MS / 10;
	for (uint32_t i = 0; i < waits; i++) {
		if (rte_eth_link_get_nowait(s->port->id, &link) == 0 && link.link_status)
			break;
		if (i + 1 < waits)
			rte_delay_us_sleep(10000);
	}
	if (link.link_status)
		log_info("link", "port=%u megabits=%u", s->index, link.link_speed);
	else
		log_warn("link-down",
			"port=%u remedy=\"check the cable or bring the peer up; packets flow once "
			"it is up\"",
			s->index);
}

// DPDK loads the program and brings it onto the interface, on which there is room for one.
static int share_interface(struct start *s)
{
	struct device *d = &s->port->device;
	const char *program;
	char other[SHARED_PORT_NAME_BYTES];
	s->step = "handing the XDP program to DPDK";
	int error = shared_port_program(&program);
	if (error != 0)
		return error;
	size_t used = strlen(d->arguments);
	snprintf(d->arguments + used, sizeof d->arguments - used, ",xdp_prog=%s", program);
	error = shared_port_clear(d->interface, other);
	snprintf(s->text, sizeof s->text,
		"putting an XDP program on %s, which has %s%s (ip link set %s xdp off)",
		d->interface, error == -EBUSY ? "another, " : "one", error == -EBUSY ? other : "",
		d->interface);
	s->step = s->text;
	return error;
}

static int aim_program(struct start *s)
{
	uint32_t program = 0;
	s->step = "telling the XDP program what is Berth's";
	int error = xdp_program(s->port->device.interface, &program);
	return error != 0 ? error : shared_port_aim(program, &s->port->hot);
}

static int run_steps(struct start *s, const int *numa_nodes)
{
	struct ethernet_port *port = s->port;
	packet_sockets_begin(&s->sockets);
	int error = port->device.is_shared ? share_interface(s) : 0;
	if (error != 0)
		return error;
	s->step = "having DPDK make the device";
	error = eal_add_device(&port->device);
	if (error == 0)
		error = rte_eth_dev_get_port_by_name(port->device.name, &port->id);
	port->opened = error == 0;
	if (error == 0)
		error = configure(s);
	for (uint16_t q = 0; q < port->queue_count && error == 0; q++)
		error = open_queue(s, q, numa_nodes[q]);
	if (error != 0)
		return error;
	s->step = "starting the device";
	error = rte_eth_dev_start(port->id);
	if (error != 0)
		return error;
	port->started = true;
	error = port->device.is_shared ? aim_program(s) : 0;
	if (error == 0)
		error = hear_link(s);
	if (error != 0)
		return error;
	s->step = "reading the device's address";
	struct rte_ether_addr mac;
	error = rte_eth_macaddr_get(port->id, &mac);
	memcpy(port->hot.mac, mac.addr_bytes, sizeof port->hot.mac);
	return error;
}

void port_stop(struct ethernet_port *port)
{
	if (!port->started)
		return;
	port_meter(port);
	int error = port->device.is_sockets ? 0 : rte_eth_dev_stop(port->id);
	if (error != 0)
		log_warn("port-not-stopped", "device=%s error=\"%s\"", port->device.name,
			strerror(-error));
	port->started = false;
}

void port_close(struct ethernet_port *port)
{
	port_stop(port);
	if (port->device.is_sockets)
		socket_port_close(&port->sockets);
	if (port->opened) {
		rte_eth_dev_close(port->id);
		eal_remove_device(&port->device);
	}
	port->opened = false;
	for (uint32_t q = 0; q < port->queue_count; q++)
		rte_mempool_free(port->queues[q].pool);
	port->queue_count = 0;
}

static uint32_t count_bells(const struct ethernet_port *port)
{
	uint32_t bells = 0;
	for (uint32_t q = 0; q < port->queue_count; q++)
		bells += port->queues[q].bell >= 0;
	return bells;
}

static void say_started(const struct start *s)
{
	const struct ethernet_port *port = s->port;
	const uint8_t *mac = port->hot.mac;
	log_info("port",
		"port=%u device=%s driver=%s queues=%u bells=%u rx=%u tx=%u "
		"mac=%02x:%02x:%02x:%02x:%02x:%02x why=\"%s\"",
		s->index, port->device.name, port->device.driver, port->queue_count,
		count_bells(port), s->rx_descriptors, s->tx_descriptors, mac[0], mac[1], mac[2],
		mac[3], mac[4], mac[5], port->device.why);
}

static void say_failed(const struct start *s, int error, char *message, uint32_t message_size)
{
	const char *why = eal_complaint();
	snprintf(message, message_size, "port %u (%s): %s: %s%s%s; see berthd --check", s->index,
		s->port->device.name, s->step, strerror(-error), why[0] != '\0' ? ": " : "", why);
}

static void note_program(struct ethernet_port *port)
{
	port->program = 0;
	if (strcmp(port->device.driver, "net_af_xdp") != 0)
		return;
	int error = xdp_program(port->device.interface, &port->program);
	if (error != 0 || port->program == 0)
		log_warn("port-program-unknown",
			"device=%s error=\"%s\" effect=\"its loss is not noticed\"",
			port->device.name, strerror(-error));
}

static int start_sockets(struct ethernet_port *port, const struct port_settings *settings,
	uint32_t index, char *message, uint32_t message_size)
{
	int error = socket_port_open(&port->sockets, settings, index, port->device.interface,
		&port->hot, message, message_size);
	if (error != 0)
		return error;
	port->started = true;
	log_info("port", "port=%u device=%s driver=%s queues=%u bells=%u buffer=%u interface=%s",
		index, port->device.name, port->device.driver, port->sockets.queue_count,
		port->sockets.queue_count, port->sockets.buffer_bytes, port->device.interface);
	return 0;
}

int port_start(struct ethernet_port *port, const struct port_settings *settings, uint32_t index,
	uint16_t udp_port, const int *numa_nodes, char *message, uint32_t message_size)
{
	struct start s = {.port = port, .settings = settings, .index = index};
	port->hot.udp_port = udp_port;
	port->hot.vlan_id = settings->vlan_id;
	port->hot.promiscuous_mac = settings->promiscuous || port->device.any_mac;
	int error = port_addresses(settings, index, &port->hot, message, message_size);
	if (error != 0)
		return error;
	if (port->device.is_sockets)
		return start_sockets(port, settings, index, message, message_size);
	for (;;) {
		port->queue_count = (uint16_t)port_queues(settings);
		error = run_steps(&s, numa_nodes);
		if (error == 0)
			break;
		say_failed(&s, error, message, message_size);
		port_close(port);
		if (!device_fall_back(&port->device, settings, index, message))
			return error;
		log_warn("port-fallback", "port=%u driver=%s", index, port->device.driver);
		if (port->device.is_sockets)
			return start_sockets(port, settings, index, message, message_size);
	}
	note_program(port);
	wait_link(&s);
	say_started(&s);
	return 0;
}

struct packet_io port_queue_io(struct ethernet_port *port, uint32_t queue)
{
	return port->device.is_sockets ? socket_queue_io(port->sockets.queues[queue])
				       : dpdk_queue_io(&port->queues[queue]);
}

static void store_counter(_Atomic uint64_t *to, uint64_t value)
{
	atomic_store_explicit(to, value, memory_order_relaxed);
}

static void meter_sockets(struct ethernet_port *port)
{
	struct socket_port_sums sums = socket_port_read(&port->sockets);
	store_counter(&port->received, sums.received);
	store_counter(&port->received_bytes, sums.received_bytes);
	store_counter(&port->sent, sums.sent);
	store_counter(&port->sent_bytes, sums.sent_bytes);
	store_counter(&port->signs.missed, sums.missed);
	store_counter(&port->errors, sums.errors);
}

void port_meter(void *context)
{
	struct ethernet_port *port = context;
	struct rte_eth_stats stats;
	if (port->device.is_sockets) {
		meter_sockets(port);
		return;
	}
	if (rte_eth_stats_get(port->id, &stats) != 0)
		return;
	store_counter(&port->received, stats.ipackets);
	store_counter(&port->received_bytes, stats.ibytes);
	store_counter(&port->sent, stats.opackets);
	store_counter(&port->sent_bytes, stats.obytes);
	store_counter(&port->signs.missed, stats.imissed);
	store_counter(&port->errors, stats.ierrors + stats.oerrors);
	store_counter(&port->no_mbuf, stats.rx_nombuf);
}

// Some drivers over a kernel's interface call their link up whatever it is, so the kernel is asked.
static bool link_is_down(const struct ethernet_port *port)
{
	if (port->device.interface[0] != '\0')
		return !host_interface_runs(port->device.interface);
	struct rte_eth_link link;
	return !device_is_virtual(&port->device) && rte_eth_link_get_nowait(port->id, &link) == 0 &&
	       !link.link_status;
}

void port_watch_link(struct ethernet_port *port)
{
	if (port->started)
		atomic_store_explicit(
			&port->signs.link_down, link_is_down(port), memory_order_relaxed);
}

// Another program in the place of ours may have taken ours in (a dispatcher of several): then packets go on coming.
void port_watch_program(struct ethernet_port *port)
{
	uint32_t program = 0;
	uint64_t received = atomic_load_explicit(&port->received, memory_order_relaxed);
	if (!port->started || port->program == 0 ||
		xdp_program(port->device.interface, &program) != 0)
		return;
	bool is_ours = program == port->program;
	bool delivers = program != 0 && received != port->program_received;
	bool was_lost = atomic_load_explicit(&port->signs.program_lost, memory_order_relaxed);
	port->program_received = received;
	atomic_store_explicit(
		&port->signs.program_lost, !is_ours && !delivers, memory_order_relaxed);
	if (!is_ours && !delivers && !was_lost)
		log_error("port-program-lost",
			"device=%s program=%u now=%u effect=\"hears nobody; expiry is held\" "
			"remedy=\"stop what took it, then restart berthd\"",
			port->device.name, port->program, program);
}
