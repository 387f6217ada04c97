// A segment of the log: a file of fixed size, written from its beginning to its end and then, when nothing needs it any
// more, from the beginning again.
//
// Head, at byte 0, written once:
//	u64 magic "BERTHSEG"
//	u32 version of the log's form, 2
//	u32 zero
//	u64 salt, by chance
//	u64 size of the file
//	u32 zero
//	u32 CRC-32C of the 36 bytes above
//
// Records, each at a multiple of 4096, the first at 4096:
//	u32 magic "BREC"
//	u32 entries: the batch ends at index first_index + entries - 1; 0: the log was closed here
//	u64 sequence of the segment: one more each time that a segment is begun
//	u64 index of the batch's first entry
//	u32 size of the batch
//	u32 CRC-32C of salt (u64), offset of the record (u64), the batch
//	u32 zero
//	u32 CRC-32C of salt (u64), offset of the record (u64), the 36 bytes above
//	the batch (state/log/batch.c), zeros up to the next multiple of 4096
//
// Numbers are little-endian. A record begins a block of its own, so that no write touches a byte that was acknowledged.
// With salt and offset in the checksums, neither what is inside of a batch nor what another file or another place held
// is ever taken for a record; with the sequence, neither is what this place held before the segment was begun again.
#include "state/store/segment_format.h"
#include "state/base/bytes.h"
#include "state/base/check.h"
#include "state/base/crc32c.h"

#define SEGMENT_MAGIC 0x4745534854524542u // "BERTHSEG"
#define RECORD_MAGIC 0x43455242u          // "BREC"

void segment_head_write(uint8_t to[static SEGMENT_HEAD_BYTES], const struct segment_head *head)
{
	struct bytes_writer w = bytes_writer_over(to, SEGMENT_HEAD_BYTES);
	bytes_put_u64(&w, SEGMENT_MAGIC);
	bytes_put_u32(&w, SEGMENT_VERSION);
	bytes_put_u32(&w, 0);
	bytes_put_u64(&w, head->salt);
	bytes_put_u64(&w, head->size);
	bytes_put_u32(&w, 0);
	bytes_put_u32(&w, crc32c(0, to, SEGMENT_HEAD_BYTES - 4));
	CHECK(!w.failed);
}

const char *segment_head_read(
	const uint8_t from[static SEGMENT_HEAD_BYTES], struct segment_head *head)
{
	struct bytes_reader r = bytes_reader_over(from, SEGMENT_HEAD_BYTES);
	uint64_t magic = bytes_take_u64(&r);
	*head = (struct segment_head){.version = bytes_take_u32(&r)};
	if (magic != SEGMENT_MAGIC)
		return "it does not begin as a segment does";
	if (head->version > SEGMENT_VERSION)
		return "it has a version that this program does not know";
	uint32_t zero = bytes_take_u32(&r);
	head->salt = bytes_take_u64(&r);
	head->size = bytes_take_u64(&r);
	zero |= bytes_take_u32(&r);
	if (bytes_take_u32(&r) != crc32c(0, from, SEGMENT_HEAD_BYTES - 4))
		return "the checksum of its head does not match";
	return head->version != SEGMENT_VERSION || zero ? "its head makes no sense" : NULL;
}

uint64_t record_bytes(uint32_t size)
{
	uint64_t bytes = RECORD_HEADER_BYTES + (uint64_t)size;
	return (bytes + SEGMENT_BLOCK_BYTES - 1) / SEGMENT_BLOCK_BYTES * SEGMENT_BLOCK_BYTES;
}

static uint32_t place_checksum(const struct record_place *place, const void *data, size_t size)
{
	uint8_t where[16];
	struct bytes_writer w = bytes_writer_over(where, sizeof where);
	bytes_put_u64(&w, place->salt);
	bytes_put_u64(&w, place->offset);
	return crc32c(crc32c(0, where, sizeof where), data, size);
}

void record_header_write(uint8_t to[static RECORD_HEADER_BYTES], const struct record_place *place,
	const struct journal_batch *batch)
{
	struct bytes_writer w = bytes_writer_over(to, RECORD_HEADER_BYTES);
	bytes_put_u32(&w, RECORD_MAGIC);
	bytes_put_u32(&w, batch->entries);
	bytes_put_u64(&w, place->sequence);
	bytes_put_u64(&w, batch->first_index);
	bytes_put_u32(&w, batch->size);
	bytes_put_u32(&w, place_checksum(place, batch->data, batch->size));
	bytes_put_u32(&w, 0);
	bytes_put_u32(&w, place_checksum(place, to, RECORD_HEADER_BYTES - 4));
	CHECK(!w.failed);
}

bool record_header_read(const uint8_t from[static RECORD_HEADER_BYTES],
	const struct record_place *place, struct record *out)
{
	struct bytes_reader r = bytes_reader_over(from, RECORD_HEADER_BYTES);
	if (bytes_take_u32(&r) != RECORD_MAGIC)
		return false;
	out->batch.entries = bytes_take_u32(&r);
	out->sequence = bytes_take_u64(&r);
	out->batch.first_index = bytes_take_u64(&r);
	out->batch.size = bytes_take_u32(&r);
	out->checksum = bytes_take_u32(&r);
	out->batch.data = from + RECORD_HEADER_BYTES;
	uint32_t zero = bytes_take_u32(&r);
	return bytes_take_u32(&r) == place_checksum(place, from, RECORD_HEADER_BYTES - 4) &&
	       zero == 0;
}

bool record_is_whole(const struct record *record, const struct record_place *place)
{
	return place_checksum(place, record->batch.data, record->batch.size) == record->checksum;
}
