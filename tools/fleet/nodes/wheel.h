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
	uint64_t tick; // all earlier ticks have been popped
};

void wheel_create(struct wheel *, uint32_t nodes, uint64_t now_ms);
void wheel_destroy(struct wheel *);
void wheel_widen(struct wheel *, uint32_t nodes); // for more nodes than it was created for
// A node that is due beyond the wheel's horizon (32 s) comes out at the horizon; the caller checks its due time and
// adds it again. A node that is already due comes out at the next pop.
void wheel_add(struct wheel *, uint32_t node, uint64_t due_ms);
// Pops a node whose tick has come, or returns WHEEL_NONE.
uint32_t wheel_pop(struct wheel *, uint64_t now_ms);
