// Asks one question at a time over a DPDK device and measures how long each answer takes: the other end of the rtt
// benchmark. It asks a forwarder that turns packets around (echo), or a controller (heartbeat, place), as --plan says:
// "ask:bytes:count,…". Signing and checking happen outside the measured time.
//
// Prints "ready" when the device is there, then a JSON object for each part of the plan: round trips in
// microseconds by percentile, and what was lost.
#include "bench/harness/bench.h"
#include "dataplane/port/eal.h"
#include "dataplane/port/port.h"
#include "dataplane/wire/auth.h"
#include "state/base/memory.h"
#include "tools/fleet/net/packet.h"
#include <arpa/inet.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NODES 64u
#define WARM_UP 200u
#define PATIENCE_NS 10000000000ull
#define CONNECT_TRIES 300u

struct probe {
	struct bench bench;
	struct ethernet_port port;
	struct packet_io io;
	struct packet_flow flow;
	struct master_keys masters;
	struct wire_key key; // of the sender
	uint8_t frame[FRAME_BYTES_MAX], answer[FRAME_BYTES_MAX];
	uint32_t frame_bytes, answer_bytes;
	uint64_t sequence, lost;
	struct wire_header nodes[NODES]; // slot and generation of each
	struct wire_key node_keys[NODES];
	uint64_t term;
	uint32_t echo_bytes;
	const char *job, *group;
};

static _Noreturn void give_up(const char *what, const char *why)
{
	fprintf(stderr, "rtt_probe: %s: %s\n", what, why);
	exit(1);
}

static void open_device(struct probe *p)
{
	static struct port_settings settings = {
		.queues = 1, .address_count = 1, .promiscuous = false};
	char message[512];
	snprintf(settings.device, sizeof settings.device, "%s",
		bench_option_text(&p->bench, "vdev", ""));
	snprintf(settings.addresses[0], sizeof settings.addresses[0], "%s",
		bench_option_text(&p->bench, "address", ""));
	int numa_nodes[1] = {SOCKET_ID_ANY};
	if (device_resolve(&settings, 0, &p->port.device, message, sizeof message) != 0)
		give_up("device", message);
	struct eal_ask ask = {.devices = &p->port.device,
		.device_count = 1,
		.main_cpu = sched_getcpu(),
		.huge = "no",
		.ports = &settings,
		.extra = ""};
	if (eal_start(&ask, message, sizeof message) != 0 ||
		port_start(&p->port, &settings, 0, WIRE_PORT, numa_nodes, message,
			sizeof message) != 0)
		give_up("device", message);
	p->io = dpdk_queue_io(&p->port.queues[0]);
	memcpy(p->flow.mac_from, p->port.hot.mac, 6);
	memcpy(p->flow.from, p->port.hot.ipv4[0], 4);
	memset(p->flow.mac_to, 0xff, 6);
	p->flow.port_from = 20000;
	p->flow.port_to = WIRE_PORT;
	if (inet_pton(AF_INET, bench_option_text(&p->bench, "server", ""), p->flow.to) != 1)
		give_up("--server", "not an IPv4 address");
	unsigned mac[6];
	const char *text = bench_option_text(&p->bench, "server-mac", "");
	if (sscanf(text, "%x:%x:%x:%x:%x:%x", &mac[0], &mac[1], &mac[2], &mac[3], &mac[4],
		    &mac[5]) != 6)
		give_up("--server-mac", "not an Ethernet address");
	for (int i = 0; i < 6; i++)
		p->flow.mac_to[i] = (uint8_t)mac[i];
}

static bool send_frame(struct probe *p)
{
	struct packet_burst burst;
	p->io.take(p->io.context, &burst, 1);
	if (burst.count == 0)
		give_up("memory", "no packet left");
	burst.packets[0].size =
		packet_wrap(&p->flow, p->frame, p->frame_bytes, burst.packets[0].data);
	burst.packets[0].verdict = PACKET_REPLY;
	return p->io.finish(p->io.context, &burst) == 0;
}

// True when an answer with the sequence of the newest question has come.
static bool take_answer(struct probe *p)
{
	struct packet_burst burst;
	bool found = false;
	p->io.receive(p->io.context, &burst);
	for (uint32_t i = 0; i < burst.count; i++) {
		const uint8_t *frame;
		uint32_t bytes;
		burst.packets[i].verdict = PACKET_DROP;
		if (!packet_unwrap(burst.packets[i].data, burst.packets[i].size, p->flow.from,
			    p->flow.port_from, 1, &frame, &bytes) ||
			bytes < WIRE_FRAME_BYTES_MIN || memcmp(frame + 16, p->frame + 16, 8) != 0)
			continue;
		memcpy(p->answer, frame, bytes);
		p->answer_bytes = bytes;
		found = true;
	}
	p->io.finish(p->io.context, &burst);
	return found;
}

