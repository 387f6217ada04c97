// Authenticated heartbeats received and answered on one core, against a forwarder that only swaps MAC
// addresses on the same packets.
//
// Both sides sit on one Ethernet device whose receive and transmit functions are ours and do what DPDK's
// net_pcap does with infinite_rx=1 and without a file to write to: take mbufs from a pool, take the next frame
// from a ring and put it back, copy it, count; give back packet by packet. The subject is the daemon's own path
// from there on: dataplane/port/packet_io_dpdk.c around hot_receive(). The reference is compared once with
// `dpdk-testpmd --forward-mode=macswap` on net_pcap itself.
//
// Frames are built and signed outside the timed part, a batch that fits the second-level cache at a time and
// without touching the nodes' lines, each with a sequence that its node has not sent before; the nodes of a
// batch are the next ones of a random order of the whole fleet. What is timed is from the receive call to the
// last packet given back, in processor time of the thread.
#include "bench/harness/bench.h"
#include "bench/harness/heartbeats.h"
#include "dataplane/port/packet_io_dpdk.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_memcpy.h>
#include <rte_ring.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define BATCH_BURSTS 64u
#define BATCH_FRAMES (BATCH_BURSTS * BURST_MAX)
#define BATCHES 256u

struct frame {
	uint8_t bytes[HEARTBEAT_PACKET_BYTES];
} __attribute__((aligned(128)));

struct run {
	struct heartbeats heartbeats;
	struct rte_mempool *pool;
	struct rte_ring *ring; // of the frames, as net_pcap keeps them
	struct frame *frames;
	uint32_t batches;
	uint64_t bytes_in, bytes_out; // as a driver counts them
	uint64_t forwarded;
	double forwarder; // the reference's newest rate
	struct dpdk_queue queue;
	struct packet_io io;
};

static void build_batch(struct run *r)
{
	for (uint32_t first = 0; first < BATCH_FRAMES; first += BURST_MAX) {
		uint8_t *packets[BURST_MAX];
		for (uint32_t i = 0; i < BURST_MAX; i++)
			packets[i] = r->frames[first + i].bytes;
		heartbeats_build(&r->heartbeats, packets, BURST_MAX);
	}
}

static uint16_t port_receive(void *queue, struct rte_mbuf **mbufs, uint16_t max)
{
	struct run *r = queue;
	if (rte_pktmbuf_alloc_bulk(r->pool, mbufs, max) != 0)
		return 0;
	for (uint16_t i = 0; i < max; i++) {
		struct frame *frame;
		if (rte_ring_dequeue(r->ring, (void **)&frame) != 0)
			return i;
		rte_memcpy(
			rte_pktmbuf_mtod(mbufs[i], void *), frame->bytes, HEARTBEAT_PACKET_BYTES);
		mbufs[i]->data_len = HEARTBEAT_PACKET_BYTES;
		mbufs[i]->pkt_len = HEARTBEAT_PACKET_BYTES;
		mbufs[i]->port = 0;
		r->bytes_in += HEARTBEAT_PACKET_BYTES;
		rte_ring_enqueue(r->ring, frame);
	}
	return max;
}

static uint16_t port_transmit(void *queue, struct rte_mbuf **mbufs, uint16_t mbuf_count)
{
	struct run *r = queue;
	for (uint16_t i = 0; i < mbuf_count; i++) {
		r->bytes_out += mbufs[i]->pkt_len;
		rte_pktmbuf_free(mbufs[i]);
	}
	r->forwarded += mbuf_count;
	return mbuf_count;
}

