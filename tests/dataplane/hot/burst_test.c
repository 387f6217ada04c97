// Random bursts against the one-packet-at-a-time model: verdicts, replies byte for byte, counters, lines and
// the last-heard column. Runs with every way that there is of tagging a burst.
#include "dataplane/wire/wire.h"
#include "state/base/prng.h"
#include "tests/dataplane/hot/model.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define BURSTS 400u

struct world {
	struct prng prng;
	struct fleet *fleet;
	struct model model;
	struct packet burst[BURST_MAX];
	uint8_t data[BURST_MAX][PACKET_BYTES_MAX];
	uint8_t requests[BURST_MAX][PACKET_BYTES_MAX];
	uint64_t sequence;
};

static bool one_in(struct world *w, uint32_t n)
{
	return prng_below(&w->prng, n) == 0;
}

// Mostly good; now and then old, of another generation, term or key, or with a reserved field set.
static uint32_t random_frame(struct world *w, uint8_t *frame)
{
	uint32_t slot = (uint32_t)prng_below(&w->prng, one_in(w, 4) ? 3 : FLEET_NODES);
	struct wire_header h = fleet_header(slot, ++w->sequence);
	if (one_in(w, 6)) {
		uint64_t back = prng_below(&w->prng, 100);
		h.sequence = back < h.sequence ? h.sequence - back : 0;
	}
	if (one_in(w, 15))
		h.generation += 1 + (uint32_t)prng_below(&w->prng, 3) - 2;
	if (one_in(w, 8))
		h.key_id = (uint8_t)prng_below(&w->prng, 4);
	struct wire_heartbeat beat = {.term = one_in(w, 12) ? prng_below(&w->prng, 9) : FLEET_TERM,
		.alloc_index = prng_below(&w->prng, 2 * FLEET_TERM_INDEX)};
	h.type = WIRE_GOODBYE;
	uint32_t bytes = one_in(w, 12) ? wire_goodbye_encode(frame, FRAME_BYTES_MAX, h)
				       : wire_heartbeat_encode(frame, FRAME_BYTES_MAX, h, &beat);
	if (one_in(w, 20))
		frame[44 + prng_below(&w->prng, 4)] = (uint8_t)prng_u64(&w->prng);
	if (one_in(w, 20)) { // longer or shorter than it should be
		bytes = 40 + (uint32_t)prng_below(&w->prng, 100);
		frame[4] = (uint8_t)bytes;
	}
	struct wire_key key = fleet_key(w->fleet, slot, h.key_id == 2 ? 2 : 1);
	wire_sign(&key, frame, bytes);
	if (one_in(w, 40)) { // a slot that there is not, forged or not
		h.slot = (uint32_t)prng_below(&w->prng, 2 * FLEET_NODES);
		memcpy(frame + 8, &h.slot, 4);
	}
	if (one_in(w, 10)) // forged
		frame[prng_below(&w->prng, bytes)] ^= (uint8_t)(1u << prng_below(&w->prng, 8));
	return bytes;
}

static void random_packet(struct world *w, uint32_t i)
{
	uint8_t frame[FRAME_BYTES_MAX] = {0};
	struct route r =
		route_from((uint32_t)prng_below(&w->prng, 500), one_in(w, 3), one_in(w, 4));
	const struct hot_port *port = &w->fleet->worker.port;
	if (one_in(w, 5)) {
		memcpy(r.ipv4, port->ipv4[1], 4);
		memcpy(r.address_ipv6, port->ipv6[1], 16);
	}
	if (one_in(w, 6)) { // from this machine
		memcpy(r.source_ipv4, one_in(w, 2) ? port->ipv4[0] : (uint8_t[4]){127, 0, 0, 1}, 4);
		memcpy(r.source_ipv6, one_in(w, 2) ? port->ipv6[0] : (uint8_t[16]){[15] = 1}, 16);
	}
	r.no_udp_checksum = one_in(w, 8);
	uint32_t size = udp_build(&r, frame, random_frame(w, frame), w->data[i]);
	if (one_in(w, 6)) // any bit of the packet, the checksums then being wrong …
		w->data[i][prng_below(&w->prng, size)] ^= (uint8_t)(1u << prng_below(&w->prng, 8));
	if (one_in(w, 12)) { // … or any byte of the headers, and they are right
		w->data[i][prng_below(&w->prng, route_offset(&r))] = (uint8_t)prng_u64(&w->prng);
		if (!r.ipv6)
			ipv4_checksum_fix(w->data[i] + route_l3(&r));
		udp_checksum_fix(&r, w->data[i], size - route_offset(&r));
	}
	if (one_in(w, 30))
		size = (uint32_t)prng_below(&w->prng, size + 1);
	else if (one_in(w, 10))
		size += (uint32_t)prng_below(&w->prng, 40);
	w->burst[i] = (struct packet){.data = w->data[i],
		.size = size,
		.capacity = PACKET_BYTES_MAX,
		.checksum = (uint8_t)prng_below(&w->prng, 3),
		.segments = one_in(w, 50) ? 2 : 1};
}

