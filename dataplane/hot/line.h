// Relaxed access to the plain fields of a node's line and to its last-heard word. Mostly one worker uses a line, but
// flows may move: then two workers meet here and must see whole words. Costs nothing on any processor.
#pragma once
#include "state/tables/node_table.h"

#define LINE_GET(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define LINE_SET(field, value) __atomic_store_n(&(field), (value), __ATOMIC_RELAXED)

static inline void last_heard_set(const struct node_table *table, uint32_t slot, uint32_t ms)
{
	atomic_store_explicit(&table->last_heard_ms[slot], ms, memory_order_relaxed);
}

static inline uint32_t last_heard_get(const struct node_table *table, uint32_t slot)
{
	return atomic_load_explicit(&table->last_heard_ms[slot], memory_order_relaxed);
}

// Steps over NODE_NOT_ARMED, which is not a time.
static inline uint32_t clock_value(uint32_t ms)
{
	return ms == NODE_NOT_ARMED ? NODE_NOT_ARMED + 1 : ms;
}
