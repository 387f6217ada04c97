// Memory for what ends together: pieces are taken one behind the other, and given back all at once.
#pragma once
#include "state/base/array.h"

struct arena_block;

struct arena {             // zeros: nothing is taken yet
	uint8_t *at, *end; // what is left of the newest block
	struct arena_block *newest;
	uint8_t *first; // lent; NULL: none
};

// Lends memory for the first pieces, which is aligned for anything and outlives them.
void arena_begin(struct arena *, void *memory, size_t bytes);

// Pieces are aligned for anything. The first one is as it was left by others.
void *arena_room(struct arena *, size_t bytes);
void *arena_take(struct arena *, size_t bytes); // zeroed
// A larger piece that begins as this one, which is given up, does.
void *arena_widen(struct arena *, const void *piece, size_t bytes, size_t wanted);
// Room for one more in an array whose room doubles.
#define ARENA_GROW(arena, items, count, room)                                              \
	do {                                                                               \
		if ((count) == (room)) {                                                   \
			(items) = arena_widen((arena), (items), (count) * sizeof *(items), \
				(2 * (size_t)(room) + 8) * sizeof *(items));               \
			(room) = 2 * (room) + 8;                                           \
		}                                                                          \
	} while (0)
// As map_item(), of a list whose items are taken here alone, and whose new name is not copied.
void *arena_map_item(struct arena *, struct array *, size_t bytes_each, const char *name);
// Ends all pieces; the newest block is kept for others, or what was lent if it was enough.
void arena_clear(struct arena *);
void arena_release(struct arena *);
