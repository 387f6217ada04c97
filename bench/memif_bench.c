// Heartbeats between two processes: one sends them and takes the answers, the other is the daemon's packet path. First
// over net_memif, then over UDP sockets of the kernel on the loopback.
//
// Either process may be the slower one, so two things are reported. First how many heartbeats a second were
// answered, beside how many packets the same generator delivers to a receiver that only drops them: its own
// ceiling. Then how many one core could answer if it never waited, from the time of the turns that had
// packets, against the same of a forwarder that swaps MAC addresses. Over sockets both are compared with the same
// socket read by a loop that only sends back what came.
#include "bench/harness/bench.h"
#include "bench/harness/datagrams.h"
#include "bench/harness/heartbeats.h"
#include "dataplane/port/packet_io_dpdk.h"
#include "dataplane/port/socket_port.h"
#include "state/base/check.h"
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NODES 100000u
#define DESCRIPTORS 2048u
#define LINK_WAIT_MS 5000u
#define SETTLE_NS 100000000u

// Flags that the processes share.
struct shared {
	_Atomic bool stop;
	_Atomic bool generating;
	_Atomic uint16_t udp_port; // of the sockets, once they are there
	_Atomic bool sockets_stop;
};

enum turn { DROP, SWAP, ANSWER, ECHO };

struct run {
	struct heartbeats heartbeats;
	struct shared *shared;
	struct dpdk_queue queue;
	struct packet_io io;
	uint64_t measure_ns;
	double per_busy_second; // of the newest measurement
	pid_t generator;
	char socket[64];
	struct socket_port sockets; // in place of queue and socket
};

static void sleep_ms(uint32_t ms)
{
	struct timespec t = {.tv_nsec = (long)ms * 1000000};
	nanosleep(&t, NULL);
}

static struct rte_mempool *start_port(
	const char *program, int core, const char *role, const char *socket)
{
	char vdev[160];
	snprintf(vdev, sizeof vdev, "net_memif0,role=%s,socket=%s,socket-abstract=no,rsize=11",
		role, socket);
	heartbeats_start_eal(program, core, vdev);
	struct rte_mempool *pool = rte_pktmbuf_pool_create(
		"packets", 16383, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	struct rte_eth_conf none = {0};
	CHECK(pool != NULL && rte_eth_dev_count_avail() == 1);
	CHECK(rte_eth_dev_configure(0, 1, 1, &none) == 0);
	CHECK(rte_eth_rx_queue_setup(0, 0, DESCRIPTORS, SOCKET_ID_ANY, NULL, pool) == 0);
	CHECK(rte_eth_tx_queue_setup(0, 0, DESCRIPTORS, SOCKET_ID_ANY, NULL) == 0);
	CHECK(rte_eth_dev_start(0) == 0);
	return pool;
}

static bool wait_for_link(void)
{
	struct rte_eth_link link = {0};
	for (uint32_t waited_ms = 0; waited_ms < LINK_WAIT_MS; waited_ms += 10) {
		if (rte_eth_link_get_nowait(0, &link) == 0 && link.link_status)
			return true;
		sleep_ms(10);
	}
	return false;
}

static void free_answers(void)
{
	struct rte_mbuf *mbufs[BURST_MAX];
	uint16_t received;
	while ((received = rte_eth_rx_burst(0, 0, mbufs, BURST_MAX)) > 0)
		rte_pktmbuf_free_bulk(mbufs, received);
}

static void send_burst(struct heartbeats *h, struct rte_mempool *pool)
{
	struct rte_mbuf *mbufs[BURST_MAX];
	uint8_t *packets[BURST_MAX];
	if (rte_pktmbuf_alloc_bulk(pool, mbufs, BURST_MAX) != 0)
		return;
	for (uint32_t i = 0; i < BURST_MAX; i++) {
		mbufs[i]->data_len = HEARTBEAT_PACKET_BYTES;
		mbufs[i]->pkt_len = HEARTBEAT_PACKET_BYTES;
		packets[i] = rte_pktmbuf_mtod(mbufs[i], uint8_t *);
	}
	heartbeats_build(h, packets, BURST_MAX);
	uint16_t sent = 0;
	// The ring is full: the other side has not come round yet.
	for (uint32_t tries = 0; sent < BURST_MAX && tries < 1000; tries++) {
		sent += rte_eth_tx_burst(0, 0, mbufs + sent, BURST_MAX - sent);
		free_answers();
	}
	if (sent < BURST_MAX)
		rte_pktmbuf_free_bulk(mbufs + sent, BURST_MAX - sent);
}

static _Noreturn void generate(struct run *r, int core)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	heartbeats_start(&r->heartbeats, NODES);
	struct rte_mempool *pool = start_port("generator", core, "client", r->socket);
	if (!wait_for_link())
		_exit(77);
	atomic_store(&r->shared->generating, true);
	while (!atomic_load_explicit(&r->shared->stop, memory_order_relaxed))
		send_burst(&r->heartbeats, pool);
	_exit(0);
}

