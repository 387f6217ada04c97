// Eight frames at a time, one 64-bit lane each. Rows of up to 64 bytes are loaded whole (masked, so nothing
// is read behind a frame's end) and transposed in registers: cheaper than eight gathers.
#include "dataplane/wire/siphash.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl")))
#define LANES 8u

struct state {
	__m512i v0, v1, v2, v3;
};

TARGET static inline void rounds(struct state *s, int count)
{
	for (int i = 0; i < count; i++) {
		s->v0 = _mm512_add_epi64(s->v0, s->v1);
		s->v2 = _mm512_add_epi64(s->v2, s->v3);
		s->v1 = _mm512_xor_si512(_mm512_rol_epi64(s->v1, 13), s->v0);
		s->v3 = _mm512_xor_si512(_mm512_rol_epi64(s->v3, 16), s->v2);
		s->v0 = _mm512_rol_epi64(s->v0, 32);
		s->v2 = _mm512_add_epi64(s->v2, s->v1);
		s->v0 = _mm512_add_epi64(s->v0, s->v3);
		s->v1 = _mm512_xor_si512(_mm512_rol_epi64(s->v1, 17), s->v2);
		s->v3 = _mm512_xor_si512(_mm512_rol_epi64(s->v3, 21), s->v0);
		s->v2 = _mm512_rol_epi64(s->v2, 32);
	}
}

TARGET static inline void compress(struct state *s, __m512i word)
{
	s->v3 = _mm512_xor_si512(s->v3, word);
	rounds(s, 2);
	s->v0 = _mm512_xor_si512(s->v0, word);
}

TARGET static inline __m512i finish(struct state *s)
{
	rounds(s, 4);
	return _mm512_xor_si512(_mm512_xor_si512(s->v0, s->v1), _mm512_xor_si512(s->v2, s->v3));
}

// rows[lane] holds eight words of one frame; afterwards rows[i] holds word i of every frame.
TARGET static inline void transpose(__m512i rows[LANES])
{
	__m512i pair[8], quad[8];
	for (int i = 0; i < 8; i += 2) {
		pair[i] = _mm512_unpacklo_epi64(rows[i], rows[i + 1]);
		pair[i + 1] = _mm512_unpackhi_epi64(rows[i], rows[i + 1]);
	}
	for (int half = 0; half < 2; half++) {
		for (int odd = 0; odd < 2; odd++) {
			__m512i a = pair[4 * half + odd], b = pair[4 * half + 2 + odd];
			quad[4 * half + odd] = _mm512_shuffle_i64x2(a, b, 0x88);
			quad[4 * half + 2 + odd] = _mm512_shuffle_i64x2(a, b, 0xdd);
		}
	}
	for (int i = 0; i < 4; i++) {
		rows[i] = _mm512_shuffle_i64x2(quad[i], quad[4 + i], 0x88);
		rows[4 + i] = _mm512_shuffle_i64x2(quad[i], quad[4 + i], 0xdd);
	}
}

// Key halves of eight frames: eight pairs of words from anywhere.
TARGET static inline void load_keys(
	const struct wire_key *const keys[LANES], __m512i *k0, __m512i *k1)
{
	__m512i p = _mm512_loadu_si512(keys);
	*k0 = _mm512_i64gather_epi64(p, NULL, 1);
	*k1 = _mm512_i64gather_epi64(_mm512_add_epi64(p, _mm512_set1_epi64(8)), NULL, 1);
}

TARGET static inline void absorb(struct state *s, const uint8_t *const data[LANES], uint32_t size)
{
	uint32_t words = size / 8 + 1; // the last holds the size in its top byte
	const __m512i closing = _mm512_set1_epi64((long long)((uint64_t)size << 56));
	for (uint32_t first = 0; first < words; first += 8) {
		uint32_t bytes = size - first * 8;
		__mmask64 valid = bytes >= 64 ? ~0ull : (1ull << bytes) - 1;
		__m512i rows[LANES];
		for (uint32_t lane = 0; lane < LANES; lane++)
			rows[lane] = _mm512_maskz_loadu_epi8(valid, data[lane] + first * 8);
		transpose(rows);
		if (words - first <= 8)
			rows[words - first - 1] = _mm512_or_si512(rows[words - first - 1], closing);
		for (uint32_t i = 0; i < 8 && first + i < words; i++)
			compress(s, rows[i]);
	}
}

TARGET static inline void tag_lanes(const struct wire_key *const keys[LANES],
	const uint8_t *const data[LANES], uint32_t size, __m512i *low, __m512i *high)
{
	__m512i k0, k1;
	load_keys(keys, &k0, &k1);
	struct state s = {
		_mm512_xor_si512(k0, _mm512_set1_epi64(0x736f6d6570736575ll)),
		_mm512_xor_si512(k1, _mm512_set1_epi64(0x646f72616e646f6dll ^ 0xee)),
		_mm512_xor_si512(k0, _mm512_set1_epi64(0x6c7967656e657261ll)),
		_mm512_xor_si512(k1, _mm512_set1_epi64(0x7465646279746573ll)),
	};
	absorb(&s, data, size);
	s.v2 = _mm512_xor_si512(s.v2, _mm512_set1_epi64(0xee));
	*low = finish(&s);
	s.v1 = _mm512_xor_si512(s.v1, _mm512_set1_epi64(0xdd));
	*high = finish(&s);
}

TARGET static inline void store_tags(
	__m512i low, __m512i high, uint32_t lanes, uint8_t (*tags)[WIRE_TAG_BYTES])
{
	const __m512i first = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0);
	const __m512i second = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);
	uint32_t words = lanes * 2;
	__mmask8 in_first = (__mmask8)(words >= 8 ? 0xff : (1u << words) - 1);
	__mmask8 in_second = (__mmask8)(words <= 8 ? 0 : (1u << (words - 8)) - 1);
	_mm512_mask_storeu_epi64(tags, in_first, _mm512_permutex2var_epi64(low, first, high));
	_mm512_mask_storeu_epi64(tags + 4, in_second, _mm512_permutex2var_epi64(low, second, high));
}

TARGET void siphash_burst_avx512(const struct wire_key *const keys[], const uint8_t *const data[],
	uint32_t size, uint32_t count, uint8_t (*tags)[WIRE_TAG_BYTES])
{
	__m512i low, high;
	uint32_t i = 0;
	for (; i + LANES <= count; i += LANES) {
		tag_lanes(keys + i, data + i, size, &low, &high);
		store_tags(low, high, LANES, tags + i);
	}
	uint32_t left = count - i;
	if (left == 0)
		return;
	// Idle lanes repeat the last frame; their tags are not stored.
	const struct wire_key *last_keys[LANES];
	const uint8_t *last_data[LANES];
	for (uint32_t lane = 0; lane < LANES; lane++) {
		uint32_t from = i + (lane < left ? lane : left - 1);
		last_keys[lane] = keys[from];
		last_data[lane] = data[from];
	}
	tag_lanes(last_keys, last_data, size, &low, &high);
	store_tags(low, high, left, tags + i);
}

#else
void siphash_burst_avx512(const struct wire_key *const keys[], const uint8_t *const data[],
	uint32_t size, uint32_t count, uint8_t (*tags)[WIRE_TAG_BYTES])
{
	siphash_burst_scalar(keys, data, size, count, tags);
}
#endif
