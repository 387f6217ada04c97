#include "tools/fleet/fleet.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tools/client/description.h"
#include "tools/fleet/work/running.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define RECEIVE_FRAMES (BURST_MAX * 8)
#define REGISTER_WAIT_MS 1000u
#define BACKOFF_BASE_MS 250u
#define BACKOFF_CAP_MS 30000u
#define GOODBYE_WAIT_MS 300u
#define GOODBYES_MAX 5u
#define MISSED_DOWN 3u // no longer counted as ready
#define MISSED_ASKS 6u // and its doubles: register instead of beating
#define INTERVAL_MS_LEAST 50u
#define LOOK_MS 100u

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
	if (settings->pcap) {
		int rc = pcap_create(&f->capture, settings->pcap);
		if (rc < 0) {
			snprintf(message, message_size, "cannot write %s: %s", settings->pcap,
				strerror(-rc));
			return rc;
		}
	}
	uint32_t n = settings->nodes ? settings->nodes : 1;
	f->start_ns = f->now_ns = f->tokens_ns = time_monotonic_ns(time);
	prng_seed(&f->prng, settings->seed);
	f->nodes = memory_take_array(n, sizeof *f->nodes);
	f->slot_nodes = memory_map((size_t)NODES_MAX * sizeof *f->slot_nodes);
	CHECK(f->slot_nodes);
	f->register_mask = power_above(2 * n) - 1;
	f->register_nodes = memory_take_array(f->register_mask + 1, sizeof *f->register_nodes);
	f->urgent_mask = power_above(n + 1) - 1;
	f->urgent = memory_take_array(f->urgent_mask + 1, sizeof *f->urgent);
	f->lanes = memory_take_array(transport->lanes, sizeof *f->lanes);
	f->received = memory_take_array(RECEIVE_FRAMES, sizeof *f->received);
	// Registrations are numbered one by one, so that an answer names its node; ending about now.
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

static uint32_t now_us(const struct fleet *f)
{
	return (uint32_t)((f->now_ns - f->start_ns) / 1000);
}

static bool is_lost(struct fleet *f, uint64_t *counter)
{
	if (f->settings.loss <= 0 || prng_unit(&f->prng) >= f->settings.loss)
		return false;
	++*counter;
	return true;
}

static void flush_lane(struct fleet *f, uint32_t number)
{
	struct lane *lane = &f->lanes[number];
	if (lane->count == 0)
		return;
	uint32_t sent = f->transport->send(f->transport, number, lane->frames, lane->count);
	f->counters.sent += sent;
	f->counters.send_dropped += lane->count - sent;
	lane->count = 0;
}

void fleet_queue(struct fleet *f, uint32_t number, const uint8_t *data, uint32_t size)
{
	f->tokens -= 1;
	if (is_lost(f, &f->counters.lost_out))
		return;
	number %= f->transport->lanes;
	struct lane *lane = &f->lanes[number];
	struct frame *frame = &lane->frames[lane->count++];
	frame->size = size;
	memcpy(frame->data, data, size);
	if (lane->count == BURST_MAX)
		flush_lane(f, number);
}

static void refill_tokens(struct fleet *f)
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
	return f->settings.send_rate <= 0 || f->tokens >= 1;
}

void fleet_urge(struct fleet *f, uint32_t node)
{
	if (f->nodes[node].flags & FLEET_URGENT)
		return;
	f->nodes[node].flags |= FLEET_URGENT;
	f->urgent[f->urgent_tail++ & f->urgent_mask] = node;
}

static void set_ready(struct fleet *f, struct fleet_node *n, bool ready)
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
		set_ready(f, n, false);
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

static uint32_t backoff_ms(struct fleet *f, struct fleet_node *n)
{
	uint64_t limit = BACKOFF_CAP_MS;
	if (n->failures < 8 && ((uint64_t)BACKOFF_BASE_MS << n->failures) < limit)
		limit = (uint64_t)BACKOFF_BASE_MS << n->failures;
	if (n->failures < UINT8_MAX)
		n->failures++;
	return (uint32_t)prng_below(&f->prng, limit + 1);
}

