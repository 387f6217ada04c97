// A clock that moves only when told, for several threads at once. Both of its times are the same.
#pragma once
#include "state/base/time_source.h"
#include "state/base/time_units.h"
#include <stdatomic.h>

struct shared_time {
	_Atomic uint64_t ns;
};

static inline uint64_t shared_time_ns(void *context)
{
	return atomic_load(&((struct shared_time *)context)->ns);
}

static inline void shared_time_advance_ms(struct shared_time *t, uint64_t ms)
{
	atomic_fetch_add(&t->ns, ms * NS_PER_MS);
}
