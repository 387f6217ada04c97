#include "state/tables/nodes/node_feed.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/tables/tables.h"

// A reader that is further behind than this reads a whole fleet faster than the changes.
#define FEED_LEAST 4096u
#define FEED_MOST (1u << 20)

bool node_feed_create(struct node_feed *f, uint32_t slots_max)
{
	f->room = FEED_LEAST;
	while (f->room < slots_max && f->room < FEED_MOST)
		f->room *= 2;
	f->slots = memory_map((size_t)f->room * sizeof f->slots[0]);
	CHECK((f->room & (f->room - 1)) == 0);
	return f->slots != NULL;
}

void node_feed_destroy(struct node_feed *f)
{
	memory_unmap((void *)f->slots, (size_t)f->room * sizeof f->slots[0]);
}

void node_feed_note(struct node_feed *f, uint32_t slot)
{
	uint64_t at = atomic_load_explicit(&f->head, memory_order_relaxed);

	// Readers learn that an old entry goes before it is gone.
	atomic_store_explicit(&f->begun, at + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&f->slots[at & (f->room - 1)], slot, memory_order_relaxed);
	atomic_store_explicit(&f->head, at + 1, memory_order_release);
}

uint64_t node_feed_head(const struct node_feed *f)
{
	return atomic_load_explicit(&f->head, memory_order_acquire);
}

uint32_t node_feed_read(const struct node_feed *f, uint64_t *seen, uint32_t *slots, uint32_t wanted)
{
	uint64_t head = node_feed_head(f), from = *seen;

	CHECK(from <= head);
	uint32_t count = head - from < wanted ? (uint32_t)(head - from) : wanted;
	for (uint32_t i = 0; i < count; i++)
		slots[i] = atomic_load_explicit(
			&f->slots[(from + i) & (f->room - 1)], memory_order_relaxed);
	atomic_thread_fence(memory_order_acquire);
	if (atomic_load_explicit(&f->begun, memory_order_relaxed) - from > f->room)
		return NODE_FEED_LOST;
	*seen = from + count;
	return count;
}

uint64_t state_node_feed_head(const struct state *state)
{
	return node_feed_head(&state->node_feed);
}

uint32_t state_node_feed_read(
	const struct state *state, uint64_t *seen, uint32_t *slots, uint32_t wanted)
{
	return node_feed_read(&state->node_feed, seen, slots, wanted);
}
