#include "dataplane/wire/siphash.h"
#include "dataplane/wire/little_endian.h"

struct state {
	uint64_t v0, v1, v2, v3;
};

static inline uint64_t rotate(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

static inline void rounds(struct state *s, int count)
{
	for (int i = 0; i < count; i++) {
		s->v0 += s->v1;
		s->v2 += s->v3;
		s->v1 = rotate(s->v1, 13) ^ s->v0;
		s->v3 = rotate(s->v3, 16) ^ s->v2;
		s->v0 = rotate(s->v0, 32);
		s->v2 += s->v1;
		s->v0 += s->v3;
		s->v1 = rotate(s->v1, 17) ^ s->v2;
		s->v3 = rotate(s->v3, 21) ^ s->v0;
		s->v2 = rotate(s->v2, 32);
	}
}

static inline void compress(struct state *s, uint64_t word)
{
	s->v3 ^= word;
	rounds(s, 2);
	s->v0 ^= word;
}

// The last word: what is left of the data, and the size in the top byte.
static inline uint64_t last_word(const uint8_t *data, uint32_t size)
{
	uint64_t word = (uint64_t)size << 56;
	const uint8_t *left = data + (size & ~7u);
	for (uint32_t i = 0; i < (size & 7); i++)
		word |= (uint64_t)left[i] << (8 * i);
	return word;
}

void siphash128(const struct wire_key *key, const uint8_t *data, uint32_t size,
	uint8_t tag[static WIRE_TAG_BYTES])
{
	struct state s = {
		key->k[0] ^ 0x736f6d6570736575ull,
		key->k[1] ^ 0x646f72616e646f6dull ^ 0xee,
		key->k[0] ^ 0x6c7967656e657261ull,
		key->k[1] ^ 0x7465646279746573ull,
	};
	for (uint32_t i = 0; i + 8 <= size; i += 8)
		compress(&s, load64(data + i));
	compress(&s, last_word(data, size));
	s.v2 ^= 0xee;
	rounds(&s, 4);
	store64(tag, s.v0 ^ s.v1 ^ s.v2 ^ s.v3);
	s.v1 ^= 0xdd;
	rounds(&s, 4);
	store64(tag + 8, s.v0 ^ s.v1 ^ s.v2 ^ s.v3);
}

void siphash_burst_scalar(const struct wire_key *const keys[], const uint8_t *const data[],
	uint32_t size, uint32_t count, uint8_t (*tags)[WIRE_TAG_BYTES])
{
	for (uint32_t i = 0; i < count; i++)
		siphash128(keys[i], data[i], size, tags[i]);
}
