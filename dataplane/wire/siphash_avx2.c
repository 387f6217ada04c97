// Four frames at a time, one 64-bit lane each.
#include "dataplane/wire/siphash.h"

#if defined(__x86_64__)
#include "dataplane/wire/little_endian.h"
#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))
#define LANES 4u

struct state {
	__m256i v0, v1, v2, v3;
};

#define ROTATE(x, bits) \
	_mm256_or_si256(_mm256_slli_epi64((x), (bits)), _mm256_srli_epi64((x), 64 - (bits)))

TARGET static inline void rounds(struct state *s, int count)
{
	// Rotations by 16 and 32 move whole bytes: one shuffle instead of three operations.
	const __m256i by16 = _mm256_set_epi8(13, 12, 11, 10, 9, 8, 15, 14, 5, 4, 3, 2, 1, 0, 7, 6,
		13, 12, 11, 10, 9, 8, 15, 14, 5, 4, 3, 2, 1, 0, 7, 6);
	for (int i = 0; i < count; i++) {
		s->v0 = _mm256_add_epi64(s->v0, s->v1);
		s->v2 = _mm256_add_epi64(s->v2, s->v3);
		s->v1 = _mm256_xor_si256(ROTATE(s->v1, 13), s->v0);
		s->v3 = _mm256_xor_si256(_mm256_shuffle_epi8(s->v3, by16), s->v2);
		s->v0 = _mm256_shuffle_epi32(s->v0, 0xb1);
		s->v2 = _mm256_add_epi64(s->v2, s->v1);
		s->v0 = _mm256_add_epi64(s->v0, s->v3);
		s->v1 = _mm256_xor_si256(ROTATE(s->v1, 17), s->v2);
		s->v3 = _mm256_xor_si256(ROTATE(s->v3, 21), s->v0);
		s->v2 = _mm256_shuffle_epi32(s->v2, 0xb1);
	}
}

TARGET static inline void compress(struct state *s, __m256i word)
{
	s->v3 = _mm256_xor_si256(s->v3, word);
	rounds(s, 2);
	s->v0 = _mm256_xor_si256(s->v0, word);
}

TARGET static inline __m256i finish(struct state *s)
{
	rounds(s, 4);
	return _mm256_xor_si256(_mm256_xor_si256(s->v0, s->v1), _mm256_xor_si256(s->v2, s->v3));
}

// rows[lane] holds four words of one frame; afterwards rows[i] holds word i of every frame.
TARGET static inline void transpose(__m256i rows[LANES])
{
	__m256i a = _mm256_unpacklo_epi64(rows[0], rows[1]);
	__m256i b = _mm256_unpackhi_epi64(rows[0], rows[1]);
	__m256i c = _mm256_unpacklo_epi64(rows[2], rows[3]);
	__m256i d = _mm256_unpackhi_epi64(rows[2], rows[3]);
	rows[0] = _mm256_permute2x128_si256(a, c, 0x20);
	rows[1] = _mm256_permute2x128_si256(b, d, 0x20);
	rows[2] = _mm256_permute2x128_si256(a, c, 0x31);
	rows[3] = _mm256_permute2x128_si256(b, d, 0x31);
}

TARGET static inline __m256i four_words(const uint64_t words[LANES])
{
	return _mm256_loadu_si256((const __m256i *)words);
}

TARGET static inline void absorb(struct state *s, const uint8_t *const data[LANES], uint32_t size)
{
	uint32_t at = 0;
	for (; at + 32 <= size; at += 32) {
		__m256i rows[LANES];
		for (uint32_t lane = 0; lane < LANES; lane++)
			rows[lane] = _mm256_loadu_si256((const __m256i *)(data[lane] + at));
		transpose(rows);
		for (uint32_t i = 0; i < 4; i++)
			compress(s, rows[i]);
	}
	uint64_t words[LANES];
	for (; at + 8 <= size; at += 8) {
		for (uint32_t lane = 0; lane < LANES; lane++)
			words[lane] = load64(data[lane] + at);
		compress(s, four_words(words));
	}
	for (uint32_t lane = 0; lane < LANES; lane++) {
		words[lane] = (uint64_t)size << 56;
		for (uint32_t i = 0; i < size - at; i++)
			words[lane] |= (uint64_t)data[lane][at + i] << (8 * i);
	}
	compress(s, four_words(words));
}

TARGET static inline void tag_lanes(const struct wire_key *const keys[LANES],
	const uint8_t *const data[LANES], uint32_t size, uint8_t (*tags)[WIRE_TAG_BYTES])
{
	uint64_t halves[2][LANES];
	for (uint32_t lane = 0; lane < LANES; lane++) {
		halves[0][lane] = keys[lane]->k[0];
		halves[1][lane] = keys[lane]->k[1];
	}
	__m256i k0 = four_words(halves[0]), k1 = four_words(halves[1]);
	struct state s = {
		_mm256_xor_si256(k0, _mm256_set1_epi64x(0x736f6d6570736575ll)),
		_mm256_xor_si256(k1, _mm256_set1_epi64x(0x646f72616e646f6dll ^ 0xee)),
		_mm256_xor_si256(k0, _mm256_set1_epi64x(0x6c7967656e657261ll)),
		_mm256_xor_si256(k1, _mm256_set1_epi64x(0x7465646279746573ll)),
	};
	absorb(&s, data, size);
	s.v2 = _mm256_xor_si256(s.v2, _mm256_set1_epi64x(0xee));
	__m256i low = finish(&s);
	s.v1 = _mm256_xor_si256(s.v1, _mm256_set1_epi64x(0xdd));
	__m256i high = finish(&s);
	__m256i even = _mm256_unpacklo_epi64(low, high), odd = _mm256_unpackhi_epi64(low, high);
	_mm256_storeu_si256((__m256i *)tags[0], _mm256_permute2x128_si256(even, odd, 0x20));
	_mm256_storeu_si256((__m256i *)tags[2], _mm256_permute2x128_si256(even, odd, 0x31));
}

TARGET void siphash_burst_avx2(const struct wire_key *const keys[], const uint8_t *const data[],
	uint32_t size, uint32_t count, uint8_t (*tags)[WIRE_TAG_BYTES])
{
	uint32_t i = 0;
	for (; i + LANES <= count; i += LANES)
		tag_lanes(keys + i, data + i, size, tags + i);
	siphash_burst_scalar(keys + i, data + i, size, count - i, tags + i);
}

#else
void siphash_burst_avx2(const struct wire_key *const keys[], const uint8_t *const data[],
	uint32_t size, uint32_t count, uint8_t (*tags)[WIRE_TAG_BYTES])
{
	siphash_burst_scalar(keys, data, size, count, tags);
}
#endif
