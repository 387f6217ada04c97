#include "tools/fleet/nodes/fleet.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static uint32_t power_above(uint32_t least)
{
	uint32_t power = 1024;
	while (power < least)
		power *= 2;
	return power;
}

static void prepare_nodes(struct fleet *f)
{
	const struct fleet_settings *s = &f->settings;
	for (uint32_t i = 0; i < s->nodes; i++) {
		struct fleet_node *n = &f->nodes[i];
		struct uuid id = shape_node_id(f->shapes->seed, s->first + i);
		CHECK(node_key_derive(f->masters, s->key_id, &id, &n->session.key));
		n->session.key_id = s->key_id;
		n->session.slot = WIRE_NO_SLOT;
		n->flags = FLEET_FRESH;
		double start_ms = s->register_rate > 0 ? i * 1000.0 / s->register_rate : 0;
		n->due_ms = start_ms < 1e9 ? (uint32_t)start_ms : (uint32_t)1e9;
		wheel_add(&f->wheel, i, n->due_ms);
	}
}

int fleet_create(struct fleet *f, const struct fleet_settings *settings,
	const struct shapes *shapes, const struct master_keys *masters,
	const struct time_source *time, struct transport *transport, char *message,
	uint32_t message_size)
{
	*f = (struct fleet){.settings = *settings,
		.shapes = shapes,
		.masters = masters,
		.time = time,
		.transport = transport};
	int bad = settings->servers
			  ? servers_open(&f->servers, settings->servers, message, message_size)
			  : 0;
	if (bad < 0)
		return bad;
	if (settings->pcap) {
		int rc = pcap_create(&f->capture, settings->pcap);
		if (rc < 0) {
			snprintf(message, message_size, "cannot write %s: %s", settings->pcap,
				strerror(-rc));
			return rc;
		}
	}
	uint32_t n = settings->nodes ? settings->nodes : 1;
	f->start_ns = f->now_ns = f->tokens_ns = f->heard_ns = time_monotonic_ns(time);
	prng_seed(&f->prng, settings->seed);
	f->nodes = memory_take_array(n, sizeof *f->nodes);
	f->slot_nodes = memory_map((size_t)NODES_MAX * sizeof *f->slot_nodes);
	CHECK(f->slot_nodes);
	f->register_mask = power_above(2 * n) - 1;
	f->register_nodes = memory_take_array(f->register_mask + 1, sizeof *f->register_nodes);
	f->urgent_mask = power_above(n + 1) - 1;
	f->urgent = memory_take_array(f->urgent_mask + 1, sizeof *f->urgent);
	f->lanes = memory_take_array(transport->lanes, sizeof *f->lanes);
	f->received = memory_take_array(FLEET_RECEIVE_FRAMES, sizeof *f->received);
	// Registrations are numbered one by one, so that an answer names its node; the numbers of the first ones end
	// about now.
	f->next_registration = time_wall_ns(time) / NS_PER_MS - settings->nodes;
	wheel_create(&f->wheel, n, 0);
	prepare_nodes(f);
	return 0;
}

int fleet_destroy(struct fleet *f)
{
	int rc = f->capture.file ? pcap_close(&f->capture) : 0;
	wheel_destroy(&f->wheel);
	if (f->nodes)
		explicit_bzero(f->nodes, f->settings.nodes * sizeof *f->nodes);
	free(f->nodes);
	memory_unmap(f->slot_nodes, (size_t)NODES_MAX * sizeof *f->slot_nodes);
	free(f->register_nodes);
	free(f->urgent);
	free(f->lanes);
	free(f->received);
	*f = (struct fleet){0};
	return rc;
}

uint32_t fleet_now_ms(const struct fleet *f)
{
	return (uint32_t)((f->now_ns - f->start_ns) / NS_PER_MS);
}

uint32_t fleet_now_us(const struct fleet *f)
{
	return (uint32_t)((f->now_ns - f->start_ns) / 1000);
}

