// Small pieces of memory for what there are millions of: records of the tables and what belongs to them. A piece takes
// its size and nothing beside it, at a multiple of 8. The room of one that is given back goes to the next of about that
// size, whichever thread takes it; the heap would keep it for the thread that took it first. Memory is kept for the
// next pieces, of whatever size once a whole slab is free. For any thread.
#pragma once
#include <stddef.h>

void *slab_take(size_t bytes); // zeroed; as memory_take
// The same for what is given back while others of its size stay: in the end nothing of its memory is left with them.
void *slab_take_brief(size_t bytes);
// bytes: as it was taken. NULL is fine.
void slab_give(void *, size_t bytes);
// Returns to the system what stood free as a whole ever since the last call. Meant to be called once in a while.
void slab_trim(void);
// What a piece of so many bytes takes, and what all pieces that were taken and not given back do.
size_t slab_bytes(size_t bytes);
size_t slab_bytes_taken(void);
