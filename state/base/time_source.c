#include "state/base/time_source.h"
#include "state/base/check.h"
#include "state/base/time_units.h"
#include <time.h>

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;
	CHECK(clock_gettime(clock, &now) == 0);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static uint64_t real_monotonic_ns(void *context)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static uint64_t real_wall_ns(void *context)
{
	return clock_ns(CLOCK_REALTIME);
}

static uint64_t real_boot_ns(void *context)
{
	return clock_ns(CLOCK_BOOTTIME);
}

const struct time_source time_source_real = {
	.monotonic_ns = real_monotonic_ns,
	.wall_ns = real_wall_ns,
	.boot_ns = real_boot_ns,
};

static uint64_t manual_monotonic_ns(void *context)
{
	return ((const struct manual_time *)context)->monotonic_ns;
}

static uint64_t manual_wall_ns(void *context)
{
	return ((const struct manual_time *)context)->wall_ns;
}

struct time_source time_source_manual(struct manual_time *manual)
{
	return (struct time_source){
		.monotonic_ns = manual_monotonic_ns,
		.wall_ns = manual_wall_ns,
		.context = manual,
	};
}

void manual_time_advance_ms(struct manual_time *manual, uint64_t ms)
{
	manual->monotonic_ns += ms * NS_PER_MS;
	manual->wall_ns += ms * NS_PER_MS;
}
