// Bounded little-endian writer and reader with a sticky error: a codec reads as a list of fields
// and is checked once at its end.
#pragma once
#include "state/base/text.h"
#include "state/base/uuid.h"
#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes_writer {
	uint8_t *data;
	size_t size;     // written so far
	size_t capacity; // of data
	bool grows;      // the writer owns data and enlarges it on demand
	bool failed;     // something did not fit; all later writes do nothing
};

// Over the caller's memory.
static inline struct bytes_writer bytes_writer_over(void *data, size_t capacity)
{
	// Else gcc would warn of writes past the end of an array of constant size that are never reached.
	__asm__("" : "+r"(capacity));
	return (struct bytes_writer){.data = data, .capacity = capacity};
}
// Growing; bytes_writer_free releases it.
struct bytes_writer bytes_writer_growing(size_t capacity);
void bytes_writer_free(struct bytes_writer *);
// Gives back what a growing writer took beyond `capacity`, and what it wrote.
void bytes_writer_shrink(struct bytes_writer *, size_t capacity);

// For the functions below: makes room for size bytes more where there is none. False: it failed.
bool bytes_make_room(struct bytes_writer *, size_t size);
// Room for the next size bytes, or NULL (and failed).
static inline uint8_t *bytes_reserve(struct bytes_writer *w, size_t size)
{
	bool has_room = !w->failed && size <= w->capacity - w->size;
	if (!has_room && !bytes_make_room(w, size))
		return NULL;
	uint8_t *at = w->data + w->size;
	w->size += size;
	return at;
}

static inline void bytes_put(struct bytes_writer *w, const void *data, size_t size)
{
	uint8_t *at = bytes_reserve(w, size);
	if (at && size)
		memcpy(at, data, size);
}
void bytes_put_zeros(struct bytes_writer *, size_t size);
static inline void bytes_put_u8(struct bytes_writer *w, uint8_t value)
{
	uint8_t *at = bytes_reserve(w, 1);
	if (at)
		*at = value;
}
#define BYTES_PUT(bits)                                                                    \
	static inline void bytes_put_u##bits(struct bytes_writer *w, uint##bits##_t value) \
	{                                                                                  \
		uint8_t *at = bytes_reserve(w, sizeof value);                              \
		value = htole##bits(value);                                                \
		if (at)                                                                    \
			memcpy(at, &value, sizeof value);                                  \
	}
BYTES_PUT(16)
BYTES_PUT(32)
BYTES_PUT(64)
#undef BYTES_PUT
static inline void bytes_put_f64(struct bytes_writer *w, double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	bytes_put_u64(w, bits);
}
static inline void bytes_put_uuid(struct bytes_writer *w, const struct uuid *id)
{
	bytes_put(w, id->bytes, sizeof id->bytes);
}
// u8 length, then the characters; longer than 255 fails.
void bytes_put_text8(struct bytes_writer *, struct text);
// u16 length, then the characters; longer than 65535 fails.
void bytes_put_text16(struct bytes_writer *, struct text);
// u32 length, then the characters.
void bytes_put_text32(struct bytes_writer *, struct text);

struct bytes_reader {
	const uint8_t *data;
	size_t size; // of data
	size_t at;   // next byte
	bool failed; // something was missing; all later reads give zeros
};

static inline struct bytes_reader bytes_reader_over(const void *data, size_t size)
{
	return (struct bytes_reader){.data = data, .size = size};
}

// A view of the next size bytes, or NULL (and failed).
static inline const uint8_t *bytes_take(struct bytes_reader *r, size_t size)
{
	if (r->failed || size > r->size - r->at) {
		r->failed = true;
		return NULL;
	}
	const uint8_t *at = r->data + r->at;
	r->at += size;
	return at;
}
static inline uint8_t bytes_take_u8(struct bytes_reader *r)
{
	const uint8_t *at = bytes_take(r, 1);
	return at ? *at : 0;
}
#define BYTES_TAKE(bits)                                                        \
	static inline uint##bits##_t bytes_take_u##bits(struct bytes_reader *r) \
	{                                                                       \
		uint##bits##_t value = 0;                                       \
		const uint8_t *at = bytes_take(r, sizeof value);                \
		if (at)                                                         \
			memcpy(&value, at, sizeof value);                       \
		return le##bits##toh(value);                                    \
	}
BYTES_TAKE(16)
BYTES_TAKE(32)
BYTES_TAKE(64)
#undef BYTES_TAKE
double bytes_take_f64(struct bytes_reader *);
struct uuid bytes_take_uuid(struct bytes_reader *);
// Views into the reader's data.
static inline struct text bytes_take_text(struct bytes_reader *r, size_t size)
{
	const uint8_t *at = bytes_take(r, size);
	return at ? (struct text){(const char *)at, (uint32_t)size} : (struct text){"", 0};
}
static inline struct text bytes_take_text8(struct bytes_reader *r)
{
	return bytes_take_text(r, bytes_take_u8(r));
}
static inline struct text bytes_take_text16(struct bytes_reader *r)
{
	return bytes_take_text(r, bytes_take_u16(r));
}
static inline struct text bytes_take_text32(struct bytes_reader *r)
{
	return bytes_take_text(r, bytes_take_u32(r));
}
static inline size_t bytes_left(const struct bytes_reader *r)
{
	return r->failed ? 0 : r->size - r->at;
}
