// Ports of virtual devices for real: EAL without huge pages, pools with and without, a loop (what is sent comes
// back), a capture that is read once, and what is refused.
#include "dataplane/port/eal.h"
#include "dataplane/port/host.h"
#include "dataplane/port/packet_pool.h"
#include "dataplane/port/port.h"
#include "dataplane/port/port_memory.h"
#include <errno.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_ring.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define CAPTURED 5u

static struct port_settings settings[3] = {
	{.device = "net_ring0", .addresses = {"10.0.0.1"}, .address_count = 1, .queues = 2},
	{.addresses = {"10.0.0.2", "fd00::2"}, .address_count = 2, .queues = 1},
	{.device = "net_null0", .addresses = {"10.0.0.3"}, .address_count = 1, .queues = 1},
};
static struct device devices[3];
static struct ethernet_port ports[3];

static void put_u32(FILE *f, uint32_t v)
{
	fwrite(&v, sizeof v, 1, f);
}

// The classic format: a header of six words, then each packet behind its time and two lengths.
static void write_capture(const char *path)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	put_u32(f, 0xa1b2c3d4);
	put_u32(f, 2 | 4 << 16);
	put_u32(f, 0);
	put_u32(f, 0);
	put_u32(f, 65535);
	put_u32(f, 1);
	for (uint32_t i = 0; i < CAPTURED; i++) {
		uint8_t packet[64];
		memset(packet, (int)i + 1, sizeof packet);
		put_u32(f, 0);
		put_u32(f, i);
		put_u32(f, sizeof packet);
		put_u32(f, sizeof packet);
		fwrite(packet, sizeof packet, 1, f);
	}
	assert_int_equal(fclose(f), 0);
}

static int start_everything(void **state)
{
	static char capture[] = "/tmp/berth-port-test-XXXXXX";
	char message[256] = "";
	int fd = mkstemp(capture);
	assert_true(fd >= 0);
	close(fd);
	write_capture(capture);
	snprintf(settings[1].device, sizeof settings[1].device, "net_pcap0,rx_pcap=%s", capture);
	*state = capture;
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(
			device_resolve(&settings[i], i, &devices[i], message, sizeof message), 0);
	struct eal_ask ask = {.devices = devices,
		.device_count = 3,
		.main_cpu = sched_getcpu(),
		.huge = "no",
		.ports = settings,
		.extra = ""};
	if (eal_start(&ask, message, sizeof message) != 0)
		fail_msg("%s", message);
	for (uint32_t i = 0; i < 3; i++) {
		int numa_nodes[2] = {SOCKET_ID_ANY, SOCKET_ID_ANY};
		ports[i].device = devices[i];
		if (port_start(&ports[i], &settings[i], i, 4647, numa_nodes, message,
			    sizeof message) != 0)
			fail_msg("%s", message);
	}
	return 0;
}

static int stop_everything(void **state)
{
	for (uint32_t i = 0; i < 3; i++)
		port_close(&ports[i]);
	eal_stop();
	return unlink(*state);
}

static void send_one(const struct packet_io *io, uint8_t fill, uint32_t size)
{
	struct packet_burst burst;
	io->take(io->context, &burst, 1);
	assert_int_equal(burst.count, 1);
	assert_true(burst.packets[0].capacity >= FRAME_BYTES_MAX + 66);
	memset(burst.packets[0].data, fill, size);
	burst.packets[0].size = size;
	burst.packets[0].verdict = PACKET_REPLY;
	assert_int_equal(io->finish(io->context, &burst), 0);
}

static void loops_back(void **state)
{
	(void)state;
	struct packet_burst burst;
	for (uint32_t q = 0; q < 2; q++) {
		struct packet_io io = dpdk_queue_io(&ports[0].queues[q]);
		send_one(&io, (uint8_t)(0x40 + q), 100 + q);
		io.receive(io.context, &burst);
		assert_int_equal(burst.count, 1);
		assert_int_equal(burst.packets[0].size, 100 + q);
		assert_int_equal(burst.packets[0].data[99], 0x40 + q);
		assert_int_equal(burst.packets[0].segments, 1);
		assert_int_equal(burst.packets[0].checksum, PACKET_CHECKSUM_UNKNOWN);
		// A dropped packet goes back to its pool and nowhere else.
		assert_int_equal(io.finish(io.context, &burst), 0);
		io.receive(io.context, &burst);
		assert_int_equal(burst.count, 0);
	}
	assert_true(ports[0].queues[0].bell < 0 && ports[0].queues[1].bell < 0);
	port_meter(&ports[0]);
	assert_int_equal(ports[0].received, 2);
	assert_int_equal(ports[0].sent, 2);
	assert_int_equal(ports[0].signs.missed, 0);
}