static void send_registration(struct fleet *f, struct fleet_node *n)
{
	static struct wire_register description;
	static struct shape_text text;
	static struct description_frames frames;
	uint32_t index = (uint32_t)(n - f->nodes);
	// Sent again it is the same registration, so that a late answer is still good.
	uint64_t sequence =
		n->flags & FLEET_FRESH ? ++f->next_registration : n->session.registration;
	n->flags &= (uint8_t)~FLEET_FRESH;
	shape_describe(f->shapes, f->settings.first + index, &description, &text);
	CHECK(description_encode(
		&description, sequence, n->session.key_id, &n->session.key, &frames));
	node_session_registering(&n->session, sequence);
	f->register_nodes[sequence & f->register_mask] = index;
	f->counters.registrations++;
	for (uint32_t i = 0; i < frames.count; i++)
		fleet_queue(f, index, frames.frames[i], frames.lengths[i]);
}

static void capture(struct fleet *f, uint32_t index, const uint8_t *frame, uint32_t size)
{
	uint8_t packet[PACKET_HEADER_BYTES + WIRE_HEARTBEAT_BYTES];
	struct packet_flow flow = f->settings.pcap_flow;
	flow.port_from = (uint16_t)(flow.port_from + index % f->transport->lanes);
	pcap_add(&f->capture, packet, packet_wrap(&flow, frame, size, packet),
		time_wall_ns(f->time));
}

static void send_heartbeat(struct fleet *f, struct fleet_node *n)
{
	uint8_t frame[WIRE_HEARTBEAT_BYTES];
	uint32_t index = (uint32_t)(n - f->nodes);
	uint32_t size = node_session_heartbeat(&n->session, index % 1000, frame);
	f->counters.heartbeats++;
	n->sent_us = now_us(f);
	if (f->capture.file)
		capture(f, index, frame, size);
	fleet_queue(f, index, frame, size);
}

static uint32_t interval_ms(struct fleet *f, const struct fleet_node *n)
{
	uint32_t third = n->session.ttl_ms / 3;
	if (third < INTERVAL_MS_LEAST)
		third = INTERVAL_MS_LEAST;
	return third - (uint32_t)prng_below(&f->prng, third / 10 + 1);
}

static void register_due(struct fleet *f, struct fleet_node *n)
{
	n->due_ms = fleet_now_ms(f) + REGISTER_WAIT_MS + backoff_ms(f, n);
	send_registration(f, n);
}

static void beat_due(struct fleet *f, struct fleet_node *n)
{
	if (n->session.awaiting) {
		f->counters.missed++;
		if (n->missed < UINT8_MAX)
			n->missed++;
		if (n->missed >= MISSED_DOWN)
			set_ready(f, n, false);
	}
	n->due_ms = fleet_now_ms(f) + interval_ms(f, n);
	uint32_t asks = n->missed / MISSED_ASKS;
	if (n->missed == 0 || n->missed % MISSED_ASKS != 0 || (asks & (asks - 1)) != 0) {
		send_heartbeat(f, n);
		return;
	}
	n->flags |= FLEET_FRESH;
	send_registration(f, n);
}

static void goodbye_due(struct fleet *f, struct fleet_node *n)
{
	uint8_t frame[WIRE_HEARTBEAT_BYTES];
	if (n->failures == GOODBYES_MAX) {
		fleet_set_phase(f, n, FLEET_LEFT);
		n->due_ms = UINT32_MAX;
		return;
	}
	n->failures++;
	n->due_ms = fleet_now_ms(f) + GOODBYE_WAIT_MS;
	f->counters.goodbyes++;
	fleet_queue(f, (uint32_t)(n - f->nodes), frame, node_session_goodbye(&n->session, frame));
}

