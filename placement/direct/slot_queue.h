// Slots that wait, each once, in the order in which they came. All zero: none waits. One thread.
#pragma once
#include <stdint.h>

struct slot_queue {
	uint32_t *slots; // done … count-1 wait
	uint32_t done, count, room;
	uint64_t *is_waiting; // one bit per slot
	uint32_t words;
};

void slot_queue_release(struct slot_queue *);
void slot_queue_add(struct slot_queue *, uint32_t slot);
static inline uint32_t slot_queue_waiting(const struct slot_queue *q)
{
	return q->count - q->done;
}
// The one that waits behind so many others.
static inline uint32_t slot_queue_behind(const struct slot_queue *q, uint32_t others)
{
	return q->slots[q->done + others];
}
// Takes the first one, which may be added again.
uint32_t slot_queue_take(struct slot_queue *);
