// The unit of the log. All integers little-endian.
//	 0 u32 magic        0x54425242 ("BRBT")
//	 4 u16 version      1
//	 6 u16 zero
//	 8 u64 first_index  state index of its first change
//	16 u32 entries      that follow
//	20 u32 indexes      how far they advance the state's index together
//	24 u32 bytes        of the whole batch
//	28 u32 checksum     CRC-32C of bytes 0 … 27 and of everything from 32 on
//	32 entries (entry.c)
#include "state/log/batch.h"
#include "state/base/crc32c.h"
#include "state/base/error.h"

#define BATCH_MAGIC 0x54425242u
#define BATCH_VERSION 1u

void batch_seal(struct bytes_writer *w, const struct batch_header *header)
{
	struct bytes_writer head = bytes_writer_over(w->data, BATCH_HEADER_BYTES);

	bytes_put_u32(&head, BATCH_MAGIC);
	bytes_put_u16(&head, BATCH_VERSION);
	bytes_put_u16(&head, 0);
	bytes_put_u64(&head, header->first_index);
	bytes_put_u32(&head, header->entries);
	bytes_put_u32(&head, header->indexes);
	bytes_put_u32(&head, (uint32_t)w->size);
	uint32_t sum = crc32c(0, w->data, BATCH_HEADER_BYTES - 4);
	sum = crc32c(sum, w->data + BATCH_HEADER_BYTES, w->size - BATCH_HEADER_BYTES);
	bytes_put_u32(&head, sum);
}

int batch_open(struct bytes_reader *r, struct batch_header *header)
{
	uint32_t magic = bytes_take_u32(r);
	uint16_t version = bytes_take_u16(r);
	uint16_t zero = bytes_take_u16(r);
	header->first_index = bytes_take_u64(r);
	header->entries = bytes_take_u32(r);
	header->indexes = bytes_take_u32(r);
	uint32_t size = bytes_take_u32(r);
	uint32_t stored = bytes_take_u32(r);

	if (r->failed || magic != BATCH_MAGIC)
		return -ERROR_CORRUPT;
	if (version != BATCH_VERSION)
		return -ERROR_VERSION;
	uint32_t sum = crc32c(0, r->data, BATCH_HEADER_BYTES - 4);
	sum = crc32c(sum, r->data + BATCH_HEADER_BYTES, r->size - BATCH_HEADER_BYTES);
	return zero != 0 || size != r->size || sum != stored ? -ERROR_CORRUPT : 0;
}
