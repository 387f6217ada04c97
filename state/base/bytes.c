#include "state/base/bytes.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>

#define LEAST_CAPACITY 64u

struct bytes_writer bytes_writer_growing(size_t capacity)
{
	if (capacity < LEAST_CAPACITY)
		capacity = LEAST_CAPACITY;
	// What is written is all that is read, so nothing is zeroed.
	return (struct bytes_writer){
		.data = memory_resize(NULL, capacity), .capacity = capacity, .grows = true};
}

void bytes_writer_free(struct bytes_writer *w)
{
	CHECK(w->grows || !w->data);
	free(w->data);
	*w = (struct bytes_writer){0};
}

void bytes_writer_shrink(struct bytes_writer *w, size_t capacity)
{
	CHECK(w->grows && capacity >= LEAST_CAPACITY);
	w->size = 0;
	w->failed = false;
	if (w->capacity <= capacity)
		return;
	w->data = memory_resize(w->data, capacity);
	w->capacity = capacity;
}

static void writer_grow(struct bytes_writer *w, size_t least)
{
	size_t capacity = w->capacity;
	while (capacity < least)
		capacity = capacity > SIZE_MAX / 2 ? least : capacity * 2;
	w->data = memory_resize(w->data, capacity);
	w->capacity = capacity;
}

// Room for the next size bytes, or NULL (and failed).
static uint8_t *writer_reserve(struct bytes_writer *w, size_t size)
{
	if (w->failed)
		return NULL;
	if (size > w->capacity - w->size) {
		if (!w->grows || size > SIZE_MAX - w->size) {
			w->failed = true;
			return NULL;
		}
		writer_grow(w, w->size + size);
	}
	uint8_t *at = w->data + w->size;
	w->size += size;
	return at;
}

void bytes_put(struct bytes_writer *w, const void *data, size_t size)
{
	uint8_t *at = writer_reserve(w, size);
	if (at && size)
		memcpy(at, data, size);
}

void bytes_put_zeros(struct bytes_writer *w, size_t size)
{
	uint8_t *at = writer_reserve(w, size);
	if (at && size)
		memset(at, 0, size);
}

#define BYTES_PUT(bits)                                                      \
	void bytes_put_u##bits(struct bytes_writer *w, uint##bits##_t value) \
	{                                                                    \
		uint8_t *at = writer_reserve(w, sizeof value);               \
		value = htole##bits(value);                                  \
		if (at)                                                      \
			memcpy(at, &value, sizeof value);                    \
	}
BYTES_PUT(16)
BYTES_PUT(32)
BYTES_PUT(64)
#undef BYTES_PUT

void bytes_put_u8(struct bytes_writer *w, uint8_t value)
{
	uint8_t *at = writer_reserve(w, 1);
	if (at)
		*at = value;
}

void bytes_put_f64(struct bytes_writer *w, double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	bytes_put_u64(w, bits);
}

void bytes_put_uuid(struct bytes_writer *w, const struct uuid *id)
{
	bytes_put(w, id->bytes, sizeof id->bytes);
}

// Writes length and characters, or neither.
static inline void put_text(
	struct bytes_writer *w, struct text t, size_t length_bytes, uint32_t longest)
{
	uint8_t *at = t.size <= longest ? writer_reserve(w, length_bytes + t.size) : NULL;
	uint32_t length = htole32(t.size);
	w->failed |= !at;
	if (!at)
		return;
	memcpy(at, &length, length_bytes);
	if (t.size > 0)
		memcpy(at + length_bytes, t.data, t.size);
}

void bytes_put_text8(struct bytes_writer *w, struct text t)
{
	put_text(w, t, 1, UINT8_MAX);
}

void bytes_put_text16(struct bytes_writer *w, struct text t)
{
	put_text(w, t, 2, UINT16_MAX);
}

void bytes_put_text32(struct bytes_writer *w, struct text t)
{
	put_text(w, t, 4, UINT32_MAX);
}

double bytes_take_f64(struct bytes_reader *r)
{
	uint64_t bits = bytes_take_u64(r);
	double value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

struct uuid bytes_take_uuid(struct bytes_reader *r)
{
	struct uuid id = {0};
	const uint8_t *at = bytes_take(r, sizeof id.bytes);
	if (at)
		memcpy(id.bytes, at, sizeof id.bytes);
	return id;
}
