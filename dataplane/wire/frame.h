// What the codecs share: the fixed header, and the beginning and end of a frame around its body.
#pragma once
#include "dataplane/wire/wire.h"

// Returns a writer that stands at the body. frame_end writes the header, because it knows the length.
static inline struct bytes_writer frame_begin(uint8_t *frame, uint32_t size)
{
	struct bytes_writer w =
		bytes_writer_over(frame, size < FRAME_BYTES_MAX ? size : FRAME_BYTES_MAX);
	bytes_put_zeros(&w, WIRE_HEADER_BYTES);
	return w;
}

// Pads to bytes_least (tag included), adds the empty tag and the header. Returns the length, or 0.
static inline uint32_t frame_end(
	struct bytes_writer *w, struct wire_header header, uint32_t bytes_least)
{
	if (w->size + WIRE_TAG_BYTES < bytes_least)
		bytes_put_zeros(w, bytes_least - WIRE_TAG_BYTES - w->size);
	bytes_put_zeros(w, WIRE_TAG_BYTES);
	if (w->failed)
		return 0;
	header.length = (uint16_t)w->size;
	wire_header_encode(w->data, &header);
	return header.length;
}

static inline struct bytes_reader body_reader(
	const uint8_t *frame, const struct wire_header *header)
{
	return bytes_reader_over(frame + WIRE_HEADER_BYTES, header->length - WIRE_FRAME_BYTES_MIN);
}

// How many bytes a frame with such flags is longer than without.
static inline uint32_t term_bytes(uint8_t flags)
{
	return flags & WIRE_FLAG_TERM ? WIRE_TERM_BYTES : 0;
}

// The term that ends an answer about what a node runs; 0: it has none.
static inline uint64_t term_take(struct bytes_reader *r, const struct wire_header *header)
{
	return header->flags & WIRE_FLAG_TERM ? bytes_take_u64(r) : 0;
}

static inline void term_put(struct bytes_writer *w, const struct wire_header *header, uint64_t term)
{
	if (header->flags & WIRE_FLAG_TERM)
		bytes_put_u64(w, term);
}

// True when every field was there and only zeros follow.
static inline bool body_complete(const struct bytes_reader *r)
{
	if (r->failed)
		return false;
	uint8_t any = 0;
	for (size_t i = r->at; i < r->size; i++)
		any |= r->data[i];
	return any == 0;
}
