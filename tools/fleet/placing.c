#include "tools/fleet/placing.h"
#include "state/base/check.h"
#include "state/base/time_units.h"

#define WAIT_MS 500u
#define BACKOFF_BASE_MS 100u
#define BACKOFF_CAP_MS 5000u

static void take_answer(void *context, const struct frame *frame);

void placing_start(struct placing *p, const struct placing_settings *settings,
	const struct placing_source *source, struct fleet *fleet)
{
	*p = (struct placing){.settings = *settings, .source = *source, .fleet = fleet};
	if (p->settings.window == 0 || p->settings.window > PLACING_WINDOW_MAX)
		p->settings.window = PLACING_WINDOW_MAX;
	CHECK(client_key_derive(
		fleet->masters, settings->key_id, text_of(settings->client), &p->key));
	prng_seed(&p->prng, settings->seed);
	p->issued_ms = time_wall_ns(fleet->time) / NS_PER_MS;
	p->next_request = prng_u64(&p->prng);
	p->credit_ns = fleet->now_ns;
	fleet->client_frame = take_answer;
	fleet->client_context = p;
}

void placing_stop(struct placing *p)
{
	p->fleet->client_frame = NULL;
	uuid_set_free(&p->seen);
	explicit_bzero(&p->key, sizeof p->key);
}

// Takes a new sequence number, which also names the request.
static struct wire_header new_header(struct placing *p, struct placing_request *r)
{
	r->sequence = ++p->rounds * PLACING_WINDOW_MAX + (uint64_t)(r - p->requests);
	return (struct wire_header){
		.key_id = p->settings.key_id, .slot = WIRE_NO_SLOT, .sequence = r->sequence};
}

static void make_due(struct placing *p, struct placing_request *r)
{
	r->failures = 0;
	r->sent_ns = p->fleet->now_ns;
	r->due_ms = 0;
}

static void send_request(struct placing *p, struct placing_request *r)
{
	uint64_t limit = BACKOFF_CAP_MS;
	if (r->failures < 6 && ((uint64_t)BACKOFF_BASE_MS << r->failures) < limit)
		limit = (uint64_t)BACKOFF_BASE_MS << r->failures;
	p->counters.resent += r->failures > 0;
	if (r->failures < UINT8_MAX)
		r->failures++;
	r->due_ms = fleet_now_ms(p->fleet) + WAIT_MS + (uint32_t)prng_below(&p->prng, limit + 1);
	fleet_queue(p->fleet, 0, r->frame, r->size);
}

static bool ask_placement(struct placing *p, struct placing_request *r)
{
	struct placing_ask ask;
	if (!p->source.next(p->source.context, &ask)) {
		p->exhausted = true;
		return false;
	}
	struct wire_place place = {.client = text_of(p->settings.client),
		.issued_ms = p->issued_ms,
		.request = ++p->next_request,
		.count = ask.count,
		.namespace_name = ask.namespace_name,
		.job = ask.job,
		.group = ask.group};
	r->size = wire_place_encode(r->frame, sizeof r->frame, new_header(p, r), &place);
	CHECK(r->size > 0);
	wire_sign(&p->key, r->frame, r->size);
	r->number = ask.number;
	r->stage = PLACING_ASKED;
	p->active++;
	p->counters.asked++;
	make_due(p, r);
	return true;
}

static void finish_request(struct placing *p, struct placing_request *r)
{
	r->stage = PLACING_FREE;
	p->active--;
}

// Sends the same request under a new number: the key (client, issued_ms, request) inside is unchanged.
static void repeat(struct placing *p, struct placing_request *r)
{
	struct wire_header h;
	CHECK(wire_header_decode(r->frame, r->size, &h) == WIRE_OK);
	h.sequence = new_header(p, r).sequence;
	wire_header_encode(r->frame, &h);
	wire_sign(&p->key, r->frame, r->size);
	r->stage = PLACING_REPEATED;
	make_due(p, r);
}

static void release_placed(struct placing *p, struct placing_request *r)
{
	struct wire_ids ids = {.client = text_of(p->settings.client), .count = r->placed.count};
	for (uint32_t i = 0; i < ids.count; i++)
		ids.ids[i] = r->placed.items[i].allocation;
	r->size = wire_release_encode(r->frame, sizeof r->frame, new_header(p, r), &ids);
	CHECK(r->size > 0);
	wire_sign(&p->key, r->frame, r->size);
	r->stage = PLACING_RELEASING;
	make_due(p, r);
}

static void release_or_finish(struct placing *p, struct placing_request *r)
{
	if (prng_unit(&p->prng) < p->settings.release_share)
		release_placed(p, r);
	else
		finish_request(p, r);
}

