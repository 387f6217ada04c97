#include "tests/fuzz/mutate.h"
#include "state/base/check.h"
#include <string.h>

#define CHANGES_MAX 8u
#define PIECE_BYTES_MAX 64u

struct subject {
	struct prng *prng;
	const struct fuzz_input *inputs;
	size_t count;
	uint8_t *data;
	size_t size;
	size_t capacity;
};

static size_t below(struct subject *s, size_t bound)
{
	return (size_t)prng_below(s->prng, bound);
}

// A piece of [0, limit) that is not empty; limit > 0.
static size_t piece(struct subject *s, size_t limit, size_t *from)
{
	*from = below(s, limit);
	size_t most = limit - *from;
	return 1 + below(s, most < PIECE_BYTES_MAX ? most : PIECE_BYTES_MAX);
}

static void flip_bit(struct subject *s)
{
	if (s->size)
		s->data[below(s, s->size)] ^= (uint8_t)(1u << below(s, 8));
}

static void set_byte(struct subject *s)
{
	if (s->size)
		s->data[below(s, s->size)] = (uint8_t)prng_u64(s->prng);
}

// Numbers at which lengths and counts break.
static void set_number(struct subject *s)
{
	static const uint64_t edges[] = {0, 1, 2, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff,
		0x10000, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffffffffffff, UINT64_MAX};
	uint64_t number = edges[below(s, sizeof edges / sizeof edges[0])];
	size_t bytes = (size_t)1 << below(s, 4);
	if (s->size < bytes)
		return;
	size_t at = below(s, s->size - bytes + 1);
	for (size_t i = 0; i < bytes; i++)
		s->data[at + i] = (uint8_t)(number >> (8 * i));
}

static void add_to_byte(struct subject *s)
{
	if (s->size) {
		size_t at = below(s, s->size);
		s->data[at] = (uint8_t)(s->data[at] + 1 + below(s, 16) - 8);
	}
}

static void cut_piece(struct subject *s)
{
	if (!s->size)
		return;
	size_t from, bytes = piece(s, s->size, &from);
	memmove(s->data + from, s->data + from + bytes, s->size - from - bytes);
	s->size -= bytes;
}

static void cut_end(struct subject *s)
{
	s->size = below(s, s->size + 1);
}

static void insert(struct subject *s, const uint8_t *from, size_t bytes)
{
	if (bytes > s->capacity - s->size)
		return;
	size_t at = below(s, s->size + 1);
	memmove(s->data + at + bytes, s->data + at, s->size - at);
	memcpy(s->data + at, from, bytes);
	s->size += bytes;
}

static void insert_noise(struct subject *s)
{
	uint8_t noise[PIECE_BYTES_MAX];
	size_t bytes = 1 + below(s, sizeof noise);
	bool same = below(s, 2);
	uint8_t first = (uint8_t)prng_u64(s->prng);
	for (size_t i = 0; i < bytes; i++)
		noise[i] = same ? first : (uint8_t)prng_u64(s->prng);
	insert(s, noise, bytes);
}

static void insert_from_corpus(struct subject *s)
{
	const struct fuzz_input *other = &s->inputs[below(s, s->count)];
	if (!other->size)
		return;
	size_t from, bytes = piece(s, other->size, &from);
	insert(s, other->data + from, bytes);
}

static void repeat_piece(struct subject *s)
{
	if (!s->size)
		return;
	uint8_t copy[PIECE_BYTES_MAX];
	size_t from, bytes = piece(s, s->size, &from);
	memcpy(copy, s->data + from, bytes);
	insert(s, copy, bytes);
}

// The head of this input with the tail of another.
static void join_tail(struct subject *s)
{
	const struct fuzz_input *other = &s->inputs[below(s, s->count)];
	size_t head = below(s, s->size + 1), tail = below(s, other->size + 1);
	if (tail > s->capacity - head)
		tail = s->capacity - head;
	if (tail)
		memcpy(s->data + head, other->data + (other->size - tail), tail);
	s->size = head + tail;
}

static void (*const changes[])(struct subject *) = {
	flip_bit,
	set_byte,
	set_number,
	add_to_byte,
	cut_piece,
	cut_end,
	insert_noise,
	insert_from_corpus,
	repeat_piece,
	join_tail,
};

size_t fuzz_mutate(struct prng *prng, const struct fuzz_input *inputs, size_t count, uint8_t *out,
	size_t capacity)
{
	struct subject s = {
		.prng = prng, .inputs = inputs, .count = count, .data = out, .capacity = capacity};
	const struct fuzz_input *base = &inputs[below(&s, count)];
	CHECK(base->size <= capacity);
	if (base->size)
		memcpy(out, base->data, base->size);
	s.size = base->size;
	size_t rounds = 1 + below(&s, CHANGES_MAX);
	while (rounds--)
		changes[below(&s, sizeof changes / sizeof changes[0])](&s);
	return s.size;
}
