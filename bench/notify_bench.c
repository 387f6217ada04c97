// How long after a placement is durable its node asks for it: 10,000 nodes with a time to live of 60 s, a real applier
// with its log on disk, and a packet worker over arrays. Nodes that take NOTIFY, against nodes that hear of news with
// their heartbeats alone. Each placement goes to a node of its own.
#include "bench/harness/bench.h"
#include "bench/harness/controller.h"
#include "bench/harness/directory.h"
#include "dataplane/packet_workers.h"
#include "dataplane/port/packet_io_memory.h"
#include "dataplane/wire/wire_alloc.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "state/records/allocation.h"
#include "tests/support/core/builders.h"
#include "tools/fleet/net/packet.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLIENT "bench"
#define PLACE_INTERVAL_NS (2 * NS_PER_MS)
#define INSTANCE_MHZ 100000u // more than half of a node

struct bench_node {
	struct wire_key key;
	uint32_t slot, generation;
	uint64_t sequence, term, alloc_index;
	struct packet_flow flow;
	uint64_t due_ns, known_index;
	_Atomic uint64_t durable_ns; // of this round's placement; written by the applier
	uint64_t asked_ns;
};

struct notify_bench {
	struct bench bench;
	struct controller controller;
	struct state_observer observer;
	struct master_keys masters;
	struct packet_workers *team;
	struct memory_wire *wire;
	struct bench_node *nodes; // by slot
	struct packet_flow client_flow;
	struct wire_key client_key;
	uint32_t node_count, count, ttl_ms;
	bool listens; // to notices
	uint64_t looked_ns, placed_ns;
	uint64_t request; // number of the newest
	bool is_waiting;  // for its answer
	struct uuid *placed;
	uint32_t placed_count, asked_count;
	double *waits_ms, p99_ms;
	struct prng prng;
};

static void note_durable(
	void *context, const struct state_change *changes, uint32_t count, uint64_t index)
{
	struct notify_bench *b = context;
	uint64_t now_ns = bench_ns();
	for (uint32_t i = 0; i < count; i++) {
		if (changes[i].table != STATE_ALLOCATIONS || changes[i].before)
			continue;
		const struct allocation *a = (const struct allocation *)changes[i].after;
		atomic_store(&b->nodes[a->node_slot].durable_ns, now_ns);
	}
}

static struct packet_flow flow_of(uint32_t host, uint16_t port)
{
	return (struct packet_flow){.mac_from = {2, 0, 0, 1, (uint8_t)(host >> 8), (uint8_t)host},
		.mac_to = {2, 0, 0, 0, 0, 1},
		.from = {10, 1, (uint8_t)(host >> 8), (uint8_t)host},
		.to = {10, 0, 0, 1},
		.port_from = port,
		.port_to = WIRE_PORT};
}

static void send_frame(struct notify_bench *b, const struct packet_flow *flow, const uint8_t *frame,
	uint32_t bytes)
{
	uint8_t packet[PACKET_HEADER_BYTES + FRAME_BYTES_MAX];
	CHECK(bytes > 0);
	CHECK(memory_wire_put(b->wire, packet, packet_wrap(flow, frame, bytes, packet)));
}

static struct wire_header node_header(
	const struct notify_bench *b, const struct bench_node *n, uint64_t sequence)
{
	return (struct wire_header){.key_id = b->masters.keys[0].id,
		.slot = n->slot,
		.generation = n->generation,
		.sequence = sequence};
}

static void send_question(struct notify_bench *b, struct bench_node *n)
{
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_allocs allocs = {n->known_index, 8};
	struct wire_header header = node_header(b, n, 1);
	uint32_t bytes = wire_allocs_encode(frame, sizeof frame, header, &allocs);
	wire_sign(&n->key, frame, bytes);
	send_frame(b, &n->flow, frame, bytes);
	if (n->asked_ns)
		return;
	n->asked_ns = bench_ns();
	b->asked_count++;
}

static void send_heartbeat(struct notify_bench *b, struct bench_node *n, uint64_t now_ns)
{
	uint8_t frame[WIRE_HEARTBEAT_BYTES];
	uint64_t third_ns = b->ttl_ms * NS_PER_MS / 3;
	struct wire_heartbeat beat = {.term = n->term, .alloc_index = n->alloc_index};
	struct wire_header header = node_header(b, n, ++n->sequence);
	uint32_t bytes = wire_heartbeat_encode(frame, sizeof frame, header, &beat);
	wire_sign(&n->key, frame, bytes);
	send_frame(b, &n->flow, frame, bytes);
	n->due_ns = now_ns + third_ns - prng_below(&b->prng, third_ns / 10 + 1);
}

