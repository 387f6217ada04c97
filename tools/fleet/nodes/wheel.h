// When each node is due: one list per tick, linked through an array, so that a node costs four bytes and
// every operation is constant. A node is in the wheel at most once.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define WHEEL_TICKS 8192u
#define WHEEL_TICK_MS 4u
#define WHEEL_NONE 0xffffffffu

struct wheel {
	uint32_t *next; // by node
	uint32_t heads[WHEEL_TICKS];
	uint64_t tick; // everything before it has been popped
};

void wheel_create(struct wheel *, uint32_t nodes, uint64_t now_ms);
void wheel_destroy(struct wheel *);
void wheel_widen(struct wheel *, uint32_t nodes); // for more nodes than it was created for
// Beyond the wheel's horizon (32 s) a node comes out at the horizon; the caller looks at its due time and adds
// it again. A time in the past comes out at the next pop.
void wheel_add(struct wheel *, uint32_t node, uint64_t due_ms);
// A node whose tick has come, or WHEEL_NONE.
uint32_t wheel_pop(struct wheel *, uint64_t now_ms);