// Returns the nanoseconds until the answer; 0 when it did not come.
static uint64_t ask(struct probe *p, bool polite)
{
	uint64_t began = bench_ns(), now = began;
	if (!send_frame(p))
		return 0;
	while (!take_answer(p)) {
		now = bench_ns();
		if (now - began > PATIENCE_NS)
			return 0;
		if (polite) // the answer may need this processor
			sched_yield();
	}
	return bench_ns() - began;
}

// Waits for another end that may still be starting.
static void wait_a_little(void)
{
	const struct timespec length = {.tv_nsec = 100000000};
	nanosleep(&length, NULL);
}

static struct wire_header header(struct probe *p, uint8_t type)
{
	return (struct wire_header){.type = type,
		.key_id = p->masters.keys[0].id,
		.slot = WIRE_NO_SLOT,
		.sequence = ++p->sequence};
}

static void sign(struct probe *p, const struct wire_key *key, uint32_t bytes)
{
	if (bytes == 0)
		give_up("question", "does not fit a frame");
	p->key = *key;
	p->frame_bytes = bytes;
	wire_sign(key, p->frame, bytes);
}

static void next_echo(struct probe *p)
{
	p->frame_bytes = p->echo_bytes;
	memset(p->frame, 0, p->frame_bytes);
	p->sequence++;
	memcpy(p->frame + 16, &p->sequence, sizeof p->sequence);
}

static void next_heartbeat(struct probe *p)
{
	uint32_t n = (uint32_t)(p->sequence % NODES);
	struct wire_header h = header(p, WIRE_HEARTBEAT);
	struct wire_heartbeat beat = {.term = p->term};
	h.slot = p->nodes[n].slot;
	h.generation = p->nodes[n].generation;
	sign(p, &p->node_keys[n], wire_heartbeat_encode(p->frame, sizeof p->frame, h, &beat));
}

static void next_place(struct probe *p)
{
	struct timespec now;
	struct wire_key key;
	clock_gettime(CLOCK_REALTIME, &now);
	struct wire_place place = {.client = TEXT("rtt"),
		.count = 1,
		.job = text_of(p->job),
		.group = text_of(p->group),
		.issued_ms = (uint64_t)now.tv_sec * 1000};
	struct wire_header h = header(p, WIRE_PLACE);
	place.request = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	if (!client_key_derive(&p->masters, h.key_id, place.client, &key))
		give_up("--key-file", "no key");
	sign(p, &key, wire_place_encode(p->frame, sizeof p->frame, h, &place));
}

// Returns the type of an answer that must be genuine.
static uint8_t answer_type(const struct probe *p, struct wire_header *h)
{
	if (wire_header_decode(p->answer, p->answer_bytes, h) != WIRE_OK ||
		!wire_verify(&p->key, p->answer, p->answer_bytes))
		give_up("answer", "not authentic");
	return h->type;
}

static void expect(const struct probe *p, uint8_t type)
{
	struct wire_header h;
	uint8_t got = answer_type(p, &h);
	struct wire_refused refused;
	if (got == WIRE_REFUSED && wire_refused_decode(p->answer, &h, &refused))
		give_up("refused", wire_refusal_name(refused.reason));
	if (got != type)
		give_up("unexpected answer", wire_type_name(got));
}

static void register_node(struct probe *p, uint32_t n)
{
	static struct wire_register r;
	r = (struct wire_register){.parts = 1,
		.cpu_mhz = 100000000,
		.memory_mb = 100000000,
		.disk_mb = 100000000,
		.name = TEXT("rtt"),
		.datacenter = TEXT("dc1"),
		.pool = TEXT("default")};
	r.node.bytes[0] = 0x77;
	r.node.bytes[15] = (uint8_t)n;
	struct wire_header h = header(p, WIRE_REGISTER);
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	h.sequence = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
	if (!node_key_derive(&p->masters, h.key_id, &r.node, &p->node_keys[n]))
		give_up("--key-file", "no key");
	for (uint32_t i = 0; i < CONNECT_TRIES; i++) {
		sign(p, &p->node_keys[n], wire_register_encode(p->frame, sizeof p->frame, h, &r));
		if (ask(p, true) == 0) {
			wait_a_little();
			continue;
		}
		expect(p, WIRE_REGISTERED);
		struct wire_heartbeat_ack ack;
		if (answer_type(p, &p->nodes[n]) != WIRE_REGISTERED ||
			!wire_heartbeat_ack_decode(p->answer, &p->nodes[n], &ack))
			give_up("registration", "does not decode");
		p->term = ack.term;
		return;
	}
	give_up("registration", "nobody answers");
}