static void beat_when_due(struct notify_bench *b)
{
	uint64_t now_ns = bench_ns();
	if (now_ns - b->looked_ns < NS_PER_MS)
		return;
	b->looked_ns = now_ns;
	for (uint32_t i = 0; i < b->node_count; i++)
		if (b->nodes[i].due_ns <= now_ns)
			send_heartbeat(b, &b->nodes[i], now_ns);
}

static void sign_and_send(struct notify_bench *b, uint8_t *frame, uint32_t bytes)
{
	wire_sign(&b->client_key, frame, bytes);
	send_frame(b, &b->client_flow, frame, bytes);
	b->is_waiting = true;
}

static struct wire_header client_header(struct notify_bench *b)
{
	return (struct wire_header){
		.key_id = b->masters.keys[0].id, .slot = WIRE_NO_SLOT, .sequence = ++b->request};
}

static void send_place(struct notify_bench *b)
{
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_header header = client_header(b);
	struct wire_place place = {.client = TEXT(CLIENT),
		.issued_ms = time_wall_ns(&time_source_real) / NS_PER_MS,
		.request = b->request,
		.count = 1,
		.job = TEXT("notify"),
		.group = TEXT("g")};
	sign_and_send(b, frame, wire_place_encode(frame, sizeof frame, header, &place));
}

static void send_release(struct notify_bench *b, uint32_t from, uint32_t count)
{
	uint8_t frame[FRAME_BYTES_MAX];
	struct wire_ids ids = {.client = TEXT(CLIENT), .count = (uint8_t)count};
	memcpy(ids.ids, b->placed + from, count * sizeof ids.ids[0]);
	sign_and_send(b, frame, wire_release_encode(frame, sizeof frame, client_header(b), &ids));
}

static void take_client_answer(
	struct notify_bench *b, const uint8_t *frame, const struct wire_header *h)
{
	struct wire_placed placed;
	CHECK(h->type == WIRE_PLACED || h->type == WIRE_RELEASED);
	b->is_waiting = false;
	if (h->type != WIRE_PLACED)
		return;
	CHECK(wire_placed_decode(frame, h, &placed) && placed.count == 1);
	b->placed[b->placed_count++] = placed.items[0].allocation;
}

static void hear(struct bench_node *n, uint64_t term, uint64_t alloc_index)
{
	if (term > n->term)
		n->due_ns = 0;
	n->term = term;
	if (alloc_index > n->alloc_index)
		n->alloc_index = alloc_index;
}

static void take_node_frame(
	struct notify_bench *b, const uint8_t *frame, const struct wire_header *h)
{
	struct bench_node *n = &b->nodes[h->slot];
	struct wire_allocs_reply reply;
	struct wire_heartbeat_ack ack;
	struct wire_notify notify;
	CHECK(wire_verify(&n->key, frame, h->length));
	if (h->type == WIRE_ALLOCS_REPLY && wire_allocs_reply_decode(frame, h, &reply))
		n->known_index = reply.index;
	else if (h->type == WIRE_HEARTBEAT_ACK && wire_heartbeat_ack_decode(frame, h, &ack))
		hear(n, ack.term, ack.alloc_index);
	else if (h->type == WIRE_NOTIFY && b->listens && wire_notify_decode(frame, h, &notify))
		hear(n, notify.term, notify.alloc_index);
	if (n->alloc_index > n->known_index)
		send_question(b, n);
}

static void take_frames(struct notify_bench *b)
{
	uint8_t packet[PACKET_HEADER_BYTES + FRAME_BYTES_MAX];
	const uint8_t *frame = packet + PACKET_HEADER_BYTES;
	uint32_t bytes;
	while ((bytes = memory_wire_get(b->wire, packet, sizeof packet)) > 0) {
		struct wire_header h;
		CHECK(bytes > PACKET_HEADER_BYTES &&
			wire_header_decode(frame, bytes - PACKET_HEADER_BYTES, &h) == WIRE_OK);
		if (h.slot == WIRE_NO_SLOT)
			take_client_answer(b, frame, &h);
		else
			take_node_frame(b, frame, &h);
	}
}

static void turn(struct notify_bench *b)
{
	beat_when_due(b);
	if (packet_worker_step(&b->team->items[0]) == 0)
		sched_yield();
	take_frames(b);
}

