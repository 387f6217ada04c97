#include "tools/api/audit/audit_ring.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct audit_ring {
	_Atomic uint64_t head;
	_Atomic uint32_t listeners;
	pthread_mutex_t lock; // guards what follows; only its holder moves the head
	struct audit_note *notes;
};

struct audit_ring *audit_ring_create(void)
{
	struct audit_ring *ring = memory_take(sizeof *ring);
	ring->notes = memory_map(AUDIT_RING_LINES * sizeof ring->notes[0]);
	CHECK(pthread_mutex_init(&ring->lock, NULL) == 0);
	if (ring->notes)
		return ring;
	audit_ring_destroy(ring);
	return NULL;
}

void audit_ring_destroy(struct audit_ring *ring)
{
	if (!ring)
		return;
	if (ring->notes)
		memory_unmap(ring->notes, AUDIT_RING_LINES * sizeof ring->notes[0]);
	pthread_mutex_destroy(&ring->lock);
	free(ring);
}

static struct audit_note *note_at(const struct audit_ring *ring, uint64_t number)
{
	return &ring->notes[number % AUDIT_RING_LINES];
}

static void copy_line(struct audit_note *note, const struct audit_line *line)
{
	note->time_ns = line->time_ns;
	note->route = line->route;
	note->status = line->status;
	snprintf(note->who, sizeof note->who, "%s", line->who);
	snprintf(note->from, sizeof note->from, "%s", line->from);
	snprintf(note->asked, sizeof note->asked, "%s", line->asked);
}

bool audit_ring_add(struct audit_ring *ring, const struct audit_line *line, uint64_t index)
{
	CHECK(pthread_mutex_lock(&ring->lock) == 0);
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	uint64_t before = head ? note_at(ring, head - 1)->index : 0;
	struct audit_note *note = note_at(ring, head);
	copy_line(note, line);
	// Another request may have looked at the state earlier and come here later.
	note->index = index > before ? index : before;
	atomic_store_explicit(&ring->head, head + 1, memory_order_release);
	CHECK(pthread_mutex_unlock(&ring->lock) == 0);
	return atomic_load(&ring->listeners) > 0;
}

uint64_t audit_ring_head(const struct audit_ring *ring)
{
	return atomic_load_explicit(&ring->head, memory_order_acquire);
}

static uint64_t oldest(uint64_t head)
{
	return head > AUDIT_RING_LINES ? head - AUDIT_RING_LINES : 0;
}

bool audit_ring_read(struct audit_ring *ring, uint64_t number, struct audit_note *note)
{
	CHECK(pthread_mutex_lock(&ring->lock) == 0);
	uint64_t head = audit_ring_head(ring);
	bool has = number < head && number >= oldest(head);
	if (has)
		*note = *note_at(ring, number);
	CHECK(pthread_mutex_unlock(&ring->lock) == 0);
	return has;
}

uint64_t audit_ring_find(struct audit_ring *ring, uint64_t index)
{
	CHECK(pthread_mutex_lock(&ring->lock) == 0);
	uint64_t last = audit_ring_head(ring), first = oldest(last);
	while (first < last) {
		uint64_t middle = first + (last - first) / 2;
		if (note_at(ring, middle)->index < index)
			first = middle + 1;
		else
			last = middle;
	}
	CHECK(pthread_mutex_unlock(&ring->lock) == 0);
	return first;
}

void audit_ring_listen(struct audit_ring *ring, bool on)
{
	atomic_fetch_add(&ring->listeners, on ? 1u : -1u);
}
