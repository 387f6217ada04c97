#include "state/cluster/log_piece.h"
#include "state/base/bytes.h"
#include "state/base/check.h"
#include "state/base/error.h"

#define PIECE_MAGIC 0x50474c42u // "BLGP"
#define PIECE_VERSION 1u

uint32_t log_pieces_of(uint32_t kept_bytes)
{
	return (kept_bytes + LOG_PIECE_BYTES - 1) / LOG_PIECE_BYTES;
}

size_t log_piece_at(uint32_t piece)
{
	return (size_t)piece * LOG_PIECE_BYTES;
}

size_t log_piece_size(uint32_t kept_bytes, uint32_t piece)
{
	size_t at = log_piece_at(piece);

	CHECK(at < kept_bytes);
	return kept_bytes - at < LOG_PIECE_BYTES ? kept_bytes - at : LOG_PIECE_BYTES;
}

uint32_t log_piece_write(
	const struct log_piece *p, uint32_t piece, const void *kept, uint8_t *value)
{
	struct bytes_writer w = bytes_writer_over(value, LOG_PIECE_HEADER_BYTES + LOG_PIECE_BYTES);

	bytes_put_u32(&w, PIECE_MAGIC);
	bytes_put_u16(&w, PIECE_VERSION);
	bytes_put_u16(&w, p->pieces);
	bytes_put_u64(&w, p->first_index);
	bytes_put_u32(&w, p->indexes);
	bytes_put_u32(&w, p->batch_bytes);
	bytes_put_u32(&w, p->kept_bytes);
	bytes_put_u64(&w, p->epoch);
	bytes_put_u64(&w, p->leadership);
	bytes_put_u64(&w, p->check_index);
	bytes_put_u64(&w, p->check);
	CHECK(w.size == LOG_PIECE_HEADER_BYTES);
	bytes_put(&w, (const uint8_t *)kept + log_piece_at(piece),
		log_piece_size(p->kept_bytes, piece));
	CHECK(!w.failed);
	return (uint32_t)w.size;
}

int log_piece_read(const void *value, uint32_t size, uint32_t piece, struct log_piece *p,
	const uint8_t **bytes)
{
	struct bytes_reader r = bytes_reader_over(value, size);
	uint32_t magic = bytes_take_u32(&r);
	uint16_t version = bytes_take_u16(&r);

	p->pieces = bytes_take_u16(&r);
	p->first_index = bytes_take_u64(&r);
	p->indexes = bytes_take_u32(&r);
	p->batch_bytes = bytes_take_u32(&r);
	p->kept_bytes = bytes_take_u32(&r);
	p->epoch = bytes_take_u64(&r);
	p->leadership = bytes_take_u64(&r);
	p->check_index = bytes_take_u64(&r);
	p->check = bytes_take_u64(&r);
	if (r.failed || magic != PIECE_MAGIC)
		return -ERROR_CORRUPT;
	if (version != PIECE_VERSION)
		return -ERROR_VERSION;
	if (p->kept_bytes == 0 || p->kept_bytes > p->batch_bytes ||
		p->batch_bytes > LOG_BATCH_BYTES_MAX || p->indexes == 0 || p->first_index == 0 ||
		piece >= p->pieces || log_pieces_of(p->kept_bytes) != p->pieces)
		return -ERROR_CORRUPT;
	size_t expected = log_piece_size(p->kept_bytes, piece);
	*bytes = bytes_take(&r, expected);
	return *bytes && bytes_left(&r) == 0 ? 0 : -ERROR_CORRUPT;
}
