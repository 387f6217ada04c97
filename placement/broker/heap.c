#include "placement/broker/heap.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>
#include <string.h>

void heap_init(struct heap *h, bool (*before)(const struct heap_node *, const struct heap_node *))
{
	*h = (struct heap){.before = before};
}

void heap_free(struct heap *h)
{
	free(h->items);
	*h = (struct heap){.before = h->before};
}

static void put_at(struct heap *h, uint32_t at, struct heap_node *n)
{
	h->items[at] = n;
	n->place = at + 1;
}

static void rise(struct heap *h, uint32_t at, struct heap_node *n)
{
	while (at > 0) {
		uint32_t parent = (at - 1) / 2;
		if (!h->before(n, h->items[parent]))
			break;
		put_at(h, at, h->items[parent]);
		at = parent;
	}
	put_at(h, at, n);
}

static void sink(struct heap *h, uint32_t at, struct heap_node *n)
{
	for (uint32_t child; (child = 2 * at + 1) < h->count; at = child) {
		if (child + 1 < h->count && h->before(h->items[child + 1], h->items[child]))
			child++;
		if (!h->before(h->items[child], n))
			break;
		put_at(h, at, h->items[child]);
	}
	put_at(h, at, n);
}

void heap_push(struct heap *h, struct heap_node *n)
{
	CHECK(n->place == 0);
	if (h->count == h->capacity) {
		h->capacity = h->capacity ? 2 * h->capacity : 16;
		h->items = memory_resize(h->items, h->capacity * sizeof(struct heap_node *));
	}
	rise(h, h->count++, n);
}

struct heap_node *heap_pop(struct heap *h)
{
	struct heap_node *top = heap_top(h);

	if (top)
		heap_remove(h, top);
	return top;
}

void heap_remove(struct heap *h, struct heap_node *n)
{
	uint32_t at = n->place - 1;

	CHECK(at < h->count && h->items[at] == n);
	n->place = 0;
	struct heap_node *last = h->items[--h->count];
	if (last == n)
		return;
	if (at > 0 && h->before(last, h->items[(at - 1) / 2]))
		rise(h, at, last);
	else
		sink(h, at, last);
}