bool fleet_loses(struct fleet *f, uint64_t *counter)
{
	if (f->settings.loss <= 0 || prng_unit(&f->prng) >= f->settings.loss)
		return false;
	++*counter;
	return true;
}

static void lane_flush(struct fleet *f, uint32_t number)
{
	struct lane *lane = &f->lanes[number];
	while (lane->count > 0) {
		uint32_t burst = lane->count < BURST_MAX ? lane->count : BURST_MAX;
		uint32_t sent = f->transport->send(f->transport, number, lane->frames, burst);
		f->counters.sent += sent;
		uint32_t gone = f->transport->may_be_full ? sent : burst;
		f->counters.send_dropped += gone - sent;
		lane->count -= gone;
		memmove(lane->frames, lane->frames + gone, lane->count * sizeof lane->frames[0]);
		if (gone < burst) {
			f->is_congested = true;
			return;
		}
	}
}

void fleet_flush(struct fleet *f)
{
	f->is_congested = false;
	for (uint32_t number = 0; number < f->transport->lanes; number++)
		lane_flush(f, number);
}

void fleet_queue(struct fleet *f, uint32_t number, const uint8_t *data, uint32_t size)
{
	f->tokens -= 1;
	if (fleet_loses(f, &f->counters.lost_out))
		return;
	number %= f->transport->lanes;
	struct lane *lane = &f->lanes[number];
	if (lane->count == LANE_FRAMES) {
		f->counters.send_dropped++;
		return;
	}
	struct frame *frame = &lane->frames[lane->count++];
	frame->size = size;
	memcpy(frame->data, data, size);
	if (lane->count >= BURST_MAX && !f->is_congested)
		lane_flush(f, number);
}

void fleet_refill(struct fleet *f)
{
	double rate = f->settings.send_rate, most = rate / 100;
	if (rate <= 0)
		return;
	f->tokens += rate * (double)(f->now_ns - f->tokens_ns) / 1e9;
	f->tokens_ns = f->now_ns;
	if (most < REGISTER_PARTS_MAX)
		most = REGISTER_PARTS_MAX;
	if (f->tokens > most)
		f->tokens = most;
}

bool fleet_may_send(struct fleet *f)
{
	return !f->is_congested && (f->settings.send_rate <= 0 || f->tokens >= 1);
}

void fleet_urge(struct fleet *f, uint32_t node)
{
	if (f->nodes[node].flags & FLEET_URGENT)
		return;
	f->nodes[node].flags |= FLEET_URGENT;
	f->urgent[f->urgent_tail++ & f->urgent_mask] = node;
}

void fleet_set_ready(struct fleet *f, struct fleet_node *n, bool ready)
{
	if (!(n->flags & FLEET_READY) == !ready)
		return;
	n->flags ^= FLEET_READY;
	f->ready += ready ? 1 : -1u;
}

static bool is_away(enum fleet_phase phase)
{
	return phase != FLEET_REGISTERING && phase != FLEET_BEATING;
}

void fleet_set_phase(struct fleet *f, struct fleet_node *n, enum fleet_phase phase)
{
	f->away += (uint32_t)is_away(phase) - (uint32_t)is_away(n->phase);
	if (n->phase == FLEET_BEATING && phase != FLEET_BEATING)
		f->registered--;
	if (n->phase != FLEET_BEATING && phase == FLEET_BEATING)
		f->registered++;
	if (phase != FLEET_BEATING)
		fleet_set_ready(f, n, false);
	if (phase == FLEET_REGISTERING)
		n->flags |= FLEET_FRESH;
	n->phase = (uint8_t)phase;
	n->failures = n->missed = 0;
}

void fleet_announce(struct fleet *f, uint32_t node)
{
	fleet_set_phase(f, &f->nodes[node], FLEET_REGISTERING);
	fleet_urge(f, node);
}
