#include "tools/agent/beat.h"
#include "state/base/time_units.h"

void beat_start(struct beat *b, uint64_t seed, uint64_t now_ns)
{
	backoff_reset(&b->backoff);
	prng_seed(&b->prng, seed);
	b->state = BEAT_REGISTERING;
	b->describe = true;
	b->due_ns = now_ns;
}

static void wait_ms(struct beat *b, uint64_t now_ns, uint64_t ms)
{
	b->due_ns = now_ns + ms * NS_PER_MS;
}

static uint64_t backoff_ms(struct beat *b)
{
	return backoff_jittered_ms(
		&b->backoff, BEAT_BACKOFF_BASE_MS, BEAT_BACKOFF_CAP_MS, &b->prng);
}

// A third of the time to live, less up to a tenth of that third, so that the nodes of a fleet do not beat in step.
static uint64_t interval_ns(struct beat *b)
{
	uint64_t third_ns = (uint64_t)b->session.ttl_ms * NS_PER_MS / 3;
	if (third_ns < BEAT_INTERVAL_MS_LEAST * NS_PER_MS)
		third_ns = BEAT_INTERVAL_MS_LEAST * NS_PER_MS;
	return third_ns - prng_below(&b->prng, third_ns / 10 + 1);
}

static enum beat_send send_register(struct beat *b, uint64_t now_ns)
{
	wait_ms(b, now_ns, BEAT_REGISTER_WAIT_MS + backoff_ms(b));
	return BEAT_SEND_REGISTER;
}

uint64_t beat_registration(struct beat *b, uint64_t wall_ms)
{
	uint64_t least = b->registration_least, newest = b->session.registration;
	if (least != 0 && least <= newest) {
		b->registration_least = 0;
		return least;
	}
	uint64_t sequence = wall_ms > least ? wall_ms : least;
	return sequence > newest ? sequence : newest + 1;
}

static enum beat_send send_heartbeat(struct beat *b, uint64_t now_ns)
{
	b->due_ns = now_ns + interval_ns(b);
	uint32_t silences = b->missed / BEAT_SILENT_BEATS;
	if (b->missed == 0 || b->missed % BEAT_SILENT_BEATS != 0 || (silences & (silences - 1)))
		return BEAT_SEND_HEARTBEAT;
	b->describe = true;
	return BEAT_SEND_REGISTER;
}

static enum beat_send send_goodbye(struct beat *b, uint64_t now_ns)
{
	if (b->goodbyes == BEAT_GOODBYES_MAX) {
		b->state = BEAT_LEFT;
		return BEAT_SEND_NOTHING;
	}
	b->goodbyes++;
	wait_ms(b, now_ns, BEAT_GOODBYE_WAIT_MS);
	return BEAT_SEND_GOODBYE;
}

enum beat_send beat_due(struct beat *b, uint64_t now_ns)
{
	if (now_ns < b->due_ns)
		return BEAT_SEND_NOTHING;
	if (b->session.awaiting)
		b->missed++;
	switch (b->state) {
	case BEAT_REGISTERING: return send_register(b, now_ns);
	case BEAT_BEATING: return send_heartbeat(b, now_ns);
	case BEAT_LEAVING: return send_goodbye(b, now_ns);
	case BEAT_LEFT: break;
	}
	return BEAT_SEND_NOTHING;
}

static void register_again(struct beat *b, uint64_t now_ns)
{
	b->state = BEAT_REGISTERING;
	b->describe = true;
	// Only a heartbeat's acknowledgement resets the back-off, so that a controller that keeps asking is not
	// flooded.
	wait_ms(b, now_ns, backoff_ms(b));
}

// The next frame goes to another controller.
static void redirected(struct beat *b, const struct wire_refused *why, uint64_t now_ns)
{
	if (b->redirects++ < BEAT_REDIRECTS_MAX) {
		b->due_ns = now_ns;
		return;
	}
	b->redirects = 0;
	if (b->state == BEAT_REGISTERING)
		wait_ms(b, now_ns, why->retry_after_ms + backoff_ms(b));
}

static void refused(struct beat *b, const struct wire_refused *why, uint64_t now_ns)
{
	if (b->state == BEAT_LEAVING)
		return;
	if (why->reason == WIRE_REFUSED_NOT_LEADER) {
		redirected(b, why, now_ns);
	} else if (why->reason == WIRE_REFUSED_STALE_REGISTRATION) {
		b->registration_least = why->value + 1;
		register_again(b, now_ns);
	} else if (b->state == BEAT_REGISTERING && why->reason == WIRE_REFUSED_OVERLOADED) {
		backoff_reset(&b->backoff);
		wait_ms(b, now_ns, node_session_appointment_ms(why, &b->prng));
	} else if (b->state == BEAT_REGISTERING) {
		wait_ms(b, now_ns, why->retry_after_ms + backoff_ms(b));
	}
}

static void obey(struct beat *b, const struct node_answer *answer, uint64_t now_ns)
{
	switch (answer->event) {
	case NODE_REGISTERED:
		b->state = BEAT_BEATING;
		b->due_ns = now_ns;
		b->redirects = 0;
		break;
	case NODE_ACKED:
		b->resyncs = b->redirects = 0;
		backoff_reset(&b->backoff);
		break;
	case NODE_BEAT_NOW:
		if (b->resyncs++ < BEAT_RESYNCS_MAX)
			b->due_ns = now_ns;
		break;
	case NODE_REGISTER_NOW: register_again(b, now_ns); break;
	case NODE_REFUSED: refused(b, &answer->refused, now_ns); break;
	case NODE_GONE: b->state = BEAT_LEFT; break;
	case NODE_NOTHING:
	case NODE_NOTIFIED:
	case NODE_OLD_TERM: break;
	}
}

struct node_answer beat_receive(
	struct beat *b, const uint8_t *frame, uint32_t size, uint64_t now_ns)
{
	struct node_answer answer = node_session_receive(&b->session, frame, size);
	if (answer.event == NODE_NOTHING || answer.event == NODE_OLD_TERM ||
		answer.event == NODE_NOTIFIED)
		return answer;
	b->missed = 0;
	// A leaving node with a stale generation does not register again: the controller has ended it already.
	if (b->state == BEAT_LEAVING && answer.event == NODE_REGISTER_NOW) {
		b->session.generation = 0;
		answer.event = NODE_GONE;
	}
	obey(b, &answer, now_ns);
	return answer;
}

void beat_describe(struct beat *b, uint64_t now_ns)
{
	if (b->state == BEAT_LEAVING || b->state == BEAT_LEFT)
		return;
	b->state = BEAT_REGISTERING;
	b->describe = true;
	b->due_ns = now_ns;
}

void beat_hasten(struct beat *b, uint64_t now_ns)
{
	uint64_t soon_ns = now_ns + BEAT_HASTE_MS * NS_PER_MS;
	if (b->state == BEAT_BEATING && b->due_ns > soon_ns)
		b->due_ns = soon_ns;
}

void beat_leave(struct beat *b, uint64_t now_ns)
{
	b->state = b->session.generation ? BEAT_LEAVING : BEAT_LEFT;
	b->due_ns = now_ns;
}
