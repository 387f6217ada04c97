#include "tools/fleet/fleet_step.h"
#include "state/base/check.h"
#include "tools/client/description.h"
#include "tools/fleet/work/running.h"

#define REGISTER_WAIT_MS 1000u
#define BACKOFF_BASE_MS 250u
#define BACKOFF_CAP_MS 30000u
#define GOODBYE_WAIT_MS 300u
#define GOODBYES_MAX 5u
#define MISSED_DOWN 3u // the node no longer counts as ready
#define MISSED_ASKS 6u // at this many and its doubles the node registers instead
#define INTERVAL_MS_LEAST 50u
#define LOOK_MS 100u

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
	// A registration sent again keeps its number, so that a late answer is still good.
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
	n->sent_us = fleet_now_us(f);
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
	if (n->session.awaiting)
		fleet_missed(f);
	n->due_ms = fleet_now_ms(f) + REGISTER_WAIT_MS + backoff_ms(f, n);
	send_registration(f, n);
}

static void beat_due(struct fleet *f, struct fleet_node *n)
{
	if (n->session.awaiting) {
		f->counters.missed++;
		fleet_missed(f);
		if (n->missed < UINT8_MAX)
			n->missed++;
		if (n->missed >= MISSED_DOWN)
			fleet_set_ready(f, n, false);
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

// Does what the phase of a due node asks for.
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

// A node that waits for an answer to its registration beats as soon as it comes. The wheel cannot move a node to an
// earlier time, so that such a node comes out often.
static uint32_t look_ms(const struct fleet_node *n, uint32_t now_ms)
{
	bool may_change = n->phase == FLEET_REGISTERING && n->due_ms > now_ms + LOOK_MS;
	return may_change ? now_ms + LOOK_MS : n->due_ms;
}

// Silent and crashed nodes stay so until their time, even if they are in the urgent queue.
static bool stays_down(const struct fleet_node *n, uint32_t now_ms)
{
	return (n->phase == FLEET_SILENT || n->phase == FLEET_CRASHED) && n->due_ms > now_ms;
}

// A registration may take several frames; the next node waits until the send rate allows them all.
static uint32_t send_due(struct fleet *f)
{
	uint32_t handled = 0, now_ms = fleet_now_ms(f);
	while (f->urgent_head != f->urgent_tail && handled < FLEET_RECEIVE_FRAMES &&
		fleet_may_send(f)) {
		struct fleet_node *n = &f->nodes[f->urgent[f->urgent_head++ & f->urgent_mask]];
		n->flags &= (uint8_t)~FLEET_URGENT;
		if (!stays_down(n, now_ms))
			node_due(f, n);
		handled++;
	}
	while (handled < FLEET_RECEIVE_FRAMES && fleet_may_send(f)) {
		uint32_t index = wheel_pop(&f->wheel, now_ms);
		if (index == WHEEL_NONE)
			break;
		struct fleet_node *n = &f->nodes[index];
		// The urgent queue may have moved the due time on.
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
	if (why->reason == WIRE_REFUSED_NOT_LEADER)
		fleet_redirect(f, &why->leader);
	if (n->phase != FLEET_REGISTERING)
		return;
	if (why->reason == WIRE_REFUSED_OVERLOADED) {
		n->failures = 0;
		n->due_ms = fleet_now_ms(f) + node_session_appointment_ms(why, &f->prng);
		return;
	}
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

// A fleet that runs no allocations still reports its nodes' probes.
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
	if (answer->event != NODE_NOTHING && answer->event != NODE_OLD_TERM &&
		answer->event != NODE_NOTIFIED) {
		n->missed = 0;
		fleet_heard(f);
	}
	switch (answer->event) {
	case NODE_NOTHING: f->counters.ignored++; break;
	case NODE_OLD_TERM: f->counters.old_terms++; break;
	case NODE_NOTIFIED:
		f->counters.notices++;
		if (f->running)
			running_notified(f->running, (uint32_t)(n - f->nodes));
		break;
	case NODE_REGISTERED: on_registered(f, n); break;
	case NODE_ACKED:
		f->counters.acked++;
		if (!answer->late)
			histogram_add(&f->rtt, fleet_now_us(f) - n->sent_us);
		fleet_set_ready(f, n, n->phase == FLEET_BEATING);
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

// The node that a frame answers, by slot or by the registration's number. NULL: none of this fleet, or a client.
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
	if (fleet_loses(f, &f->counters.lost_in))
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
	fleet_refill(f);
	uint32_t received = f->transport->receive(f->transport, f->received, FLEET_RECEIVE_FRAMES);
	for (uint32_t i = 0; i < received; i++)
		take_frame(f, &f->received[i]);
	uint32_t sent = send_due(f);
	if (f->running)
		sent += running_step(f->running);
	fleet_flush(f);
	return received + sent;
}
