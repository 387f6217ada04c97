// A binary heap whose items know their position, so that any of them can be removed. Items embed a heap_node and
// belong to the caller.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct heap_node {
	uint32_t place; // 1 + position; 0: in no heap
};

struct heap {
	struct heap_node **items;
	uint32_t count, capacity;
	bool (*before)(const struct heap_node *, const struct heap_node *); // a strict order
};

void heap_init(struct heap *, bool (*before)(const struct heap_node *, const struct heap_node *));
void heap_free(struct heap *); // the items not
void heap_push(struct heap *, struct heap_node *);
struct heap_node *heap_pop(struct heap *); // NULL when empty
void heap_remove(struct heap *, struct heap_node *);

static inline struct heap_node *heap_top(const struct heap *h)
{
	return h->count > 0 ? h->items[0] : (struct heap_node *)0;
}
static inline bool heap_holds(const struct heap_node *n)
{
	return n->place != 0;
}
