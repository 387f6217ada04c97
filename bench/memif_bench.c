// Heartbeats between two processes: one sends them and takes the answers, the other is the daemon's packet path. First
// over net_memif, then over each io of ports of the kernel's interfaces (bench/harness/kernel_io.h). Each has processes
// of its own, as EAL runs once in a process.
//
// Either process may be the slower one, so two things are reported. First how many heartbeats a second were
// answered, over memif beside how many packets the same generator delivers to a receiver that only drops them: its own
// ceiling. Then how many one core could answer if it never waited, from the time of the turns that had
// packets, against the same of a forwarder that swaps MAC addresses. Over the kernel's interfaces both are compared
// with a bare socket.
#include "bench/harness/bench.h"
#include "bench/harness/heartbeats.h"
#include "bench/harness/kernel_io.h"
#include "bench/harness/serve.h"
#include "dataplane/port/eal.h"
#include "dataplane/port/packet_io_dpdk.h"
#include "state/base/check.h"
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
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
};

enum turn { DROP, SWAP, ANSWER };

struct run {
	struct heartbeats heartbeats;
	struct shared *shared;
	struct dpdk_queue queue;
	struct packet_io io;
	enum turn turn;
	uint64_t measure_ns;
	pid_t generator;
	char socket[64];
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
	snprintf(vdev, sizeof vdev, "net_memif0,role=%s,socket=%s,rsize=11", role, socket);
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

static void stop_port(void)
{
	CHECK(rte_eth_dev_stop(0) == 0 && rte_eth_dev_close(0) == 0);
	eal_stop();
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
	heartbeats_start(&r->heartbeats, NODES);
	struct rte_mempool *pool = start_port("generator", core, "client", r->socket);
	if (!wait_for_link())
		_exit(77);
	atomic_store(&r->shared->generating, true);
	while (!atomic_load_explicit(&r->shared->stop, memory_order_relaxed))
		send_burst(&r->heartbeats, pool);
	stop_port();
	_exit(0);
}

static void swap_macs(const struct packet *p)
{
	uint8_t from[6];
	memcpy(from, p->data + 6, 6);
	memcpy(p->data + 6, p->data, 6);
	memcpy(p->data, from, 6);
}

static uint32_t take_turn(void *context)
{
	struct run *r = context;
	struct packet_burst burst;
	r->io.receive(r->io.context, &burst);
	uint32_t received = burst.count;
	if (received == 0)
		return 0;
	if (r->turn == ANSWER)
		hot_receive(&r->heartbeats.worker, burst.packets, received);
	for (uint32_t i = 0; r->turn != ANSWER && i < received; i++) {
		burst.packets[i].verdict = r->turn == SWAP ? PACKET_REPLY : PACKET_DROP;
		if (r->turn == SWAP)
			swap_macs(&burst.packets[i]);
	}
	r->io.finish(r->io.context, &burst);
	return received;
}

static struct served serve_all(struct run *r, enum turn turn)
{
	r->turn = turn;
	serve(take_turn, r, SETTLE_NS);
	uint64_t accepted = r->heartbeats.counters.heartbeats;
	struct served served = serve(take_turn, r, r->measure_ns);
	if (turn == ANSWER)
		CHECK(r->heartbeats.counters.heartbeats - accepted == served.packets);
	return served;
}

static double per_second(void *context, enum turn turn)
{
	struct served served = serve_all(context, turn);
	return (double)served.packets / served.seconds;
}

static double per_busy_second(void *context, enum turn turn)
{
	struct served served = serve_all(context, turn);
	return (double)served.packets / served.busy_seconds;
}

static double answered(void *context)
{
	return per_second(context, ANSWER);
}

static double ceiling(void *context)
{
	return per_second(context, DROP);
}

static double answered_busy(void *context)
{
	return per_busy_second(context, ANSWER);
}

static double swapped_busy(void *context)
{
	return per_busy_second(context, SWAP);
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

static void start(struct run *r, const int cores[2])
{
	snprintf(r->socket, sizeof r->socket, "berth-memif-%d", (int)getpid());
	r->shared = mmap(
		NULL, sizeof *r->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(r->shared != MAP_FAILED);
	// Forks before EAL starts, which does not survive a fork.
	r->generator = bench_fork();
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
	heartbeats_stop(&r->heartbeats);
	stop_port();
}

static int measure_memif(struct bench *b, const int cores[2])
{
	static struct run run;
	run.measure_ns = b->smoke ? 50000000u : 500000000u;
	start(&run, cores);
	if (!wait_for_link()) {
		fprintf(stderr, "memif: the two processes do not find each other\n");
		stop(&run);
		return 77;
	}
	while (!atomic_load(&run.shared->generating) && waitpid(run.generator, NULL, WNOHANG) == 0)
		sleep_ms(10);
	CHECK(atomic_load(&run.shared->generating));
	measure(b, &run);
	stop(&run);
	return 0;
}

// An io by its number, of which the first is memif.
static const char *name_of(uint32_t io)
{
	return io == 0 ? "memif" : kernel_ios[io - 1].name;
}

// Returns the exit code of the process that measures it.
static int measure_apart(struct bench *b, uint32_t io, const int cores[2])
{
	int status;
	pid_t child = bench_fork();
	if (child == 0)
		exit(io == 0 ? measure_memif(b, cores)
			     : kernel_io_measure(b, &kernel_ios[io - 1], cores, NODES));
	CHECK(waitpid(child, &status, 0) == child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argument_count, char **arguments)
{
	int cores[2], code = 0;
	uint32_t chosen = 0;
	// The processes report into it.
	struct bench *b =
		mmap(NULL, sizeof *b, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(b != MAP_FAILED);
	bench_begin(b, "memif", argument_count, arguments);
	const char *only = bench_option_text(b, "io", NULL);
	choose_cores(cores);
	for (uint32_t io = 0; io <= KERNEL_IOS && (code == 0 || code == 77); io++) {
		if (only != NULL && strcmp(only, name_of(io)) != 0)
			continue;
		chosen++;
		code = measure_apart(b, io, cores);
	}
	if (chosen == 0) {
		fprintf(stderr, "memif: --io: memif, socket, shared, af_xdp or af_packet\n");
		return 2;
	}
	if (code != 0 && code != 77)
		return code;
	return b->result_count > 0 ? bench_end(b) : 77;
}
