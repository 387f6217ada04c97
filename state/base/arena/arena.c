#include "state/base/arena/arena.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES 16u
#define LIST_FIRST 4u

struct arena_block {
	struct arena_block *before;
	size_t bytes; // with this head
};
_Static_assert(sizeof(struct arena_block) == PIECE_BYTES, "the first piece is aligned");

void arena_begin(struct arena *a, void *memory, size_t bytes)
{
	CHECK((uintptr_t)memory % PIECE_BYTES == 0 && bytes % PIECE_BYTES == 0);
	*a = (struct arena){.at = memory, .end = (uint8_t *)memory + bytes, .first = memory};
}

// Few pieces fit into a first block of what malloc() has at hand; blocks grow with their number.
static void add_block(struct arena *a, size_t least)
{
	size_t bytes = a->newest ? 2 * a->newest->bytes : MEMORY_AT_HAND_BYTES;

	while (bytes < sizeof(struct arena_block) + least)
		bytes *= 2;
	struct arena_block *block = memory_resize(NULL, bytes);
	CHECK(bytes - sizeof *block >= least);
	*block = (struct arena_block){a->newest, bytes};
	a->newest = block;
	a->at = (uint8_t *)(block + 1);
	a->end = (uint8_t *)block + bytes;
}

void *arena_room(struct arena *a, size_t bytes)
{
	bytes = (bytes + PIECE_BYTES - 1) / PIECE_BYTES * PIECE_BYTES;
	if (bytes >= (size_t)(a->end - a->at)) // so that zero bytes, too, have a block
		add_block(a, bytes);
	void *piece = a->at;
	a->at += bytes;
	return piece;
}

void *arena_take(struct arena *a, size_t bytes)
{
	return memset(arena_room(a, bytes), 0, bytes);
}

void *arena_widen(struct arena *a, const void *piece, size_t bytes, size_t wanted)
{
	CHECK(bytes <= wanted);
	void *wider = arena_room(a, wanted);
	if (bytes > 0)
		memcpy(wider, piece, bytes);
	return wider;
}

// A list has room for LIST_FIRST items, or for the power of two that is not below its count.
static void make_room(struct arena *a, struct array *list, size_t bytes_each)
{
	bool is_full = list->count == 0 ||
		       (list->count >= LIST_FIRST && (list->count & (list->count - 1)) == 0);
	if (!is_full)
		return;
	size_t room = list->count ? 2 * (size_t)list->count : LIST_FIRST;
	list->items = arena_widen(a, list->items, list->count * bytes_each, room * bytes_each);
}

// Names often come in order.
static bool is_behind_all(const struct array *map, size_t bytes_each, const char *name)
{
	const char *items = map->items;

	return map->count == 0 ||
	       strcmp(*(char *const *)(items + (map->count - 1) * bytes_each), name) < 0;
}

void *arena_map_item(struct arena *a, struct array *map, size_t bytes_each, const char *name)
{
	uint32_t at = map->count;

	if (!is_behind_all(map, bytes_each, name) && map_find(map, bytes_each, name, &at))
		return (char *)map->items + at * bytes_each;
	make_room(a, map, bytes_each);
	char *item = (char *)map->items + at * bytes_each;
	memmove(item + bytes_each, item, (map->count++ - at) * bytes_each);
	memset(item, 0, bytes_each);
	*(const char **)item = name;
	CHECK(at < map->count);
	return item;
}

static void free_blocks(struct arena_block *newest)
{
	while (newest) {
		CHECK(newest->bytes >= MEMORY_AT_HAND_BYTES);
		struct arena_block *before = newest->before;
		free(newest);
		newest = before;
	}
}

void arena_clear(struct arena *a)
{
	if (!a->newest) {
		a->at = a->first;
		return;
	}
	free_blocks(a->newest->before);
	a->newest->before = NULL;
	a->at = (uint8_t *)(a->newest + 1);
	CHECK(a->at < a->end);
}

void arena_release(struct arena *a)
{
	free_blocks(a->newest);
	*a = (struct arena){0};
}