// Starts a net_null device whose functions are exchanged for ours.
static void port_start(struct run *r)
{
	struct rte_eth_conf none = {0};
	CHECK(rte_eth_dev_count_avail() == 1);
	CHECK(rte_eth_dev_configure(0, 1, 1, &none) == 0);
	CHECK(rte_eth_rx_queue_setup(0, 0, 512, SOCKET_ID_ANY, NULL, r->pool) == 0);
	CHECK(rte_eth_tx_queue_setup(0, 0, 512, SOCKET_ID_ANY, NULL) == 0);
	CHECK(rte_eth_dev_start(0) == 0);
	struct rte_eth_fp_ops *ops = &rte_eth_fp_ops[0];
	ops->rx_pkt_burst = port_receive;
	ops->tx_pkt_burst = port_transmit;
	ops->rxq.data[0] = r;
	ops->txq.data[0] = r;
	r->queue = (struct dpdk_queue){.pool = r->pool};
	r->io = dpdk_queue_io(&r->queue);
}

// Does what testpmd does in macswap mode, with the same vector instruction.
static void swap_macs(struct run *r)
{
	const __m128i swapped = _mm_set_epi8(15, 14, 13, 12, 5, 4, 3, 2, 1, 0, 11, 10, 9, 8, 7, 6);
	struct rte_mbuf *mbufs[BURST_MAX];
	uint16_t mbuf_count = rte_eth_rx_burst(0, 0, mbufs, BURST_MAX);
	for (uint16_t i = 0; i < mbuf_count; i++) {
		if (i + 4 < mbuf_count)
			rte_prefetch0(rte_pktmbuf_mtod(mbufs[i + 4], void *));
		__m128i *start = rte_pktmbuf_mtod(mbufs[i], __m128i *);
		_mm_storeu_si128(start, _mm_shuffle_epi8(_mm_loadu_si128(start), swapped));
		mbufs[i]->ol_flags = 0;
		mbufs[i]->l2_len = RTE_ETHER_HDR_LEN;
		mbufs[i]->l3_len = sizeof(struct rte_ipv4_hdr);
	}
	uint16_t sent = rte_eth_tx_burst(0, 0, mbufs, mbuf_count);
	if (sent < mbuf_count)
		rte_pktmbuf_free_bulk(&mbufs[sent], mbuf_count - sent);
}

// A worker's turn, without its occasional work.
static void answer(struct run *r)
{
	struct packet_burst burst;
	r->io.receive(r->io.context, &burst);
	hot_receive(&r->heartbeats.worker, burst.packets, burst.count);
	CHECK(r->io.finish(r->io.context, &burst) == 0);
}

