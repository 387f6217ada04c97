// Batches as the log has them: packed with zstd, where that makes them smaller. Etcd sends, writes and keeps each byte
// several times, and its gateway makes three bytes four; what placements are made of repeats itself. One thread.
#pragma once
#include <stdint.h>

struct packing;

struct packing *packing_create(void);
void packing_destroy(struct packing *); // NULL is allowed
// What is to be kept of a batch, and *size, its bytes: the batch itself where packing gains nothing, else less, which
// is valid until the next call. The same batch gives the same bytes again.
const void *packing_pack(struct packing *, const void *batch, uint32_t bytes, uint32_t *size);
// The batch of so many bytes again, valid until the next call; NULL: these bytes are not of one.
const uint8_t *packing_unpack(
	struct packing *, const void *kept, uint32_t size, uint32_t batch_bytes);
