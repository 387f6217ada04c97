#include "dataplane/expiry.h"
#include "state/base/time_units.h"

#define LOOK_INTERVAL_NS (10 * NS_PER_MS)
#define CAUSES_SHIFT 8u

static uint64_t load_counter(const _Atomic uint64_t *from)
{
	return atomic_load_explicit(from, memory_order_relaxed);
}

// Frames that only somebody with a key can have sent; a replay may be anybody's.
static uint64_t authentic_frames(const struct hot_counters *c)
{
	static const enum hot_refusal refusals[] = {HOT_REFUSED_STALE_GENERATION,
		HOT_REFUSED_STALE_TERM, HOT_REFUSED_BAD_BODY, HOT_REFUSED_REQUESTS_FULL};
	uint64_t frames = load_counter(&c->heartbeats) + load_counter(&c->requests);
	for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
		frames += load_counter(&c->refused[refusals[i]]);
	return frames;
}

static uint32_t nodes_of(const struct packet_worker *w)
{
	return atomic_load_explicit(&w->counters.nodes, memory_order_relaxed);
}

static uint32_t silent_of(const struct packet_worker *w)
{
	return atomic_load_explicit(&w->counters.nodes_silent, memory_order_relaxed);
}

static struct hold_view view_of(const struct packet_worker *w)
{
	struct hold_view v = {.alive_ns = w->clock.elapsed_ns,
		.own_nodes = nodes_of(w),
		.releases = atomic_load_explicit(&w->team->releases, memory_order_relaxed)};
	if (w->signs != NULL) {
		v.link_down = atomic_load_explicit(&w->signs->link_down, memory_order_relaxed);
		v.program_lost =
			atomic_load_explicit(&w->signs->program_lost, memory_order_relaxed);
	}
	for (uint32_t i = 0; i < w->team->count; i++) {
		const struct packet_worker *other = &w->team->items[i];
		v.nodes += nodes_of(other);
		v.silent += silent_of(other);
		v.expired += load_counter(&other->counters.nodes_expired);
		if (other->signs != w->signs)
			continue;
		v.port_nodes += nodes_of(other);
		v.port_frames += authentic_frames(&other->counters);
	}
	return v;
}

void expiry_open(struct packet_worker *w)
{
	uint64_t grace_ns = w->team->settings.restart_grace_ms * NS_PER_MS;
	hold_start(&w->hot.hold, w->clock.elapsed_ns + grace_ns);
	w->hold_due_ns = 0;
}

void expiry_look(struct packet_worker *w, uint64_t now_ns)
{
	if (now_ns < w->hold_due_ns)
		return;
	w->hold_due_ns = now_ns + LOOK_INTERVAL_NS;
	const struct packet_worker_settings *s = &w->team->settings;
	struct hold_limits limits = {.ttl_ms = s->ttl_ms,
		.mass_percent = s->mass_percent,
		.hold_ms = s->mass_hold_s * 1000ull};
	struct hold_view view = view_of(w);
	if (hold_step(&w->hot.hold, &limits, &view)) {
		atomic_store_explicit(&w->held_ns, now_ns, memory_order_relaxed);
		counter_add(&w->holds, 1);
	}
	uint32_t held = w->hot.hold.state | w->hot.hold.causes << CAUSES_SHIFT;
	atomic_store_explicit(&w->held, held, memory_order_release);
}

struct expiry_status expiry_status(const struct packet_workers *team)
{
	struct expiry_status status = {0};
	for (uint32_t i = 0; i < team->count; i++) {
		const struct packet_worker *w = &team->items[i];
		uint32_t held = atomic_load_explicit(&w->held, memory_order_acquire);
		enum hold_state state = held & ((1u << CAUSES_SHIFT) - 1);
		uint64_t since_ns = load_counter(&w->held_ns);
		status.nodes += nodes_of(w);
		status.silent += silent_of(w);
		status.holds += load_counter(&w->holds);
		if (state == HOLD_NONE)
			continue;
		if (state > status.state)
			status.state = state;
		if (status.since_ns == 0 || since_ns < status.since_ns)
			status.since_ns = since_ns;
		status.causes |= held >> CAUSES_SHIFT;
	}
	return status;
}

void expiry_release(struct packet_workers *team)
{
	atomic_fetch_add_explicit(&team->releases, 1, memory_order_relaxed);
}
