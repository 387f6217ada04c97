#include "placement/direct/fit_pool.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>

void fit_pool_init(struct fit_pool *p, size_t block_bytes)
{
	*p = (struct fit_pool){.block_bytes = block_bytes};
}

void fit_pool_release(struct fit_pool *p)
{
	for (uint32_t i = 0; i < p->chunk_count; i++)
		memory_unmap(p->chunks[i], p->block_bytes * FIT_POOL_CHUNK_BLOCKS);
	free(p->chunks);
	free(p->returned);
	*p = (struct fit_pool){.block_bytes = p->block_bytes};
}

uint32_t fit_pool_take(struct fit_pool *p)
{
	if (p->returned_count > 0)
		return p->returned[--p->returned_count];
	if (p->made == p->chunk_count * FIT_POOL_CHUNK_BLOCKS) {
		p->chunks = memory_resize(p->chunks, (p->chunk_count + 1) * sizeof *p->chunks);
		uint8_t *chunk = memory_map(p->block_bytes * FIT_POOL_CHUNK_BLOCKS);
		CHECK(chunk != NULL); // the address space is exhausted
		p->chunks[p->chunk_count++] = chunk;
	}
	return p->made++;
}

void fit_pool_give(struct fit_pool *p, uint32_t block)
{
	if (p->returned_count == p->returned_room) {
		p->returned_room = p->returned_room ? 2 * p->returned_room : 64;
		p->returned = memory_resize(p->returned, p->returned_room * sizeof *p->returned);
	}
	p->returned[p->returned_count++] = block;
}
