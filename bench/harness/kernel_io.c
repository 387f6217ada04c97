#include "bench/harness/kernel_io.h"
#include "bench/harness/datagrams.h"
#include "bench/harness/serve.h"
#include "bench/harness/wires.h"
#include "dataplane/port/eal.h"
#include "dataplane/port/port.h"
#include "state/base/check.h"
#include "state/base/log.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SETTLE_NS 100000000u
#define SETTLES_MAX 50u

const struct kernel_io kernel_ios[KERNEL_IOS] = {
	{"socket", "socket-core", true},
	{"shared", "shared-core", true},
	{"af_xdp", "af_xdp-core", false},
	{"af_packet", "af_packet-core", false},
};

// Whom the generator sends to; each at a wire of its own.
enum target { NOBODY, PORT, SOCKET };

// What the two processes share.
struct shared {
	_Atomic int left; // 1: the generator is in its namespace; negative: the error that keeps it
	struct datagrams datagrams;
};

struct run {
	struct bench *bench;
	const struct kernel_io *io;
	struct shared *shared;
	pid_t generator;
	bool has_eal;
	struct heartbeats heartbeats;
	struct port_settings settings;
	struct ethernet_port port;
	struct packet_io packets;
	int socket;
	bool is_unheard; // no answer came from one of the two
	uint64_t measure_ns;
};

static int leave_out(const struct run *r, const char *why)
{
	fprintf(stderr, "%s: io %s is left out: %s\n", r->bench->name, r->io->name, why);
	return 77;
}

static _Noreturn void generate(struct shared *shared, int core, uint32_t nodes)
{
	static struct heartbeats heartbeats;
	int error = wires_leave();
	atomic_store(&shared->left, error == 0 ? 1 : error);
	bench_pin_to(core);
	heartbeats_start(&heartbeats, nodes);
	datagrams_generate(&heartbeats, &shared->datagrams);
}

// Returns 0 when both processes are in their namespaces, or a negative error.
static int part_ways(struct run *r, const int cores[2], uint32_t nodes)
{
	const struct timespec a_little = {.tv_nsec = 1000000};
	int error = wires_leave();
	if (error != 0)
		return error;
	r->generator = bench_fork();
	if (r->generator == 0)
		generate(r->shared, cores[1], nodes);
	while ((error = atomic_load(&r->shared->left)) == 0)
		nanosleep(&a_little, NULL);
	return error == 1 ? 0 : error;
}

static bool open_port(struct run *r, int core, char *message, uint32_t message_size)
{
	static const int any_numa_node[1] = {SOCKET_ID_ANY};
	struct port_settings *s = &r->settings;
	*s = (struct port_settings){.queues = 1, .address_count = 1};
	snprintf(s->device, sizeof s->device, "%s", WIRE_NEAR_DEVICES[0]);
	snprintf(s->io, sizeof s->io, "%s", r->io->name);
	snprintf(s->addresses[0], sizeof s->addresses[0], "%s", WIRE_NEAR_ADDRESSES[0]);
	if (device_resolve(s, 0, &r->port.device, message, message_size) != 0)
		return false;
	struct eal_ask ask = {.devices = &r->port.device,
		.device_count = 1,
		.main_cpu = core,
		.huge = "no",
		.ports = s,
		.extra = ""};
	r->has_eal = !r->port.device.is_sockets;
	if (r->has_eal && eal_start(&ask, message, message_size) != 0)
		return false;
	if (port_start(&r->port, s, 0, WIRE_PORT, any_numa_node, message, message_size) != 0)
		return false;
	r->packets = port_queue_io(&r->port, 0);
	r->heartbeats.worker.port = r->port.hot;
	return true;
}

static uint32_t answer_turn(void *context)
{
	struct run *r = context;
	struct packet_burst burst;
	r->packets.receive(r->packets.context, &burst);
	uint32_t received = burst.count;
	if (received == 0)
		return 0;
	hot_receive(&r->heartbeats.worker, burst.packets, received);
	r->packets.finish(r->packets.context, &burst);
	return received;
}

static uint32_t echo_turn(void *context)
{
	return datagrams_echo(((struct run *)context)->socket);
}

static uint64_t answers_of(const struct run *r)
{
	return atomic_load(&r->shared->datagrams.answers);
}