// Its time has come: do what its phase says.
static void node_due(struct fleet *f, struct fleet_node *n)
{
	switch ((enum fleet_phase)n->phase) {
	case FLEET_REGISTERING: register_due(f, n); break;
	case FLEET_BEATING: beat_due(f, n); break;
	case FLEET_SILENT:
		n->session.awaiting = 0;
		fleet_set_phase(f, n, FLEET_BEATING);
		beat_due(f, n);
		break;
	case FLEET_CRASHED:
		fleet_set_phase(f, n, FLEET_REGISTERING);
		register_due(f, n);
		break;
	case FLEET_LEAVING: goodbye_due(f, n); break;
	case FLEET_LEFT: break;
	}
}

// A node that waits for an answer to its registration beats as soon as that has come, so it is looked at often: what
// is in the wheel cannot be moved.
static uint32_t look_ms(const struct fleet_node *n, uint32_t now_ms)
{
	bool may_change = n->phase == FLEET_REGISTERING && n->due_ms > now_ms + LOOK_MS;
	return may_change ? now_ms + LOOK_MS : n->due_ms;
}

// Silent and crashed nodes stay so until their time, whatever was urgent before.
static bool stays_down(const struct fleet_node *n, uint32_t now_ms)
{
	return (n->phase == FLEET_SILENT || n->phase == FLEET_CRASHED) && n->due_ms > now_ms;
}

// A registration may take several frames; the debt is paid before the next node has its turn.
static uint32_t send_due(struct fleet *f)
{
	uint32_t handled = 0, now_ms = fleet_now_ms(f);
	while (f->urgent_head != f->urgent_tail && handled < RECEIVE_FRAMES && fleet_may_send(f)) {
		struct fleet_node *n = &f->nodes[f->urgent[f->urgent_head++ & f->urgent_mask]];
		n->flags &= (uint8_t)~FLEET_URGENT;
		if (!stays_down(n, now_ms))
			node_due(f, n);
		handled++;
	}
	while (handled < RECEIVE_FRAMES && fleet_may_send(f)) {
		uint32_t index = wheel_pop(&f->wheel, now_ms);
		if (index == WHEEL_NONE)
			break;
		struct fleet_node *n = &f->nodes[index];
		// What was urgent in between has moved the due time on.
		if (n->due_ms <= now_ms) {
			node_due(f, n);
			handled++;
		}
		wheel_add(&f->wheel, index, look_ms(n, now_ms));
	}
	return handled;
}

static void on_registered(struct fleet *f, struct fleet_node *n)
{
	if (n->session.slot >= NODES_MAX)
		return;
	f->counters.registered++;
	f->slot_nodes[n->session.slot] = (uint32_t)(n - f->nodes) + 1;
	fleet_set_phase(f, n, FLEET_BEATING);
	fleet_urge(f, (uint32_t)(n - f->nodes));
	if (f->running)
		running_registered(f->running, (uint32_t)(n - f->nodes));
}

static void on_refused(struct fleet *f, struct fleet_node *n, const struct wire_refused *why)
{
	if (why->reason < WIRE_REFUSED_REASONS)
		f->counters.refused[why->reason]++;
	if (n->phase != FLEET_REGISTERING)
		return;
	n->due_ms = fleet_now_ms(f) + why->retry_after_ms + backoff_ms(f, n);
	if (why->reason != WIRE_REFUSED_STALE_REGISTRATION)
		return;
	if (f->next_registration < why->value)
		f->next_registration = why->value;
	n->flags |= FLEET_FRESH;
	fleet_urge(f, (uint32_t)(n - f->nodes));
}

static void on_register_again(struct fleet *f, struct fleet_node *n, bool refused)
{
	if (refused)
		f->counters.refused[WIRE_REFUSED_STALE_GENERATION]++;
	if (n->phase == FLEET_LEAVING) {
		fleet_set_phase(f, n, FLEET_LEFT);
		return;
	}
	fleet_announce(f, (uint32_t)(n - f->nodes));
}

