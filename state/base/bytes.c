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

bool bytes_make_room(struct bytes_writer *w, size_t size)
{
	if (!w->failed && (!w->grows || size > SIZE_MAX - w->size))
		w->failed = true;
	if (w->failed)
		return false;
	writer_grow(w, w->size + size);
	return true;
}

void bytes_put_zeros(struct bytes_writer *w, size_t size)
{
	uint8_t *at = bytes_reserve(w, size);
	if (at && size)
		memset(at, 0, size);
}

// Writes length and characters, or neither.
static inline void put_text(
	struct bytes_writer *w, struct text t, size_t length_bytes, uint32_t longest)
{
	uint8_t *at = t.size <= longest ? bytes_reserve(w, length_bytes + t.size) : NULL;
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
