#include "tools/client/node_session.h"

static struct wire_header header_of(struct node_session *s, uint8_t type, uint8_t reply)
{
	s->awaiting = reply;
	s->sequence++;
	s->unanswered += s->unanswered < UINT8_MAX;
	return (struct wire_header){.type = type,
		.key_id = s->key_id,
		.slot = s->slot,
		.generation = s->generation,
		.sequence = s->sequence};
}

uint32_t node_session_heartbeat(
	struct node_session *s, uint32_t load_permille, uint8_t frame[static WIRE_HEARTBEAT_BYTES])
{
	struct wire_heartbeat hb = {
		.term = s->term, .alloc_index = s->alloc_index, .load_permille = load_permille};
	struct wire_header h = header_of(s, WIRE_HEARTBEAT, WIRE_HEARTBEAT_ACK);
	uint32_t length = wire_heartbeat_encode(frame, WIRE_HEARTBEAT_BYTES, h, &hb);
	wire_sign(&s->key, frame, length);
	return length;
}

uint32_t node_session_goodbye(struct node_session *s, uint8_t frame[static WIRE_HEARTBEAT_BYTES])
{
	struct wire_header h = header_of(s, WIRE_GOODBYE, WIRE_GOODBYE_ACK);
	uint32_t length = wire_goodbye_encode(frame, WIRE_HEARTBEAT_BYTES, h);
	wire_sign(&s->key, frame, length);
	return length;
}

void node_session_registering(struct node_session *s, uint64_t registration)
{
	s->registration = registration;
	s->awaiting = WIRE_REGISTERED;
}

// An answer may come after the next heartbeat: an answer to any heartbeat after the newest answered one counts.
static bool is_outstanding(const struct node_session *s, const struct wire_header *h)
{
	uint8_t type = s->awaiting ? s->awaiting : WIRE_HEARTBEAT_ACK;
	if (h->type != type && h->type != WIRE_REFUSED)
		return false;
	if (type == WIRE_REGISTERED)
		return h->sequence == s->registration;
	return h->slot == s->slot && h->generation == s->generation &&
	       s->sequence - h->sequence < s->unanswered;
}

static void session_answered(struct node_session *s, const struct wire_header *h)
{
	if (s->awaiting != WIRE_REGISTERED)
		s->unanswered = (uint8_t)(s->sequence - h->sequence);
	s->awaiting = 0;
}

static enum node_event take_ack(
	struct node_session *s, const struct wire_header *h, const struct wire_heartbeat_ack *ack)
{
	if (ack->term < s->term)
		return NODE_OLD_TERM;
	session_answered(s, h);
	s->term = ack->term;
	s->alloc_index = ack->alloc_index;
	s->ttl_ms = ack->ttl_ms;
	s->directives = (uint8_t)ack->directives;
	if (h->type == WIRE_REGISTERED) {
		s->slot = h->slot;
		s->generation = h->generation;
		s->sequence = s->unanswered = 0;
		return NODE_REGISTERED;
	}
	if (ack->directives & WIRE_DIRECTIVE_REGISTER)
		return NODE_REGISTER_NOW;
	return ack->directives & WIRE_DIRECTIVE_RESYNC ? NODE_BEAT_NOW : NODE_ACKED;
}

static enum node_event take_refusal(
	struct node_session *s, const struct wire_header *h, const struct wire_refused *refused)
{
	session_answered(s, h);
	return refused->reason == WIRE_REFUSED_STALE_GENERATION ? NODE_REGISTER_NOW : NODE_REFUSED;
}

// An index that the node knows is no news, so that a notice that comes again says nothing. Only an answer teaches a
// term: of a newer one the node learns with the heartbeat that it sends at once.
static enum node_event take_notice(struct node_session *s, const uint8_t *frame,
	const struct wire_header *h, struct node_answer *answer)
{
	struct wire_notify notify;
	if (s->generation == 0 || h->slot != s->slot || h->generation != s->generation ||
		!wire_notify_decode(frame, h, &notify))
		return NODE_NOTHING;
	if (notify.term < s->term)
		return NODE_OLD_TERM;
	if (notify.term > s->term)
		return NODE_BEAT_NOW;
	answer->calls = notify.call_port != 0;
	answer->call_number = h->sequence;
	answer->line_port = notify.call_port;
	if (notify.alloc_index <= s->alloc_index)
		return answer->calls ? NODE_NOTIFIED : NODE_NOTHING;
	s->alloc_index = notify.alloc_index;
	return NODE_NOTIFIED;
}

struct node_answer node_session_receive(struct node_session *s, const uint8_t *frame, uint32_t size)
{
	struct node_answer answer = {.event = NODE_NOTHING};
	struct wire_header h;
	struct wire_heartbeat_ack ack;
	if (wire_header_decode(frame, size, &h) != WIRE_OK ||
		(h.type != WIRE_NOTIFY && !is_outstanding(s, &h)) ||
		!wire_verify(&s->key, frame, size))
		return answer;
	if (h.type == WIRE_NOTIFY) {
		answer.event = take_notice(s, frame, &h, &answer);
	} else if (h.type == WIRE_REFUSED) {
		if (wire_refused_decode(frame, &h, &answer.refused))
			answer.event = take_refusal(s, &h, &answer.refused);
	} else if (h.type == WIRE_GOODBYE_ACK) {
		session_answered(s, &h);
		s->generation = 0;
		answer.event = NODE_GONE;
	} else if (wire_heartbeat_ack_decode(frame, &h, &ack)) {
		answer.term = ack.term;
		answer.late = h.type == WIRE_HEARTBEAT_ACK && h.sequence != s->sequence;
		answer.event = take_ack(s, &h, &ack);
		answer.line_port = ack.line_port;
		answer.calls = answer.event == NODE_ACKED && ack.directives & WIRE_DIRECTIVE_CALL;
	}
	return answer;
}

uint64_t node_session_appointment_ms(const struct wire_refused *refused, struct prng *prng)
{
	return refused->retry_after_ms + prng_below(prng, refused->retry_after_ms / 8 + 1ull);
}