static void swap_macs(const struct packet *p)
{
	uint8_t from[6];
	memcpy(from, p->data + 6, 6);
	memcpy(p->data + 6, p->data, 6);
	memcpy(p->data, from, 6);
}

static uint32_t take_turn(struct run *r, enum turn turn)
{
	struct packet_burst burst;
	if (turn == ECHO)
		return datagrams_echo(r->io.bell(r->io.context));
	r->io.receive(r->io.context, &burst);
	uint32_t received = burst.count;
	if (received == 0)
		return 0;
	if (turn == ANSWER)
		hot_receive(&r->heartbeats.worker, burst.packets, received);
	for (uint32_t i = 0; turn != ANSWER && i < received; i++) {
		burst.packets[i].verdict = turn == SWAP ? PACKET_REPLY : PACKET_DROP;
		if (turn == SWAP)
			swap_macs(&burst.packets[i]);
	}
	r->io.finish(r->io.context, &burst);
	return received;
}

// Packets a second. per_busy_second counts only turns that had packets.
static double serve(struct run *r, enum turn turn)
{
	uint64_t settled_ns = bench_ns() + SETTLE_NS;
	while (bench_ns() < settled_ns)
		take_turn(r, turn);
	uint64_t packets = 0, busy = 0, accepted = r->heartbeats.counters.heartbeats;
	uint64_t began_ns = bench_ns(), now_ns = began_ns;
	while (now_ns - began_ns < r->measure_ns) {
		uint64_t turn_began = bench_cycles();
		uint32_t received = take_turn(r, turn);
		if (received > 0)
			busy += bench_cycles() - turn_began;
		packets += received;
		now_ns = bench_ns();
	}
	if (turn == ANSWER)
		CHECK(r->heartbeats.counters.heartbeats - accepted == packets);
	r->per_busy_second = (double)packets * bench_cycles_per_second() / (double)busy;
	return (double)packets * 1e9 / (double)(now_ns - began_ns);
}

static double answered(void *context)
{
	return serve(context, ANSWER);
}

static double ceiling(void *context)
{
	return serve(context, DROP);
}

static double answered_busy(void *context)
{
	struct run *r = context;
	serve(r, ANSWER);
	return r->per_busy_second;
}

static double swapped_busy(void *context)
{
	struct run *r = context;
	serve(r, SWAP);
	return r->per_busy_second;
}

static double echoed(void *context)
{
	return serve(context, ECHO);
}

static double echoed_busy(void *context)
{
	struct run *r = context;
	serve(r, ECHO);
	return r->per_busy_second;
}

static void measure_sockets(struct bench *b, struct run *r)
{
	struct bench_result rate = {.name = "socket",
		.nodes = NODES,
		.unit = "heartbeats/s",
		.against = "a loop that only sends back what came to the same socket"};
	bench_interleave(b, answered, echoed, r, &rate);
	bench_report(b, &rate);
	struct bench_result busy = {.name = "socket-core",
		.nodes = NODES,
		.unit = "heartbeats per busy second",
		.against = "datagrams that only are sent back, per busy second"};
	bench_interleave(b, answered_busy, echoed_busy, r, &busy);
	bench_report(b, &busy);
}

static void measure(struct bench *b, struct run *r)
{
	struct bench_result rate = {.name = "memif",
		.nodes = NODES,
		.unit = "heartbeats/s",
		.against = "the generator's ceiling: packets that are only dropped"};
	bench_interleave(b, answered, ceiling, r, &rate);
	bench_report(b, &rate);
	struct bench_result busy = {.name = "memif-core",
		.nodes = NODES,
		.unit = "heartbeats per busy second",
		.against = "MAC-swapped packets per busy second"};
	bench_interleave(b, answered_busy, swapped_busy, r, &busy);
	bench_report(b, &busy);
}

