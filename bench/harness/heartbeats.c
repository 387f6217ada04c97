#include "bench/harness/heartbeats.h"
#include "dataplane/hot/liveness.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/prng.h"
#include <rte_eal.h>
#include <rte_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define HEADERS_BYTES (HEARTBEAT_PACKET_BYTES - WIRE_HEARTBEAT_BYTES)
#define SIGNED_BYTES (WIRE_HEARTBEAT_BYTES - WIRE_TAG_BYTES)
#define TERM 9u

static struct wire_key key_of(uint32_t slot)
{
	return (struct wire_key){{slot * 0x9e3779b97f4a7c15ull, slot ^ 0xd1b54a32d192ed03ull}};
}

// Writes the Internet checksum of words in network order to its place.
static void checksum_put(uint8_t *at, uint32_t sum, const uint8_t *data, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i += 2)
		sum += (uint32_t)data[i] << 8 | data[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (uint16_t) ~((sum & 0xffff) + (sum >> 16));
	at[0] = (uint8_t)(sum >> 8);
	at[1] = (uint8_t)sum;
}

// Writes everything except the tag and the UDP checksum.
static void begin_packet(uint32_t slot, uint64_t sequence, uint8_t *packet)
{
	// From 10.9.x.y to 10.1.0.1, both with a MAC address of our own.
	static const uint8_t headers[HEADERS_BYTES] = {0x02, 0, 0, 0, 0, 1, 0x02, 0, 0, 0, 0, 2, 8,
		0, 0x45, 0, 0, 92, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 9, 0, 0, 10, 1, 0, 1, 0x80, 0,
		0x12, 0x27, 0, 72, 0, 0};
	memcpy(packet, headers, sizeof headers);
	packet[28] = (uint8_t)(slot >> 8);
	packet[29] = (uint8_t)slot;
	struct wire_header header = {
		.key_id = 1, .slot = slot, .generation = 1, .sequence = sequence};
	struct wire_heartbeat beat = {.term = TERM, .alloc_index = 1, .load_permille = 500};
	uint32_t bytes =
		wire_heartbeat_encode(packet + HEADERS_BYTES, WIRE_HEARTBEAT_BYTES, header, &beat);
	CHECK(bytes == WIRE_HEARTBEAT_BYTES);
	checksum_put(packet + 24, 0, packet + 14, 20);
}

void heartbeats_build(struct heartbeats *h, uint8_t *const packets[], uint32_t count_)
{
	struct wire_key keys[BURST_MAX];
	const struct wire_key *key_of_frame[BURST_MAX] = {NULL};
	const uint8_t *frames[BURST_MAX] = {NULL};
	uint8_t tags[BURST_MAX][WIRE_TAG_BYTES];
	CHECK(count_ <= BURST_MAX);
	for (uint32_t i = 0; i < count_; i++) {
		if (h->next == h->nodes) {
			h->next = 0;
			h->sequence++;
		}
		uint32_t slot = h->order[h->next++];
		begin_packet(slot, h->sequence, packets[i]);
		keys[i] = key_of(slot);
		key_of_frame[i] = &keys[i];
		frames[i] = packets[i] + HEADERS_BYTES;
	}
	wire_tag_burst(key_of_frame, frames, SIGNED_BYTES, count_, tags);
	for (uint32_t i = 0; i < count_; i++) {
		memcpy(packets[i] + HEADERS_BYTES + SIGNED_BYTES, tags[i], WIRE_TAG_BYTES);
		checksum_put(packets[i] + 40, 17 + 72, packets[i] + 26, 80);
	}
}

static bool no_report(void *context, uint32_t slot, uint32_t generation)
{
	return true;
}

static void fill_line(struct node_table *table, uint32_t slot)
{
	struct wire_key key = key_of(slot);
	struct node_line *line = &table->lines[slot];
	memcpy(line->key, key.k, sizeof line->key);
	line->key_id = 1;
	line->generation = 1;
	line->alloc_index = slot;
	liveness_arm(table, slot, 1);
}

static void shuffle(uint32_t *order, uint32_t nodes)
{
	struct prng prng;
	prng_seed(&prng, 42);
	for (uint32_t i = 0; i < nodes; i++)
		order[i] = i;
	for (uint32_t i = nodes - 1; i > 0; i--) {
		uint32_t other = (uint32_t)prng_below(&prng, i + 1), kept = order[i];
		order[i] = order[other];
		order[other] = kept;
	}
}

void heartbeats_start(struct heartbeats *h, uint32_t nodes)
{
	*h = (struct heartbeats){.nodes = nodes, .sequence = 1};
	struct node_table *table = node_table_create(nodes);
	h->order = memory_map(nodes * sizeof h->order[0]);
	if (table == NULL || h->order == NULL) {
		fprintf(stderr, "not enough memory for %u nodes\n", nodes);
		exit(77);
	}
	shuffle(h->order, nodes);
	table->term = TERM;
	table->slots_used = nodes;
	for (uint32_t block = 0; block <= (nodes - 1) / NODE_BLOCK_SLOTS; block++)
		table->block_owner[block] = 0;
	for (uint32_t slot = 0; slot < nodes; slot++)
		fill_line(table, slot);
	h->worker = (struct hot_worker){.table = table,
		.counters = &h->counters,
		.up = {.returned = no_report, .expired = no_report},
		.ttl_ms = 15000,
		.now_ms = 2};
	h->worker.port = (struct hot_port){.mac = {0x02, 0, 0, 0, 0, 1},
		.ipv4_count = 1,
		.ipv4 = {{10, 1, 0, 1}},
		.udp_port = WIRE_PORT};
}

void heartbeats_stop(struct heartbeats *h)
{
	node_table_destroy(h->worker.table);
	memory_unmap(h->order, h->nodes * sizeof h->order[0]);
}

void heartbeats_start_eal(const char *program, int core, const char *vdev)
{
	// EAL wants strings that it may change.
	char words[][256] = {"", "-l", "", "--no-huge", "--no-shconf", "-m", "128", "--no-pci",
		"--no-telemetry", "--log-level", "error", "", ""};
	const uint32_t word_count = sizeof words / sizeof words[0];
	snprintf(words[0], sizeof words[0], "%s", program);
	snprintf(words[2], sizeof words[2], "%d", core);
	snprintf(words[11], sizeof words[0], "--file-prefix=bench-%d", (int)getpid());
	snprintf(words[12], sizeof words[0], "--vdev=%s", vdev);
	char *arguments[sizeof words / sizeof words[0] + 1] = {NULL};
	for (uint32_t i = 0; i < word_count; i++)
		arguments[i] = words[i];
	if (rte_eal_init((int)word_count, arguments) < 0) {
		fprintf(stderr, "%s: EAL does not start: %s\n", program, rte_strerror(rte_errno));
		exit(77);
	}
}