static bool all_know(const struct notify_bench *b)
{
	for (uint32_t i = 0; i < b->node_count; i++) {
		const struct bench_node *n = &b->nodes[i];
		const struct node_line *line =
			node_table_line(state_node_table(b->controller.state), i);
		if (n->known_index < line->alloc_index || n->term == 0)
			return false;
	}
	return true;
}

// Until every node has beaten, and has asked for all that it was told of.
static void settle(struct notify_bench *b)
{
	b->listens = true;
	for (uint32_t i = 0; i < b->node_count; i++)
		b->nodes[i].asked_ns = 1;
	do
		for (uint32_t i = 0; i < 1000; i++)
			turn(b);
	while (!all_know(b));
}

static void begin_round(struct notify_bench *b)
{
	for (uint32_t i = 0; i < b->node_count; i++) {
		b->nodes[i].asked_ns = 0;
		atomic_store(&b->nodes[i].durable_ns, 0);
	}
	b->placed_count = b->asked_count = 0;
}

static void place_all(struct notify_bench *b)
{
	for (uint32_t sent = 0; b->placed_count < b->count || b->asked_count < b->count; turn(b)) {
		uint64_t now_ns = bench_ns();
		if (b->is_waiting || sent == b->count || now_ns - b->placed_ns < PLACE_INTERVAL_NS)
			continue;
		b->placed_ns = now_ns;
		send_place(b);
		sent++;
	}
}

static void release_all(struct notify_bench *b)
{
	for (uint32_t from = 0; from < b->count; from += PLACE_COUNT_MAX) {
		uint32_t left = b->count - from;
		send_release(b, from, left < PLACE_COUNT_MAX ? left : PLACE_COUNT_MAX);
		while (b->is_waiting)
			turn(b);
	}
}

static int compare_waits(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

// Returns the median; the rest of the round's waits stays sorted.
static double take_waits(struct notify_bench *b)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < b->node_count; i++) {
		const struct bench_node *n = &b->nodes[i];
		uint64_t durable_ns = atomic_load(&n->durable_ns);
		if (durable_ns)
			b->waits_ms[count++] = n->asked_ns < durable_ns
						       ? 0
						       : (double)(n->asked_ns - durable_ns) / 1e6;
	}
	CHECK(count == b->count);
	qsort(b->waits_ms, count, sizeof b->waits_ms[0], compare_waits);
	b->p99_ms = b->waits_ms[(uint64_t)count * 99 / 100];
	return b->waits_ms[count / 2];
}

static double measure_round(struct notify_bench *b, bool listens)
{
	settle(b);
	begin_round(b);
	b->listens = listens;
	place_all(b);
	double p50_ms = take_waits(b);
	release_all(b);
	return p50_ms;
}

static void report(struct notify_bench *b, const char *name, double *notices, double *heartbeats)
{
	struct bench_result result = {.name = name,
		.nodes = b->node_count,
		.unit = "ms until it asks",
		.against = "heartbeats alone"};
	double ratios[BENCH_PAIRS_MAX];
	for (uint32_t i = 0; i < b->bench.pairs; i++)
		ratios[i] = notices[i] / heartbeats[i];
	result.figure = bench_median(notices, b->bench.pairs);
	result.reference = bench_median(heartbeats, b->bench.pairs);
	result.ratio = bench_median(ratios, b->bench.pairs);
	result.ratio_least = ratios[0];
	result.ratio_most = ratios[b->bench.pairs - 1];
	bench_report(&b->bench, &result);
}

static void measure(struct notify_bench *b)
{
	double p50[2][BENCH_PAIRS_MAX], p99[2][BENCH_PAIRS_MAX];
	if (!b->bench.smoke)
		measure_round(b, true);
	for (uint32_t i = 0; i < b->bench.pairs; i++)
		for (uint32_t listens = 0; listens < 2; listens++) {
			p50[listens][i] = measure_round(b, listens);
			p99[listens][i] = b->p99_ms;
		}
	report(b, "p50", p50[1], p50[0]);
	report(b, "p99", p99[1], p99[0]);
}

