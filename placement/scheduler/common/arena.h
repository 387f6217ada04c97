// Memory for what ends together: pieces are taken one behind the other, and given back all at once.
#pragma once
#include "state/base/array.h"

struct arena_block;

struct arena {             // zeros: nothing is taken yet
	uint8_t *at, *end; // what is left of the newest block
	struct arena_block *newest;
};

// Pieces are aligned for anything. The first one is as it was left by others.
void *arena_room(struct arena *, size_t bytes);
void *arena_take(struct arena *, size_t bytes); // zeroed
// As map_item(), of a list whose items are taken here alone, and whose new name is not copied.
void *arena_map_item(struct arena *, struct array *, size_t bytes_each, const char *name);
// Ends all pieces; the newest block is kept for others.
void arena_clear(struct arena *);
void arena_release(struct arena *);
