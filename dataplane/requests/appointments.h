// When nodes that were refused for want of room shall come again. In a storm each is given a time of its own, one after
// the other, as fast as registrations are carried out, so that all of them come back when there is room and none comes
// in vain. Owned by one worker.
#pragma once
#include <stdint.h>

// The first estimate of one registration's time, and bounds of it.
#define APPOINTMENT_EACH_NS_FIRST 30000u
#define APPOINTMENT_EACH_NS_MIN 1000u
#define APPOINTMENT_EACH_NS_MAX 1000000u
// An answer that fewer were ahead of tells of the disk, not of what a registration takes.
#define APPOINTMENT_AHEAD_MIN 256u
#define APPOINTMENT_MS_MIN 10u
// However many wait: a controller that has become faster, or is another one, is not waited for longer.
#define APPOINTMENT_MS_MAX 60000u

struct appointments {
	uint64_t each_ns; // what one registration takes, smoothed
	uint64_t next_ns; // the next one that is free
};

void appointments_begin(struct appointments *);
// A registration was answered so long after it was handed over, with so many others ahead of it.
void appointments_served(struct appointments *, uint64_t took_ns, uint32_t ahead);
// Makes one behind all that were made and the pending requests; how long it is until then.
uint32_t appointments_make_ms(struct appointments *, uint64_t now_ns, uint32_t pending);