// Until the answers flow; on a machine with much to do the generator's turn may be late.
static void settle(struct run *r, serve_turn *turn)
{
	uint64_t before = answers_of(r);
	for (uint32_t i = 0; i < SETTLES_MAX && !r->is_unheard; i++) {
		serve(turn, r, SETTLE_NS);
		if (answers_of(r) != before)
			return;
	}
	r->is_unheard = true;
}

// Answers a second, as the generator has them; *per_busy_second as the loop counts them.
static double serve_target(struct run *r, enum target target, double *per_busy_second)
{
	serve_turn *turn = target == PORT ? answer_turn : echo_turn;
	const _Atomic uint64_t *accepted = &r->heartbeats.counters.heartbeats;
	atomic_store(&r->shared->datagrams.target, target);
	settle(r, turn);
	uint64_t answers = answers_of(r), accepted_before = *accepted;
	struct served served = serve(turn, r, r->measure_ns);
	answers = answers_of(r) - answers;
	atomic_store(&r->shared->datagrams.target, NOBODY);
	if (target == PORT)
		served.packets = *accepted - accepted_before;
	*per_busy_second = served.packets == 0 ? 0 : (double)served.packets / served.busy_seconds;
	return (double)answers / served.seconds;
}

static double answered(void *context)
{
	double ignored;
	return serve_target(context, PORT, &ignored);
}

static double echoed(void *context)
{
	double ignored;
	return serve_target(context, SOCKET, &ignored);
}

static double answered_busy(void *context)
{
	double per_busy_second;
	serve_target(context, PORT, &per_busy_second);
	return per_busy_second;
}

static double echoed_busy(void *context)
{
	double per_busy_second;
	serve_target(context, SOCKET, &per_busy_second);
	return per_busy_second;
}

static int report(struct run *r)
{
	struct bench_result rate = {.name = r->io->name,
		.nodes = r->heartbeats.nodes,
		.unit = "heartbeats/s",
		.against = "a bare socket, from which a loop only sends back what came"};
	bench_interleave(r->bench, answered, echoed, r, &rate);
	if (r->is_unheard) {
		fprintf(stderr, "%s: io %s: for seconds no answer came from the %s\n",
			r->bench->name, r->io->name, rate.figure == 0 ? "port" : "bare socket");
		return 1;
	}
	bench_report(r->bench, &rate);
	struct bench_result busy = {.name = r->io->core_name,
		.nodes = r->heartbeats.nodes,
		.unit = "heartbeats per busy second",
		.against = "datagrams of the bare socket per busy second"};
	bench_interleave(r->bench, answered_busy, echoed_busy, r, &busy);
	bench_report(r->bench, &busy);
	return 0;
}

static void end_generator(struct run *r)
{
	CHECK(kill(r->generator, SIGKILL) == 0);
	CHECK(waitpid(r->generator, NULL, 0) == r->generator);
}

static int measure_over_wires(struct run *r, int core)
{
	char message[512];
	if (!wires_lay(r->generator, r->io->is_beside_kernel, message, sizeof message))
		return leave_out(r, message);
	bench_pin_to(core);
	heartbeats_start(&r->heartbeats, r->heartbeats.nodes);
	bool is_open = open_port(r, core, message, sizeof message);
	int code = is_open ? 0 : leave_out(r, message);
	if (is_open) {
		r->socket = datagrams_open(WIRE_NEAR_ADDRESSES[1]);
		code = report(r);
		close(r->socket);
		port_close(&r->port);
	}
	heartbeats_stop(&r->heartbeats);
	if (r->has_eal)
		eal_stop();
	return code;
}

int kernel_io_measure(
	struct bench *b, const struct kernel_io *io, const int cores[2], uint32_t nodes)
{
	static struct run run;
	run = (struct run){.bench = b, .io = io, .heartbeats.nodes = nodes};
	run.measure_ns = b->smoke ? 50000000u : 500000000u;
	run.shared = mmap(NULL, sizeof *run.shared, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(run.shared != MAP_FAILED);
	for (uint32_t i = 0; i < WIRES; i++)
		run.shared->datagrams.servers[i] = WIRE_NEAR_ADDRESSES[i];
	log_configure(LOG_ERROR, false); // what fails is said once, by leave_out()
	int error = part_ways(&run, cores, nodes), code;
	if (error == 0) {
		code = measure_over_wires(&run, cores[0]);
	} else {
		char why[128];
		snprintf(why, sizeof why, "no network namespace of its own (run as root): %s",
			strerror(-error));
		code = leave_out(&run, why);
	}
	if (run.generator > 0)
		end_generator(&run);
	return code;
}