// Every packet of the pool can be had, more cannot, and all come back.
static void pool_runs_dry_and_refills(void **state)
{
	(void)state;
	struct packet_io io = dpdk_queue_io(&ports[0].queues[0]);
	uint32_t total = port_queue_mbufs(&settings[0]);
	struct packet_burst *bursts = calloc(total / BURST_MAX + 2, sizeof *bursts);
	for (int round = 0; round < 2; round++) {
		uint32_t taken = 0, n = 0;
		do {
			io.take(io.context, &bursts[n], BURST_MAX);
			taken += bursts[n].count;
		} while (bursts[n++].count == BURST_MAX);
		assert_int_equal(taken, total);
		for (uint32_t i = 0; i < n; i++)
			io.finish(io.context, &bursts[i]);
	}
	free(bursts);
}

static void capture_is_read_once(void **state)
{
	(void)state;
	struct packet_io io = dpdk_queue_io(&ports[1].queues[0]);
	struct packet_burst burst;
	uint32_t seen = 0;
	for (int turn = 0; turn < 10; turn++) {
		io.receive(io.context, &burst);
		for (uint32_t i = 0; i < burst.count; i++) {
			assert_int_equal(burst.packets[i].size, 64);
			assert_int_equal(burst.packets[i].data[0], seen + i + 1);
		}
		seen += burst.count;
		io.finish(io.context, &burst);
	}
	assert_int_equal(seen, CAPTURED);
	assert_true(ports[1].hot.promiscuous_mac);
}

static void addresses_and_offloads(void **state)
{
	(void)state;
	assert_int_equal(ports[1].hot.ipv4_count, 1);
	assert_int_equal(ports[1].hot.ipv6_count, 1);
	assert_int_equal(ports[1].hot.udp_port, 4647);
	assert_false(ports[0].hot.trust_checksum);
	assert_false(ports[2].hot.trust_checksum);
}

static void missing_device_is_named(void **state)
{
	(void)state;
	struct ethernet_port port = {.device = {.name = "net_nosuch9", .arguments = "net_nosuch9"}};
	char message[256];
	int numa_nodes[1] = {SOCKET_ID_ANY};
	assert_true(
		port_start(&port, &settings[0], 7, 4647, numa_nodes, message, sizeof message) < 0);
	assert_non_null(strstr(message, "port 7 (net_nosuch9)"));
}

static void too_many_queues_are_named(void **state)
{
	struct ethernet_port port = {0};
	struct port_settings many = settings[1];
	char message[512];
	snprintf(many.device, sizeof many.device, "net_pcap7,rx_pcap=%s", (const char *)*state);
	many.queues = 2; // one capture is one queue
	assert_int_equal(device_resolve(&many, 1, &port.device, message, sizeof message), 0);
	int numa_nodes[2] = {SOCKET_ID_ANY, SOCKET_ID_ANY};
	assert_int_equal(
		port_start(&port, &many, 1, 4647, numa_nodes, message, sizeof message), -ERANGE);
	assert_non_null(strstr(message, "lower queues"));
}

// DPDK's own reason is part of the message.
static void device_that_cannot_be_made(void **state)
{
	struct ethernet_port port = {0};
	struct port_settings none = settings[1];
	char message[512];
	snprintf(none.device, sizeof none.device, "net_pcap8,rx_pcap=/nonexistent/a.pcap");
	assert_int_equal(device_resolve(&none, 1, &port.device, message, sizeof message), 0);
	int numa_nodes[1] = {SOCKET_ID_ANY};
	assert_true(port_start(&port, &none, 1, 4647, numa_nodes, message, sizeof message) < 0);
	assert_non_null(strstr(message, "port 1 (net_pcap8)"));
	assert_non_null(strstr(message, "/nonexistent/a.pcap"));
}

// Of this process: other tests take huge pages too.
static uint64_t own_huge_bytes(void)
{
	char line[128];
	unsigned long kib = 0;
	FILE *status = fopen("/proc/self/status", "re");
	assert_non_null(status);
	while (fgets(line, sizeof line, status))
		if (strncmp(line, "HugetlbPages:", 13) == 0)
			kib = strtoul(line + 13, NULL, 10);
	assert_int_equal(fclose(status), 0);
	return (uint64_t)kib << 10;
}