static void random_settings(struct world *w)
{
	struct hot_port *port = &w->fleet->worker.port;
	port->vlan_id = one_in(w, 4) ? 5 : 0;
	port->promiscuous_mac = one_in(w, 4);
	port->trust_checksum = one_in(w, 4);
	port->local_senders = one_in(w, 4);
	port->ipv4_count = one_in(w, 8) ? (uint8_t)prng_below(&w->prng, 3) : 2;
	w->fleet->worker.now_ms += (uint32_t)prng_below(&w->prng, 50);
	w->fleet->worker.turn_ns = w->fleet->worker.now_ms * 1000000ull;
	w->model.now_ms = w->fleet->worker.now_ms;
	if (one_in(w, 3)) {
		uint32_t slot = (uint32_t)prng_below(&w->prng, FLEET_NODES);
		w->fleet->table->lines[slot].flags = NODE_LINE_DOWN;
		w->model.nodes[slot].down = true;
	}
	w->fleet->reports_left = one_in(w, 3) ? (uint32_t)prng_below(&w->prng, 3) : 100;
	w->model.reports_left = w->fleet->reports_left;
	w->fleet->report_count = 0;
}

static void compare_packets(struct world *w, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++) {
		struct packet request = w->burst[i];
		uint8_t reply[PACKET_BYTES_MAX];
		const struct packet *p = &w->burst[i];
		request.data = w->requests[i];
		request.size = w->requests[i][PACKET_BYTES_MAX - 2] |
			       (uint32_t)w->requests[i][PACKET_BYTES_MAX - 1] << 8;
		uint32_t expected = model_receive(&w->model, &request, reply);
		assert_int_equal(p->verdict, expected > 0 ? PACKET_REPLY : PACKET_DROP);
		assert_true(expected <= request.size);
		if (expected > 0) {
			assert_int_equal(p->size, expected);
			assert_memory_equal(p->data, reply, expected);
		} else {
			assert_memory_equal(p->data, request.data, request.size);
		}
	}
}

static void compare_counters(const struct world *w)
{
	const struct hot_counters *c = &w->fleet->counters;
	const struct model *m = &w->model;
	assert_int_equal(c->received, m->received);
	assert_int_equal(c->heartbeats, m->heartbeats);
	assert_int_equal(c->requests, m->requests);
	assert_int_equal(c->replies, m->replies);
	assert_int_equal(c->returned, m->returned);
	assert_int_equal(c->reports_deferred, m->deferred);
	assert_int_equal(w->fleet->reports_left, m->reports_left);
	for (uint32_t i = 0; i < HOT_REFUSED_KINDS; i++)
		if (c->refused[i] != m->refused[i])
			fail_msg("%s: %llu, expected %llu", hot_refusal_labels[i],
				(unsigned long long)c->refused[i],
				(unsigned long long)m->refused[i]);
	assert_true(fleet_balances(w->fleet));
}

static void compare_lines(const struct world *w)
{
	for (uint32_t slot = 0; slot < FLEET_NODES; slot++) {
		const struct node_line *line = &w->fleet->table->lines[slot];
		const struct model_node *n = &w->model.nodes[slot];
		assert_int_equal(line->generation, n->generation);
		assert_int_equal(line->key_id, n->key_id);
		assert_int_equal(line->sequence, n->highest);
		assert_int_equal(line->flags, n->down ? NODE_LINE_DOWN : 0);
		assert_int_equal(w->fleet->table->last_heard_ms[slot], n->heard_ms);
		for (uint64_t back = 0; back < 64 && back <= n->highest; back++)
			assert_int_equal(line->window >> back & 1, n->seen[n->highest - back]);
		if (n->key_id == 0)
			continue;
		struct wire_key key = fleet_key(w->fleet, slot, n->key_id);
		assert_memory_equal(line->key, key.k, sizeof key.k);
	}
}

static void run(struct world *w, uint64_t seed)
{
	prng_seed(&w->prng, seed);
	w->fleet = fleet_create();
	w->sequence = 0;
	w->fleet->worker.early_ms = MODEL_EARLY_MS;
	w->fleet->worker.node_rule = bucket_rule(1000 / MODEL_TOKEN_MS, MODEL_BURST);
	model_start(&w->model, w->fleet);
	while (w->sequence < 4000) {
		uint32_t size = 1 + (uint32_t)prng_below(&w->prng, BURST_MAX);
		random_settings(w);
		for (uint32_t i = 0; i < size; i++) {
			random_packet(w, i);
			memcpy(w->requests[i], w->data[i], PACKET_BYTES_MAX);
			w->requests[i][PACKET_BYTES_MAX - 2] = (uint8_t)w->burst[i].size;
			w->requests[i][PACKET_BYTES_MAX - 1] = (uint8_t)(w->burst[i].size >> 8);
		}
		hot_receive(&w->fleet->worker, w->burst, size);
		compare_packets(w, size);
		compare_counters(w);
		compare_lines(w);
	}
	// The test is worth something only if much is accepted and every kind is seen.
	assert_true(w->fleet->counters.heartbeats > 1000);
	assert_true(w->fleet->counters.refused[HOT_REFUSED_BEAT_RATE] > 10);
	fleet_destroy(w->fleet);
}

static void bursts_do_what_single_packets_do(void **state)
{
	static const char *const methods[] = {"avx512", "avx2", "scalar"};
	struct world *w = malloc(sizeof *w);
	assert_non_null(w);
	for (uint32_t i = 0; i < 3; i++) {
		if (!wire_tag_burst_force(methods[i]))
			continue;
		for (uint64_t seed = 1; seed <= 24; seed++)
			run(w, 100 * i + seed);
	}
	wire_tag_burst_force(NULL);
	free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bursts_do_what_single_packets_do),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