static void on_placed(
	struct placing *p, struct placing_request *r, const struct wire_placed *placed)
{
	if (r->stage == PLACING_REPEATED) {
		p->counters.repeated++;
		if (placed->count != r->placed.count ||
			memcmp(placed->items, r->placed.items,
				placed->count * sizeof placed->items[0]) != 0)
			p->counters.repeated_differs++;
		release_or_finish(p, r);
		return;
	}
	histogram_add(&p->latency, (uint32_t)((p->fleet->now_ns - r->sent_ns) / 1000));
	p->counters.answered++;
	p->counters.placed += placed->count;
	p->counters.short_answers += placed->count < placed->requested;
	for (uint32_t i = 0; i < placed->count; i++)
		if (!uuid_set_add(&p->seen, &placed->items[i].allocation))
			p->counters.duplicates++;
	r->placed = *placed;
	p->source.placed(p->source.context, r->number, placed);
	if (prng_unit(&p->prng) < p->settings.repeat_share)
		repeat(p, r);
	else
		release_or_finish(p, r);
}

static void on_released(
	struct placing *p, struct placing_request *r, const struct wire_released *released)
{
	// "already" is a good result after a lost first answer.
	for (uint32_t i = 0; i < released->count; i++) {
		bool good = released->results[i] == WIRE_RELEASE_DONE ||
			    (released->results[i] == WIRE_RELEASE_ALREADY && r->failures > 1);
		p->counters.released += good;
		p->counters.release_failed += !good;
	}
	if (released->count != r->placed.count)
		p->counters.release_failed++;
	finish_request(p, r);
}

static void on_refused(
	struct placing *p, struct placing_request *r, const struct wire_refused *refused)
{
	if (refused->reason == WIRE_REFUSED_OVERLOADED ||
		refused->reason == WIRE_REFUSED_STOPPING ||
		refused->reason == WIRE_REFUSED_NOT_LEADER) {
		if (refused->reason == WIRE_REFUSED_NOT_LEADER)
			fleet_redirect(p->fleet, &refused->leader);
		p->counters.retried_later++;
		r->due_ms = fleet_now_ms(p->fleet) + refused->retry_after_ms +
			    (uint32_t)prng_below(&p->prng, BACKOFF_BASE_MS);
		return;
	}
	if (refused->reason < WIRE_REFUSED_REASONS)
		p->counters.refused[refused->reason]++;
	p->counters.answered += r->stage == PLACING_ASKED;
	p->counters.repeated_differs += r->stage == PLACING_REPEATED;
	p->counters.release_failed += r->stage == PLACING_RELEASING;
	if (r->stage == PLACING_ASKED)
		p->source.refused(p->source.context, r->number, refused);
	finish_request(p, r);
}

static void take_answer(void *context, const struct frame *frame)
{
	struct placing *p = context;
	struct wire_header h;
	if (wire_header_decode(frame->data, frame->size, &h) != WIRE_OK)
		return;
	struct placing_request *r = &p->requests[h.sequence % PLACING_WINDOW_MAX];
	if (r->stage == PLACING_FREE || r->sequence != h.sequence || r->due_ms == 0 ||
		!wire_verify(&p->key, frame->data, frame->size)) {
		p->counters.ignored++;
		return;
	}
	static struct wire_placed placed;
	struct wire_released released;
	struct wire_refused refused;
	if (h.type == WIRE_REFUSED && wire_refused_decode(frame->data, &h, &refused))
		on_refused(p, r, &refused);
	else if (h.type == WIRE_PLACED && r->stage != PLACING_RELEASING &&
		 wire_placed_decode(frame->data, &h, &placed))
		on_placed(p, r, &placed);
	else if (h.type == WIRE_RELEASED && r->stage == PLACING_RELEASING &&
		 wire_released_decode(frame->data, &h, &released))
		on_released(p, r, &released);
	else
		p->counters.ignored++;
}

static bool may_ask(struct placing *p)
{
	return !p->exhausted && (p->settings.rate <= 0 || p->credit >= 1);
}

static void refill_credit(struct placing *p)
{
	double most = p->settings.rate / 20 > 1 ? p->settings.rate / 20 : 1;
	p->credit += p->settings.rate * (double)(p->fleet->now_ns - p->credit_ns) / 1e9;
	p->credit_ns = p->fleet->now_ns;
	if (p->credit > most)
		p->credit = most;
}

bool placing_step(struct placing *p)
{
	uint32_t now_ms = fleet_now_ms(p->fleet);
	refill_credit(p);
	for (uint32_t i = 0; i < p->settings.window; i++) {
		struct placing_request *r = &p->requests[i];
		if (r->stage == PLACING_FREE && may_ask(p) && ask_placement(p, r))
			p->credit -= 1;
		if (r->stage != PLACING_FREE && r->due_ms <= now_ms && fleet_may_send(p->fleet))
			send_request(p, r);
		if (p->active == 0 && p->exhausted)
			break;
	}
	// The fleet may have nothing to do for a millisecond, and waits for it.
	fleet_flush(p->fleet);
	return p->active == 0 && p->exhausted;
}
