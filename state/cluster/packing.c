#include "state/cluster/packing.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdbool.h>
#include <stdlib.h>
#include <zstd.h>

// The fastest of those that zstd recommends: a batch waits for it.
#define PACKING_LEVEL 1

struct packing {
	ZSTD_CCtx *packer;
	ZSTD_DCtx *unpacker;
	void *bytes;
	size_t capacity;
};

struct packing *packing_create(void)
{
	struct packing *p = memory_take(sizeof *p);

	p->packer = ZSTD_createCCtx();
	p->unpacker = ZSTD_createDCtx();
	CHECK(p->packer && p->unpacker);
	return p;
}

void packing_destroy(struct packing *p)
{
	if (!p)
		return;
	ZSTD_freeCCtx(p->packer);
	ZSTD_freeDCtx(p->unpacker);
	free(p->bytes);
	free(p);
}

static void make_room(struct packing *p, size_t bytes)
{
	if (p->capacity < bytes) {
		p->bytes = memory_resize(p->bytes, bytes);
		p->capacity = bytes;
	}
}

const void *packing_pack(struct packing *p, const void *batch, uint32_t bytes, uint32_t *size)
{
	CHECK(bytes > 0);
	make_room(p, ZSTD_compressBound(bytes));
	size_t packed =
		ZSTD_compressCCtx(p->packer, p->bytes, p->capacity, batch, bytes, PACKING_LEVEL);
	CHECK(!ZSTD_isError(packed));
	bool is_smaller = packed < bytes;
	*size = is_smaller ? (uint32_t)packed : bytes;
	return is_smaller ? p->bytes : batch;
}

const uint8_t *packing_unpack(
	struct packing *p, const void *kept, uint32_t size, uint32_t batch_bytes)
{
	if (size == batch_bytes)
		return kept;
	make_room(p, batch_bytes);
	size_t unpacked = ZSTD_decompressDCtx(p->unpacker, p->bytes, batch_bytes, kept, size);
	return !ZSTD_isError(unpacked) && unpacked == batch_bytes ? p->bytes : NULL;
}