// Processor time of this thread: other programs' turns on its core do not count.
static uint64_t thread_ns(void)
{
	struct timespec t;
	CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// Packets per second of one side over the next nodes in order.
static double forward_rate(struct run *r, void (*side)(struct run *))
{
	uint64_t ns = 0, forwarded = r->forwarded, packets = (uint64_t)r->batches * BATCH_FRAMES;
	for (uint32_t batch = 0; batch < r->batches; batch++) {
		build_batch(r);
		uint64_t began = thread_ns();
		for (uint32_t burst = 0; burst < BATCH_BURSTS; burst++)
			side(r);
		ns += thread_ns() - began;
	}
	CHECK(r->forwarded - forwarded == packets); // every one was answered
	return (double)packets * 1e9 / (double)ns;
}

static double subject(void *context)
{
	struct run *r = context;
	uint64_t accepted = r->heartbeats.counters.heartbeats;
	double rate = forward_rate(r, answer);
	CHECK(r->heartbeats.counters.heartbeats - accepted == r->batches * BATCH_FRAMES);
	return rate;
}

static double reference(void *context)
{
	return forward_rate(context, swap_macs);
}

static void measure(struct bench *b, struct run *r, uint32_t nodes)
{
	heartbeats_start(&r->heartbeats, nodes);
	struct bench_result result = {.name = "heartbeat",
		.nodes = nodes,
		.unit = "heartbeats/s",
		.against = "macswap, packets/s"};
	bench_interleave(b, subject, reference, r, &result);
	r->forwarder = result.reference;
	bench_report(b, &result);
	heartbeats_stop(&r->heartbeats);
}

static void start(struct run *r)
{
	heartbeats_start_eal("heartbeat", bench_pin(), "net_null0");
	r->pool = rte_pktmbuf_pool_create(
		"packets", 16383, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	r->ring = rte_ring_create("frames", rte_align32pow2(BATCH_FRAMES + 1), SOCKET_ID_ANY,
		RING_F_SP_ENQ | RING_F_SC_DEQ);
	r->frames = memory_map(BATCH_FRAMES * sizeof r->frames[0]);
	CHECK(r->pool != NULL && r->ring != NULL && r->frames != NULL);
	for (uint32_t i = 0; i < BATCH_FRAMES; i++)
		CHECK(rte_ring_enqueue(r->ring, &r->frames[i]) == 0);
	port_start(r);
}

// Writes the frames of the newest batch to a file for net_pcap. Returns false when it cannot be written.
static bool write_pcap(const struct run *r, const char *path)
{
	const uint32_t file_header[6] = {0xa1b2c3d4, 2 | 4 << 16, 0, 0, 65535, 1};
	const uint32_t packet_header[4] = {0, 0, HEARTBEAT_PACKET_BYTES, HEARTBEAT_PACKET_BYTES};
	FILE *file = fopen(path, "w");
	if (file == NULL)
		return false;
	fwrite(file_header, sizeof file_header, 1, file);
	for (uint32_t i = 0; i < BATCH_FRAMES; i++) {
		fwrite(packet_header, sizeof packet_header, 1, file);
		fwrite(r->frames[i].bytes, HEARTBEAT_PACKET_BYTES, 1, file);
	}
	bool written = !ferror(file);
	return fclose(file) == 0 && written;
}

// The median of what testpmd prints once a second; 0 when it does not run.
static double testpmd_rate(const char *pcap)
{
	char command[512], line[256];
	double rates[8];
	uint32_t rate_count = 0;
	snprintf(command, sizeof command,
		"timeout 9 dpdk-testpmd -l 0,1 --no-huge -m 1024 --no-pci --no-telemetry "
		"--file-prefix=bench-%d --vdev=net_pcap0,rx_pcap=%s,infinite_rx=1 -- --auto-start "
		"--forward-mode=macswap --burst=%u --port-topology=loop --no-lsc-interrupt "
		"--stats-period=1 < /dev/null 2>/dev/null",
		(int)getpid(), pcap, BURST_MAX);
	FILE *output = popen(command, "r");
	if (output == NULL)
		return 0;
	while (fgets(line, sizeof line, output) != NULL) {
		const char *rate = strstr(line, "Tx-pps:");
		double value = rate == NULL ? 0 : strtod(rate + 7, NULL);
		if (value > 0 && rate_count < 8)
			rates[rate_count++] = value;
	}
	pclose(output);
	return rate_count == 0 ? 0 : bench_median(rates, rate_count);
}

static void calibrate(struct bench *b, struct run *r)
{
	char path[64];
	snprintf(path, sizeof path, "/tmp/berth-heartbeat-%d.pcap", (int)getpid());
	double testpmd = write_pcap(r, path) ? testpmd_rate(path) : 0;
	unlink(path);
	if (testpmd == 0) {
		printf("dpdk-testpmd did not run: the forwarder is not compared with it\n");
		return;
	}
	struct bench_result result = {.name = "macswap",
		.figure = r->forwarder,
		.unit = "packets/s",
		.reference = testpmd,
		.against = "dpdk-testpmd macswap on net_pcap"};
	bench_report(b, &result);
}

int main(int argument_count, char **arguments)
{
	static struct run run;
	struct bench bench;
	bench_begin(&bench, "heartbeat", argument_count, arguments);
	start(&run);
	run.batches = bench.smoke ? 1 : BATCHES;
	static const uint32_t sizes[] = {10000, 100000, 1000000, 10000000};
	uint32_t only = (uint32_t)bench_option(&bench, "nodes", 0);
	for (uint32_t i = 0; i < (bench.smoke ? 1u : 4u); i++) {
		if (only == 0 || only == sizes[i])
			measure(&bench, &run, sizes[i]);
	}
	if (!bench.smoke)
		calibrate(&bench, &run);
	return bench_end(&bench);
}
