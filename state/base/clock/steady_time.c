#include "state/base/clock/steady_time.h"

// Of the time that passes, how much it is faster or slower at most.
#define FOLLOWED_IN 8

static int64_t between(int64_t least, int64_t value, int64_t most)
{
	return value < least ? least : value > most ? most : value;
}

// Under the lock. Returns how far the wall clock is ahead.
static int64_t steady_step(struct steady_time *s)
{
	uint64_t boot_ns = time_boot_ns(s->machine), wall_ns = time_wall_ns(s->machine);
	if (!s->has_begun) {
		s->has_begun = true;
		s->boot_ns = boot_ns;
		s->wall_ns = wall_ns;
	}
	// Two threads read the clock one after the other, and come here in any order.
	int64_t passed_ns = boot_ns > s->boot_ns ? (int64_t)(boot_ns - s->boot_ns) : 0;
	s->boot_ns += (uint64_t)passed_ns;
	int64_t lag_ns = (int64_t)(wall_ns - s->wall_ns) - passed_ns;
	int64_t followed_ns = between(-passed_ns / FOLLOWED_IN, lag_ns, passed_ns / FOLLOWED_IN);
	s->wall_ns += (uint64_t)(passed_ns + followed_ns);
	return lag_ns - followed_ns;
}

static uint64_t steady_monotonic_ns(void *context)
{
	const struct steady_time *s = context;
	return time_monotonic_ns(s->machine);
}

static uint64_t steady_boot_ns(void *context)
{
	const struct steady_time *s = context;
	return time_boot_ns(s->machine);
}

static uint64_t steady_wall_ns(void *context)
{
	struct steady_time *s = context;
	pthread_mutex_lock(&s->lock);
	(void)steady_step(s);
	uint64_t wall_ns = s->wall_ns;
	pthread_mutex_unlock(&s->lock);
	return wall_ns;
}

int64_t steady_time_lag_ns(struct steady_time *s)
{
	pthread_mutex_lock(&s->lock);
	int64_t lag_ns = steady_step(s);
	pthread_mutex_unlock(&s->lock);
	return lag_ns;
}

struct time_source steady_time_source(struct steady_time *s)
{
	return (struct time_source){.monotonic_ns = steady_monotonic_ns,
		.wall_ns = steady_wall_ns,
		.boot_ns = steady_boot_ns,
		.context = s};
}

static struct steady_time of_process = STEADY_TIME(&time_source_real);

const struct time_source time_source_steady = {.monotonic_ns = steady_monotonic_ns,
	.wall_ns = steady_wall_ns,
	.boot_ns = steady_boot_ns,
	.context = &of_process};

int64_t time_source_steady_lag_ns(void)
{
	return steady_time_lag_ns(&of_process);
}
