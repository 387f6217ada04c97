// The only clock. Every user of time is handed one, so that a test or a simulation can stand still.
#pragma once
#include <stdint.h>

struct time_source {
	uint64_t (*monotonic_ns)(void *context); // never goes back; starts anywhere
	uint64_t (*wall_ns)(void *context);      // since 1970, UTC
	void *context;
	// As monotonic_ns, and goes on while the machine sleeps. NULL: there is no difference.
	uint64_t (*boot_ns)(void *context);
};

// CLOCK_MONOTONIC, CLOCK_REALTIME and CLOCK_BOOTTIME. Static; any thread.
extern const struct time_source time_source_real;

// A clock that moves only when told. Not for several threads at once.
struct manual_time {
	uint64_t monotonic_ns;
	uint64_t wall_ns;
};
struct time_source time_source_manual(struct manual_time *);
void manual_time_advance_ms(struct manual_time *, uint64_t ms);

static inline uint64_t time_monotonic_ns(const struct time_source *t)
{
	return t->monotonic_ns(t->context);
}

static inline uint64_t time_boot_ns(const struct time_source *t)
{
	return t->boot_ns ? t->boot_ns(t->context) : time_monotonic_ns(t);
}

static inline uint64_t time_wall_ns(const struct time_source *t)
{
	return t->wall_ns(t->context);
}