// A fleet that leaves allocations alone still answers for its probes.
static void on_acknowledged(struct fleet *f, uint32_t node)
{
	bool is_asked = f->nodes[node].session.directives & WIRE_DIRECTIVE_PROBE;
	const struct running_settings leaves_alone = {.leaves_allocs = true};
	if (!f->running && is_asked)
		f->running = running_create(f, &leaves_alone);
	if (f->running)
		running_acknowledged(f->running, node);
}

static void on_answer(struct fleet *f, struct fleet_node *n, const struct node_answer *answer)
{
	if (answer->event != NODE_NOTHING && answer->event != NODE_OLD_TERM)
		n->missed = 0;
	switch (answer->event) {
	case NODE_NOTHING: f->counters.ignored++; break;
	case NODE_OLD_TERM: f->counters.old_terms++; break;
	case NODE_REGISTERED: on_registered(f, n); break;
	case NODE_ACKED:
		f->counters.acked++;
		if (!answer->late)
			histogram_add(&f->rtt, now_us(f) - n->sent_us);
		set_ready(f, n, n->phase == FLEET_BEATING);
		on_acknowledged(f, (uint32_t)(n - f->nodes));
		break;
	case NODE_BEAT_NOW:
		f->counters.resyncs++;
		if (n->phase == FLEET_BEATING)
			fleet_urge(f, (uint32_t)(n - f->nodes));
		break;
	case NODE_REGISTER_NOW: on_register_again(f, n, answer->refused.reason != 0); break;
	case NODE_REFUSED: on_refused(f, n, &answer->refused); break;
	case NODE_GONE:
		f->counters.gone++;
		fleet_set_phase(f, n, FLEET_LEFT);
		n->due_ms = UINT32_MAX;
		break;
	}
}

// Whom a frame answers: by slot, or by the registration's number. NULL: nobody of ours, or a client.
static struct fleet_node *addressee(struct fleet *f, const struct frame *frame, bool *client)
{
	struct wire_header h;
	*client = false;
	if (wire_header_decode(frame->data, frame->size, &h) != WIRE_OK)
		return NULL;
	bool of_registration = h.type == WIRE_REGISTERED ||
			       (h.type == WIRE_REFUSED && frame->data[24] == WIRE_REGISTER);
	if (of_registration)
		return &f->nodes[f->register_nodes[h.sequence & f->register_mask]];
	*client = h.slot == WIRE_NO_SLOT;
	if (h.slot >= NODES_MAX || f->slot_nodes[h.slot] == 0)
		return NULL;
	return &f->nodes[f->slot_nodes[h.slot] - 1];
}

static void take_frame(struct fleet *f, const struct frame *frame)
{
	bool client;
	f->counters.received++;
	if (is_lost(f, &f->counters.lost_in))
		return;
	struct fleet_node *n =
		frame->size <= sizeof frame->data ? addressee(f, frame, &client) : NULL;
	bool heard = n && n->phase != FLEET_SILENT && n->phase != FLEET_CRASHED;
	if (heard && f->running &&
		running_receive(f->running, (uint32_t)(n - f->nodes), frame->data, frame->size))
		return;
	if (heard) {
		struct node_answer answer =
			node_session_receive(&n->session, frame->data, frame->size);
		on_answer(f, n, &answer);
	} else if (!n && frame->size <= sizeof frame->data && client && f->client_frame) {
		f->client_frame(f->client_context, frame);
	} else {
		f->counters.ignored++;
	}
}

uint32_t fleet_step(struct fleet *f)
{
	f->now_ns = time_monotonic_ns(f->time);
	refill_tokens(f);
	uint32_t received = f->transport->receive(f->transport, f->received, RECEIVE_FRAMES);
	for (uint32_t i = 0; i < received; i++)
		take_frame(f, &f->received[i]);
	uint32_t sent = send_due(f);
	if (f->running)
		sent += running_step(f->running);
	for (uint32_t lane = 0; lane < f->transport->lanes; lane++)
		flush_lane(f, lane);
	return received + sent;
}
