// What schedulers lately decided about failed allocations (row C29): the newest decision on each is kept for a minute,
// since gauges that name allocations would otherwise grow without end.
#pragma once
#include "placement/scheduler/common/planner.h"
#include "state/base/limits.h"
#include "state/base/time_units.h"

// Gauges kept; the oldest makes room.
#define RESCHEDULES_MAX 256u
#define RESCHEDULES_KEPT_NS (60ll * NS_PER_S)

struct reschedule_gauge {
	struct uuid allocation, follow_up; // follow_up zero: replaced at once
	char job[NAME_BYTES_MAX + 1], namespace_name[NAME_BYTES_MAX + 1], group[NAME_BYTES_MAX + 1];
	int64_t attempted, limit, wait_until_ns;
	uint64_t noted_ns; // monotonic
};

struct reschedules;

struct reschedules *reschedules_create(void);
void reschedules_destroy(struct reschedules *); // NULL is fine
// Any thread.
void reschedules_note(struct reschedules *, const struct reschedule_note *, uint64_t now_ns);
// Copies the gauges that are not too old, at most RESCHEDULES_MAX; returns their number.
uint32_t reschedules_read(
	struct reschedules *, uint64_t now_ns, struct reschedule_gauge gauges[RESCHEDULES_MAX]);
