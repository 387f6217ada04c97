#include "state/applier/applier_private.h"

void applier_turn_begins(struct applier *a)
{
	atomic_store_explicit(
		&a->turn_began_ns, time_monotonic_ns(a->settings.time), memory_order_relaxed);
}

void applier_turn_ends(struct applier *a)
{
	atomic_store_explicit(&a->turn_began_ns, 0, memory_order_relaxed);
}

static uint64_t duration_ns(uint64_t began_ns, uint64_t now_ns)
{
	return began_ns != 0 && began_ns < now_ns ? now_ns - began_ns : 0;
}

struct applier_work applier_work(const struct applier *a)
{
	uint64_t turn_ns = atomic_load_explicit(&a->turn_began_ns, memory_order_relaxed);
	uint64_t append_ns = applier_append_began_ns(a);
	uint64_t now_ns = time_monotonic_ns(a->settings.time);

	return (struct applier_work){duration_ns(turn_ns, now_ns), duration_ns(append_ns, now_ns)};
}
