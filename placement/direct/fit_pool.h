// Blocks of one size by number, in big chunks that never move. One thread.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Big enough for huge pages; untouched pages take no memory.
#define FIT_POOL_CHUNK_BLOCKS 8192u

struct fit_pool {
	uint8_t **chunks;
	uint32_t chunk_count;
	size_t block_bytes; // a multiple of a cache line
	uint32_t made;      // blocks ever handed out
	uint32_t *returned; // stack of returned blocks
	uint32_t returned_count, returned_room;
};

void fit_pool_init(struct fit_pool *, size_t block_bytes);
void fit_pool_release(struct fit_pool *);
uint32_t fit_pool_take(struct fit_pool *); // contents are undefined
void fit_pool_give(struct fit_pool *, uint32_t block);

static inline void *fit_pool_at(const struct fit_pool *p, uint32_t block)
{
	return p->chunks[block / FIT_POOL_CHUNK_BLOCKS] +
	       block % FIT_POOL_CHUNK_BLOCKS * p->block_bytes;
}