static void add_job(struct notify_bench *b)
{
	struct job *job = plain_job("notify", JOB_DIRECT);
	struct resources asked = {.cpu_mhz = INSTANCE_MHZ, .memory_mb = 64, .disk_mb = 10};
	add_plain_group(job, "g", asked)->driver = text_copy(TEXT("exec"));
	job->node_pool = job->node_pool ? job->node_pool : text_copy(TEXT("default"));
	*(char **)array_append(&job->datacenters, sizeof(char *)) = text_copy(TEXT("*"));
	CHECK(job_derive(job));
	struct command c = {.type = COMMAND_JOB_REGISTER, .job_register = {.job = job}};
	controller_run(&b->controller, &c, 1);
}

// The nodes as if they had registered over the wire before a restart: they know slot and generation.
static void wake_nodes(struct notify_bench *b)
{
	uint64_t now_ns = bench_ns();
	for (uint32_t slot = 0; slot < b->node_count; slot++) {
		const struct node *node = state_node_at(b->controller.state, slot);
		struct bench_node *n = &b->nodes[slot];
		CHECK(node != NULL);
		n->slot = slot;
		n->generation = node->generation;
		CHECK(node_key_derive(&b->masters, b->masters.keys[0].id, &node->id, &n->key));
		n->flow = flow_of(slot + 2, (uint16_t)(20000 + slot % 10000));
		n->due_ns = now_ns + prng_below(&b->prng, b->ttl_ms * NS_PER_MS / 3);
	}
}

static void open_worker(struct notify_bench *b)
{
	const struct hot_port port = {.mac = {2, 0, 0, 0, 0, 1},
		.ipv4_count = 1,
		.ipv4 = {{10, 0, 0, 1}},
		.udp_port = WIRE_PORT};
	const struct packet_worker_settings settings = {.ttl_ms = b->ttl_ms,
		.restart_grace_ms = b->ttl_ms,
		.stall_ms = 1000,
		.spins = true};
	b->team = packet_workers_create(1, &settings);
	b->wire = memory_wire_create(4 * b->node_count + 1024);
	packet_worker_attach(&b->team->items[0], memory_wire_io(b->wire), &port, NULL);
	packet_workers_open(
		b->team, b->controller.state, b->controller.queue, &b->masters, &time_source_real);
}

static void open_all(struct notify_bench *b, const char *directory)
{
	b->masters.count = 1;
	b->masters.keys[0].id = 1;
	memset(b->masters.keys[0].bytes, 0x5a, MASTER_KEY_BYTES);
	CHECK(client_key_derive(&b->masters, 1, TEXT(CLIENT), &b->client_key));
	b->client_flow = flow_of(1, 19999);
	prng_seed(&b->prng, 7);
	b->nodes = memory_take_array(b->node_count, sizeof b->nodes[0]);
	b->placed = memory_take_array(b->count, sizeof b->placed[0]);
	b->waits_ms = memory_take_array(b->node_count, sizeof b->waits_ms[0]);
	b->observer = (struct state_observer){.changed = note_durable, .context = b};
	controller_open(&b->controller, &(struct controller_settings){.directory = directory,
						.nodes_max = b->node_count + NODE_BLOCK_SLOTS,
						.allocations_max = 64 * b->count + 1024,
						.sync = true,
						.observer = &b->observer});
	controller_register(&b->controller, 0, b->node_count);
	add_job(b);
	open_worker(b);
	wake_nodes(b);
}

static void close_all(struct notify_bench *b)
{
	controller_close(&b->controller);
	memory_wire_destroy(b->wire);
	packet_workers_destroy(b->team);
	free(b->nodes);
	free(b->placed);
	free(b->waits_ms);
}

// --nodes N, --count N (placements of a round) and --ttl MS.
int main(int count, char **arguments)
{
	static struct notify_bench b;
	static char directory[BENCH_PATH_BYTES], store[BENCH_PATH_BYTES + 16];

	bench_begin(&b.bench, "notify", count, arguments);
	b.node_count = (uint32_t)bench_option(&b.bench, "nodes", b.bench.smoke ? 64 : 10000);
	b.count = (uint32_t)bench_option(&b.bench, "count", b.bench.smoke ? 16 : 1000);
	b.ttl_ms = (uint32_t)bench_option(&b.bench, "ttl", b.bench.smoke ? 600 : 60000);
	CHECK(b.count > 0 && b.count <= b.node_count && b.node_count <= 65000);
	bench_directory_begin(&b.bench, directory);
	snprintf(store, sizeof store, "%s/store", directory);
	open_all(&b, store);
	state_reader_online();
	measure(&b);
	state_reader_offline();
	close_all(&b);
	bench_directory_end();
	return bench_end(&b.bench);
}
