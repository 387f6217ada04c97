// Wakes a worker that rests when one of its requests is finished. Whoever finishes one rings; that costs a look at a
// flag while the worker is awake.
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct doorbell {
	int event; // an eventfd, the worker's; -1: there is none, and whoever rests hears nothing
	_Atomic bool rests;
};

void doorbell_open(struct doorbell *);
void doorbell_close(struct doorbell *);
// Any thread, after what it has for the worker is where the worker looks.
void doorbell_ring(struct doorbell *);
// The worker lies down: from here on it is rung for. Then it looks whether something is there, and only if not, sleeps.
void doorbell_lie_down(struct doorbell *);
// Sleeps until somebody rings, until packets (a descriptor; -1: none) can be read, or for the time. The worker is up
// again then. Returns whether there are packets to read.
bool doorbell_sleep(struct doorbell *, int packets, uint32_t longest_us);
void doorbell_get_up(struct doorbell *);
