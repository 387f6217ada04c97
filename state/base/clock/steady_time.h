// A time of day that never jumps. Deadlines, ages and ends of tokens are compared with it, and a machine's clock that
// is set wrong, or right, must not let a year pass at once.
//
// It begins at the wall clock and goes on as the machine's uptime does. Where the wall clock is elsewhere it is
// followed, by an eighth of the time that passes: a second is made up for in eight, a year in eight years. It never
// goes back.
#pragma once
#include "state/base/time_source.h"
#include <pthread.h>
#include <stdbool.h>

struct steady_time {
	const struct time_source *machine;
	pthread_mutex_t lock; // guards what follows
	bool has_begun;
	uint64_t boot_ns, wall_ns; // when it was last asked, and what it said
};
// The source's context is the struct, which outlives it; the machine's clock as well. Any thread.
#define STEADY_TIME(source)                                            \
	{                                                              \
		.machine = (source), .lock = PTHREAD_MUTEX_INITIALIZER \
	}
struct time_source steady_time_source(struct steady_time *);
// How far the machine's wall clock is ahead of it; negative: behind.
int64_t steady_time_lag_ns(struct steady_time *);

// That of this process over time_source_real; it begins when it is first asked.
extern const struct time_source time_source_steady;
int64_t time_source_steady_lag_ns(void);
