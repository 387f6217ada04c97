#include "tools/fleet/nodes/wheel.h"
#include "state/base/memory.h"
#include <stdlib.h>
#include <string.h>

void wheel_create(struct wheel *w, uint32_t nodes, uint64_t now_ms)
{
	w->next = memory_take_array(nodes, sizeof *w->next);
	memset(w->heads, 0xff, sizeof w->heads);
	w->tick = now_ms / WHEEL_TICK_MS;
}

void wheel_widen(struct wheel *w, uint32_t nodes)
{
	w->next = memory_resize(w->next, nodes * sizeof *w->next);
}

void wheel_destroy(struct wheel *w)
{
	free(w->next);
	w->next = NULL;
}

void wheel_add(struct wheel *w, uint32_t node, uint64_t due_ms)
{
	// Rounds up: a node never comes out before it is due.
	uint64_t tick = (due_ms + WHEEL_TICK_MS - 1) / WHEEL_TICK_MS;
	if (tick < w->tick)
		tick = w->tick;
	if (tick - w->tick >= WHEEL_TICKS)
		tick = w->tick + WHEEL_TICKS - 1;
	uint32_t *head = &w->heads[tick % WHEEL_TICKS];
	w->next[node] = *head;
	*head = node;
}

uint32_t wheel_pop(struct wheel *w, uint64_t now_ms)
{
	uint64_t now = now_ms / WHEEL_TICK_MS;
	while (w->tick <= now) {
		uint32_t *head = &w->heads[w->tick % WHEEL_TICKS];
		uint32_t node = *head;
		if (node != WHEEL_NONE) {
			*head = w->next[node];
			return node;
		}
		if (w->tick == now)
			break;
		w->tick++;
	}
	return WHEEL_NONE;
}
