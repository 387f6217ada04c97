#include "dataplane/hot/hold.h"
#include "state/base/time_units.h"

#define BILLIONTHS 1000000000u

void hold_start(struct expiry_hold *h, uint64_t heard_ns)
{
	*h = (struct expiry_hold){.heard_ns = heard_ns};
}

// Keeps a sample of the expired for each step of a time to live. Returns how many expired since the oldest.
static uint64_t window_expired(struct expiry_hold *h, uint64_t ttl_ns, const struct hold_view *v)
{
	for (uint32_t i = 0; i < HOLD_WINDOW_STEPS && v->alive_ns >= h->expired_due_ns; i++) {
		h->expired[h->expired_at++ % HOLD_WINDOW_STEPS] = v->expired;
		h->expired_due_ns += ttl_ns / HOLD_WINDOW_STEPS;
	}
	if (h->expired_due_ns <= v->alive_ns)
		h->expired_due_ns = v->alive_ns + ttl_ns / HOLD_WINDOW_STEPS;
	return v->expired - h->expired[h->expired_at % HOLD_WINDOW_STEPS];
}

static bool limits_mass(const struct hold_limits *l)
{
	return l->mass_percent > 0 && l->mass_percent < 100;
}

static void hear_port(struct expiry_hold *h, const struct hold_view *v)
{
	bool heard = v->port_frames != h->port_frames || v->port_nodes == 0;
	h->port_frames = v->port_frames;
	if (heard && h->heard_ns < v->alive_ns)
		h->heard_ns = v->alive_ns;
}

static bool port_silent_for(const struct expiry_hold *h, const struct hold_view *v, uint64_t ns)
{
	return v->alive_ns > h->heard_ns && v->alive_ns - h->heard_ns > ns;
}

static uint32_t causes_of(
	struct expiry_hold *h, const struct hold_limits *l, const struct hold_view *v)
{
	uint64_t ttl_ns = l->ttl_ms * NS_PER_MS, gone = window_expired(h, ttl_ns, v);
	uint64_t silent = v->silent + gone, fleet = v->nodes + gone;
	uint32_t causes = 0;
	hear_port(h, v);
	if (v->port_nodes > 0 && v->link_down)
		causes |= HOLD_LINK_DOWN;
	if (v->port_nodes > 0 && v->program_lost)
		causes |= HOLD_PROGRAM_LOST;
	if (limits_mass(l) && port_silent_for(h, v, ttl_ns))
		causes |= HOLD_PORT_SILENT;
	if (limits_mass(l) && silent >= HOLD_MASS_NODES_MIN &&
		silent * 100 > (uint64_t)l->mass_percent * fleet)
		causes |= HOLD_MASS;
	return causes;
}

static void hold_begin(struct expiry_hold *h, const struct hold_view *v)
{
	h->state = HOLD_HELD;
	h->since_ns = v->alive_ns;
	h->drain_rate = v->nodes / HOLD_DRAIN_PART;
	if (h->drain_rate < HOLD_DRAIN_NODES_MIN)
		h->drain_rate = HOLD_DRAIN_NODES_MIN;
	h->drain_credit = 0;
}

// Each worker drains its part of the rate.
static void expiry_drain(struct expiry_hold *h, const struct hold_view *v, uint64_t gap_ns)
{
	if (v->nodes == 0 || v->own_nodes > v->nodes)
		return;
	if (gap_ns > NS_PER_S)
		gap_ns = NS_PER_S;
	uint64_t thousandths = h->drain_rate * 1000 * v->own_nodes / v->nodes;
	h->drain_credit += gap_ns / 1000 * thousandths;
	h->left += (uint32_t)(h->drain_credit / BILLIONTHS);
	h->drain_credit %= BILLIONTHS;
	if (h->left > h->drain_rate)
		h->left = (uint32_t)h->drain_rate;
}

static void hold_advance(struct expiry_hold *h, const struct hold_limits *l,
	const struct hold_view *v, uint32_t causes)
{
	bool is_released = v->releases != h->releases;
	h->releases = v->releases;
	if (causes != 0) {
		h->cause_ns = v->alive_ns;
		h->causes = causes;
	} else if (v->alive_ns - h->cause_ns > l->ttl_ms * NS_PER_MS) {
		h->state = HOLD_NONE;
		h->causes = 0;
	}
	if (is_released && h->state != HOLD_NONE)
		h->state = HOLD_RELEASED;
	else if (h->state == HOLD_HELD && !(h->causes & HOLD_PROGRAM_LOST) &&
		 v->alive_ns - h->since_ns > l->hold_ms * NS_PER_MS)
		h->state = HOLD_DRAINING;
}

bool hold_step(struct expiry_hold *h, const struct hold_limits *l, const struct hold_view *v)
{
	uint32_t causes = causes_of(h, l, v);
	bool begins = h->state == HOLD_NONE && causes != 0;
	if (begins)
		hold_begin(h, v);
	hold_advance(h, l, v, causes);
	// The node heard last expires when the port has been silent for a time to live; the others wait for that.
	bool is_quiet = h->state == HOLD_NONE && limits_mass(l) &&
			port_silent_for(h, v, l->ttl_ms * NS_PER_MS / 2);
	h->is_bounded = h->state >= HOLD_DRAINING || is_quiet;
	if (h->state == HOLD_DRAINING)
		expiry_drain(h, v, v->alive_ns - h->stepped_ns);
	else
		h->left = 0;
	h->stepped_ns = v->alive_ns;
	return begins;
}