static void connect_echo(struct probe *p)
{
	for (uint32_t i = 0; i < CONNECT_TRIES; i++) {
		next_echo(p);
		if (ask(p, true) != 0)
			return;
		wait_a_little();
	}
	give_up("echo", "nobody answers");
}

static void connect_controller(struct probe *p)
{
	char message[256];
	if (master_keys_load(bench_option_text(&p->bench, "key-file", ""), &p->masters, message,
		    sizeof message) != 0)
		give_up("--key-file", message);
	for (uint32_t n = 0; n < NODES; n++)
		register_node(p, n);
	// Heartbeats of every node: sequences go on where they are.
	p->sequence = 0;
}

// Connects, and asks until the job has arrived.
static void connect_placing(struct probe *p)
{
	struct wire_header h;
	connect_controller(p);
	for (uint32_t i = 0; i < CONNECT_TRIES; i++) {
		next_place(p);
		if (ask(p, true) != 0 && answer_type(p, &h) == WIRE_PLACED)
			return;
		wait_a_little();
	}
	expect(p, WIRE_PLACED);
}

static const struct kind {
	const char *name;
	void (*connect)(struct probe *);
	void (*next)(struct probe *);
	uint8_t answer; // 0: any
	bool polite;
} kinds[] = {
	{"echo", connect_echo, next_echo, 0, false},
	{"heartbeat", connect_controller, next_heartbeat, WIRE_HEARTBEAT_ACK, false},
	{"place", connect_placing, next_place, WIRE_PLACED, true},
};

static const struct kind *kind_of(const char *name)
{
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	give_up("--plan", "echo, heartbeat or place");
}

static double at(double *sorted, uint32_t count, double part)
{
	uint32_t i = (uint32_t)(part * count);
	return sorted[i < count ? i : count - 1];
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void pin(unsigned cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof set, &set) != 0)
		give_up("--cpu", "not a processor of ours");
}

static uint32_t measure(struct probe *p, const struct kind *kind, double *us, uint32_t count)
{
	uint32_t answered = 0;
	for (uint32_t i = 0; i < count + WARM_UP; i++) {
		kind->next(p);
		uint64_t ns = ask(p, kind->polite);
		if (ns == 0) {
			p->lost++;
			continue;
		}
		if (kind->answer != 0)
			expect(p, kind->answer);
		if (i >= WARM_UP)
			us[answered++] = (double)ns / 1000;
	}
	return answered;
}

static void run_part(struct probe *p, const struct kind *kind, uint32_t asked)
{
	double *us = memory_take_array(asked, sizeof *us);
	p->lost = 0;
	kind->connect(p);
	uint32_t answered = measure(p, kind, us, asked);
	if (answered == 0)
		give_up(kind->name, "nothing was answered");
	qsort(us, answered, sizeof *us, by_value);
	printf("{\"p50\": %.3f, \"p99\": %.3f, \"p999\": %.3f, \"answered\": %u, \"lost\": %lu}\n",
		at(us, answered, 0.5), at(us, answered, 0.99), at(us, answered, 0.999), answered,
		p->lost);
	fflush(stdout);
	free(us);
}

static void run_plan(struct probe *p, const char *plan)
{
	while (*plan != '\0') {
		char name[16];
		unsigned bytes, asked;
		int used;
		if (sscanf(plan, "%15[a-z]:%u:%u%n", name, &bytes, &asked, &used) != 3 ||
			bytes < WIRE_FRAME_BYTES_MIN || bytes > FRAME_BYTES_MAX || asked == 0)
			give_up("--plan", "not ask:bytes:count,…");
		p->echo_bytes = bytes;
		run_part(p, kind_of(name), asked);
		plan += used;
		plan += *plan == ',';
	}
}

int main(int count, char **arguments)
{
	static struct probe p;
	bench_begin(&p.bench, "rtt_probe", count, arguments);
	p.job = bench_option_text(&p.bench, "job", "rtt");
	p.group = bench_option_text(&p.bench, "group", "g");
	pin((unsigned)bench_option(&p.bench, "cpu", 0));
	open_device(&p);
	printf("ready\n");
	fflush(stdout);
	run_plan(&p, bench_option_text(&p.bench, "plan", ""));
	port_close(&p.port);
	eal_stop();
	return 0;
}