// Where packets go that no card has to reach: whole, in one piece, and given back when the pool goes.
static void pool_in_huge_pages(void **state)
{
	(void)state;
	enum { PACKETS = 5000 };
	static struct rte_mbuf *taken[PACKETS];
	uint64_t before = own_huge_bytes();
	if (host_huge_free_bytes() < 32 << 20)
		skip(); // this machine has too few of them
	struct rte_mempool *pool = packet_pool_create("huge", PACKETS, 0);
	assert_non_null(pool);
	assert_int_equal(pool->nb_mem_chunks, 1);
	assert_int_equal(rte_pktmbuf_alloc_bulk(pool, taken, PACKETS), 0);
	for (uint32_t i = 0; i < PACKETS; i++) {
		assert_int_equal(rte_pktmbuf_tailroom(taken[i]), RTE_MBUF_DEFAULT_DATAROOM);
		memset(rte_pktmbuf_mtod(taken[i], void *), (int)i, RTE_MBUF_DEFAULT_DATAROOM);
	}
	for (uint32_t i = 0; i < PACKETS; i++)
		assert_int_equal(*rte_pktmbuf_mtod(taken[i], uint8_t *), (uint8_t)i);
	assert_int_equal(rte_mempool_avail_count(pool), 0);
	rte_pktmbuf_free_bulk(taken, PACKETS);
	assert_int_equal(rte_mempool_avail_count(pool), PACKETS);
	assert_true(own_huge_bytes() > before);
	rte_mempool_free(pool);
	assert_int_equal(own_huge_bytes(), before);
}

// More than the machine has: refused at once, nothing is kept.
static void pool_that_is_too_large(void **state)
{
	(void)state;
	uint64_t free_bytes = host_huge_free_bytes(), before = own_huge_bytes();
	uint32_t packets = (uint32_t)(free_bytes / RTE_MBUF_DEFAULT_BUF_SIZE) + 1000;
	assert_null(packet_pool_create("large", packets, 0));
	assert_int_equal(rte_errno, ENOMEM);
	assert_int_equal(own_huge_bytes(), before);
}

// The pool finds no room for its list of free packets: the name of that list is taken.
static void pool_that_cannot_be_filled(void **state)
{
	(void)state;
	uint64_t before = own_huge_bytes();
	struct rte_ring *ring = rte_ring_create("MP_filled", 8, SOCKET_ID_ANY, 0);
	assert_non_null(ring);
	assert_null(packet_pool_create("filled", 5000, 0));
	assert_int_equal(rte_errno, ENOMEM);
	assert_int_equal(own_huge_bytes(), before);
	rte_ring_free(ring);
}

static void pool_whose_name_is_taken(void **state)
{
	(void)state;
	if (host_huge_free_bytes() < 32 << 20)
		skip();
	struct rte_mempool *pool = packet_pool_create("taken", 1000, 0);
	assert_non_null(pool);
	assert_null(packet_pool_create("taken", 1000, 0));
	assert_int_equal(rte_errno, EEXIST);
	rte_mempool_free(pool);
}

static void address_that_is_none(void **state)
{
	(void)state;
	struct ethernet_port port = {.device = devices[2]};
	struct port_settings wrong = settings[2];
	char message[256];
	int numa_nodes[1] = {SOCKET_ID_ANY};
	snprintf(wrong.addresses[0], sizeof wrong.addresses[0], "224.0.0.1");
	assert_int_equal(
		port_start(&port, &wrong, 2, 4647, numa_nodes, message, sizeof message), -EINVAL);
	assert_non_null(strstr(message, "\"224.0.0.1\" is no address for a port"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loops_back),
		cmocka_unit_test(pool_runs_dry_and_refills),
		cmocka_unit_test(capture_is_read_once),
		cmocka_unit_test(addresses_and_offloads),
		cmocka_unit_test(missing_device_is_named),
		cmocka_unit_test(too_many_queues_are_named),
		cmocka_unit_test(device_that_cannot_be_made),
		cmocka_unit_test(pool_in_huge_pages),
		cmocka_unit_test(pool_that_is_too_large),
		cmocka_unit_test(pool_that_cannot_be_filled),
		cmocka_unit_test(pool_whose_name_is_taken),
		cmocka_unit_test(address_that_is_none),
	};
	return cmocka_run_group_tests(tests, start_everything, stop_everything);
}
