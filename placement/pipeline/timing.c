#include "placement/pipeline/timing.h"

void timing_add(struct timing *t, const struct time_source *time, uint64_t began_ns)
{
	uint64_t us = (time_monotonic_ns(time) - began_ns) / 1000;

	atomic_fetch_add_explicit(&t->us[timing_bucket(us)], 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&t->us_sum, us, memory_order_relaxed);
}

void timing_read(struct timing *from, struct pipeline_timing *to)
{
	for (uint32_t i = 0; i < 32; i++)
		to->us[i] = atomic_load_explicit(&from->us[i], memory_order_relaxed);
	to->us_sum = atomic_load_explicit(&from->us_sum, memory_order_relaxed);
}