// Two pollers need two processors.
static void choose_cores(int cores[2])
{
	cpu_set_t allowed;
	uint32_t found = 0;
	CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
	for (int core = 0; core < CPU_SETSIZE && found < 2; core++)
		if (CPU_ISSET(core, &allowed))
			cores[found++] = core;
	if (found < 2) {
		fprintf(stderr, "memif: needs two processors, one for each process\n");
		exit(77);
	}
}

static _Noreturn void generate_datagrams(struct run *r, int core)
{
	cpu_set_t one;
	uint16_t udp_port;
	CPU_ZERO(&one);
	CPU_SET(core, &one);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
	heartbeats_start(&r->heartbeats, NODES);
	while ((udp_port = atomic_load(&r->shared->udp_port)) == 0)
		sleep_ms(10);
	datagrams_generate(&r->heartbeats, udp_port, &r->shared->sockets_stop);
	_exit(0);
}

static void start_sockets(struct run *r)
{
	struct port_settings settings = {.io = "socket"};
	struct hot_port *port = &r->heartbeats.worker.port;
	char message[256];
	heartbeats_start(&r->heartbeats, NODES);
	*port = (struct hot_port){.ipv4_count = 1, .ipv4 = {{127, 0, 0, 1}}};
	// Any port but those that connections are given; the next one where somebody has it.
	port->udp_port = (uint16_t)(20000 + getpid() % 10000);
	while (socket_port_open(&r->sockets, &settings, 0, "", port, message, sizeof message) !=
		0) {
		if (++port->udp_port == 32000) {
			fprintf(stderr, "memif: %s\n", message);
			exit(1);
		}
	}
	r->io = socket_queue_io(r->sockets.queues[0]);
	atomic_store(&r->shared->udp_port, port->udp_port);
}

static void stop_sockets(struct run *r)
{
	atomic_store(&r->shared->sockets_stop, true);
	CHECK(waitpid(r->generator, NULL, 0) == r->generator);
	socket_port_close(&r->sockets);
	heartbeats_stop(&r->heartbeats);
}

static void start(struct run *r, struct run *sockets)
{
	int cores[2];
	choose_cores(cores);
	snprintf(r->socket, sizeof r->socket, "/tmp/berth-memif-%d.sock", (int)getpid());
	r->shared = mmap(
		NULL, sizeof *r->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(r->shared != MAP_FAILED);
	sockets->shared = r->shared;
	// Forks before EAL starts, which does not survive a fork.
	sockets->generator = fork();
	CHECK(sockets->generator >= 0);
	if (sockets->generator == 0)
		generate_datagrams(sockets, cores[1]);
	r->generator = fork();
	CHECK(r->generator >= 0);
	if (r->generator == 0) {
		sleep_ms(300); // a client asks once, so the server should be there
		generate(r, cores[1]);
	}
	heartbeats_start(&r->heartbeats, NODES);
	r->queue.pool = start_port("memif", cores[0], "server", r->socket);
	r->io = dpdk_queue_io(&r->queue);
}

static void stop(struct run *r)
{
	atomic_store(&r->shared->stop, true);
	CHECK(waitpid(r->generator, NULL, 0) == r->generator);
	unlink(r->socket);
}

int main(int argument_count, char **arguments)
{
	static struct run run, sockets;
	struct bench bench;
	bench_begin(&bench, "memif", argument_count, arguments);
	run.measure_ns = bench.smoke ? 50000000u : 500000000u;
	sockets.measure_ns = run.measure_ns;
	start(&run, &sockets);
	if (!wait_for_link()) {
		fprintf(stderr, "memif: the two processes do not find each other\n");
		stop(&run);
		return 77;
	}
	while (!atomic_load(&run.shared->generating) && waitpid(run.generator, NULL, WNOHANG) == 0)
		sleep_ms(10);
	CHECK(atomic_load(&run.shared->generating));
	measure(&bench, &run);
	stop(&run);
	start_sockets(&sockets);
	measure_sockets(&bench, &sockets);
	stop_sockets(&sockets);
	return bench_end(&bench);
}
