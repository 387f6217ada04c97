#include "placement/direct/slot_queue.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 1024u

void slot_queue_release(struct slot_queue *q)
{
	free(q->slots);
	free(q->is_waiting);
	*q = (struct slot_queue){0};
}

static void make_bit(struct slot_queue *q, uint32_t slot)
{
	if (slot / 64 < q->words)
		return;
	uint32_t words = slot / 64 + 1;
	words = words > 2 * q->words ? words : 2 * q->words;
	q->is_waiting = memory_resize(q->is_waiting, words * sizeof q->is_waiting[0]);
	memset(q->is_waiting + q->words, 0, (words - q->words) * sizeof q->is_waiting[0]);
	q->words = words;
}

// The room of those that were taken is used again before more is taken, so it does not grow with what ever waited.
static void make_room(struct slot_queue *q)
{
	if (q->count < q->room)
		return;
	q->count -= q->done;
	if (q->done > 0)
		memmove(q->slots, q->slots + q->done, q->count * sizeof q->slots[0]);
	q->done = 0;
	if (q->count <= q->room / 2 && q->room > 0)
		return;
	q->room = q->room ? 2 * q->room : ROOM_FIRST;
	q->slots = memory_resize(q->slots, q->room * sizeof q->slots[0]);
}

void slot_queue_add(struct slot_queue *q, uint32_t slot)
{
	make_bit(q, slot);
	uint64_t bit = 1ull << slot % 64;
	if (q->is_waiting[slot / 64] & bit)
		return;
	make_room(q);
	q->is_waiting[slot / 64] |= bit;
	q->slots[q->count++] = slot;
}

uint32_t slot_queue_take(struct slot_queue *q)
{
	CHECK(q->done < q->count);
	uint32_t slot = q->slots[q->done++];

	q->is_waiting[slot / 64] &= ~(1ull << slot % 64);
	if (q->done == q->count)
		q->done = q->count = 0;
	return slot;
}
