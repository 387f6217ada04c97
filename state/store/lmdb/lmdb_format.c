// The log of batches as the first version wrote it: one LMDB environment, its main database with integer keys.
//
//	key    u64, in the machine's byte order: index of the batch's first entry
//	value  u32 magic "BLOG"
//	       u32 version of this form, 1
//	       u64 number of the LMDB transaction that wrote it
//	       u32 entries: the batch ends at index key + entries - 1
//	       u32 size of the batch
//	       u32 zero
//	       u32 CRC-32C of the key (u64), the 28 bytes above and the batch
//	       the batch (state/log/entry.c)
//
// Numbers in values are little-endian. Key 0 holds a batch of no entries: it says that this is a
// log.
#include "state/store/lmdb/lmdb_format.h"
#include "state/base/bytes.h"
#include "state/base/crc32c.h"
#include "state/base/error.h"

static uint32_t value_crc(uint64_t index, const uint8_t *header, const void *batch, uint32_t size)
{
	uint8_t key[8];
	struct bytes_writer w = bytes_writer_over(key, sizeof key);
	bytes_put_u64(&w, index);
	uint32_t crc = crc32c(0, key, sizeof key);
	crc = crc32c(crc, header, LMDB_HEADER_BYTES - 4);
	return crc32c(crc, batch, size);
}

const char *lmdb_value_read(const void *value, size_t size, uint64_t index, struct lmdb_value *out)
{
	struct bytes_reader r = bytes_reader_over(value, size);
	uint32_t magic = bytes_take_u32(&r);
	*out = (struct lmdb_value){.version = bytes_take_u32(&r)};
	if (r.failed || magic != LMDB_MAGIC)
		return "it does not begin as a batch does";
	if (out->version != LMDB_VERSION)
		return "it has a version that this program does not know";
	out->transaction = bytes_take_u64(&r);
	out->batch = (struct journal_batch){.first_index = index, .entries = bytes_take_u32(&r)};
	out->batch.size = bytes_take_u32(&r);
	uint32_t zero = bytes_take_u32(&r), crc = bytes_take_u32(&r);
	if (r.failed || zero != 0 || bytes_left(&r) != out->batch.size)
		return "its size is not the size that it names";
	out->batch.data = bytes_take(&r, out->batch.size);
	if (value_crc(index, value, out->batch.data, out->batch.size) != crc)
		return "its checksum does not match";
	if ((index == 0) != (out->batch.entries == 0))
		return "its number of entries makes no sense";
	return NULL;
}

int lmdb_complain_version(const struct complaint *complaint, const char *path, uint32_t version)
{
	return complain(complaint, -ERROR_VERSION,
		"the log %s is of version %u and this program knows version %u: start the program "
		"that "
		"wrote it, or a newer one",
		path, version, LMDB_VERSION);
}
