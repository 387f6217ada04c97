// Four frames at a time, one 64-bit lane each.
#include "dataplane/wire/beats.h"
#include "dataplane/wire/siphash.h"

#if defined(__x86_64__)
#include "dataplane/wire/little_endian.h"
#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))
#define LANES 4u
// States that are worked on side by side: neither waits for its own rounds alone, and both stay in registers.
#define CHAINS 2u

_Static_assert(WIRE_BEATS_MAX % LANES == 0, "idle lanes have columns");

struct state {
	__m256i v0, v1, v2, v3;
};

#define ROTATE(x, bits) \
	_mm256_or_si256(_mm256_slli_epi64((x), (bits)), _mm256_srli_epi64((x), 64 - (bits)))

TARGET static inline void round_of(struct state *s)
{
	// Rotations by 16 and 32 move whole bytes: one shuffle instead of three operations.
	const __m256i by16 = _mm256_set_epi8(13, 12, 11, 10, 9, 8, 15, 14, 5, 4, 3, 2, 1, 0, 7, 6,
		13, 12, 11, 10, 9, 8, 15, 14, 5, 4, 3, 2, 1, 0, 7, 6);
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

TARGET static inline void rounds(struct state *s, uint32_t chains, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
#pragma GCC unroll 2
		for (uint32_t c = 0; c < chains; c++)
			round_of(&s[c]);
	}
}

// words[c] is the next word of each lane of chain c.
TARGET static inline void compress(struct state *s, const __m256i *words, uint32_t chains)
{
#pragma GCC unroll 2
	for (uint32_t c = 0; c < chains; c++)
		s[c].v3 = _mm256_xor_si256(s[c].v3, words[c]);
	rounds(s, chains, 2);
#pragma GCC unroll 2
	for (uint32_t c = 0; c < chains; c++)
		s[c].v0 = _mm256_xor_si256(s[c].v0, words[c]);
}

TARGET static inline __m256i fold(const struct state *s)
{
	return _mm256_xor_si256(_mm256_xor_si256(s->v0, s->v1), _mm256_xor_si256(s->v2, s->v3));
}

TARGET static inline void finish(struct state *s, __m256i *low, __m256i *high, uint32_t chains)
{
#pragma GCC unroll 2
	for (uint32_t c = 0; c < chains; c++)
		s[c].v2 = _mm256_xor_si256(s[c].v2, _mm256_set1_epi64x(0xee));
	rounds(s, chains, 4);
#pragma GCC unroll 2
	for (uint32_t c = 0; c < chains; c++) {
		low[c] = fold(&s[c]);
		s[c].v1 = _mm256_xor_si256(s[c].v1, _mm256_set1_epi64x(0xdd));
	}
	rounds(s, chains, 4);
#pragma GCC unroll 2
	for (uint32_t c = 0; c < chains; c++)
		high[c] = fold(&s[c]);
}

TARGET static inline void start(struct state *s, __m256i k0, __m256i k1)
{
	s->v0 = _mm256_xor_si256(k0, _mm256_set1_epi64x(0x736f6d6570736575ll));
	s->v1 = _mm256_xor_si256(k1, _mm256_set1_epi64x(0x646f72616e646f6dll ^ 0xee));
	s->v2 = _mm256_xor_si256(k0, _mm256_set1_epi64x(0x6c7967656e657261ll));
	s->v3 = _mm256_xor_si256(k1, _mm256_set1_epi64x(0x7465646279746573ll));
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
			compress(s, &rows[i], 1);
	}
	uint64_t words[LANES];
	for (; at + 8 <= size; at += 8) {
		for (uint32_t lane = 0; lane < LANES; lane++)
			words[lane] = load64(data[lane] + at);
		__m256i word = four_words(words);
		compress(s, &word, 1);
	}
	for (uint32_t lane = 0; lane < LANES; lane++) {
		words[lane] = (uint64_t)size << 56;
		for (uint32_t i = 0; i < size - at; i++)
			words[lane] |= (uint64_t)data[lane][at + i] << (8 * i);
	}
	__m256i last = four_words(words);
	compress(s, &last, 1);
}

TARGET static inline void tag_lanes(const struct wire_key *const keys[LANES],
	const uint8_t *const data[LANES], uint32_t size, uint8_t (*tags)[WIRE_TAG_BYTES])
{
	uint64_t halves[2][LANES];
	for (uint32_t lane = 0; lane < LANES; lane++) {
		halves[0][lane] = keys[lane]->k[0];
		halves[1][lane] = keys[lane]->k[1];
	}
	struct state s;
	__m256i low, high;
	start(&s, four_words(halves[0]), four_words(halves[1]));
	absorb(&s, data, size);
	finish(&s, &low, &high, 1);
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

// Sums the halves of each lane's word.
TARGET static inline __m256i add_halves(__m256i sum, __m256i words)
{
	sum = _mm256_add_epi64(sum, _mm256_and_si256(words, _mm256_set1_epi64x(0xffffffffll)));
	return _mm256_add_epi64(sum, _mm256_srli_epi64(words, 32));
}

TARGET static inline __m256i column(const uint64_t *words)
{
	return _mm256_load_si256((const __m256i *)words);
}

// Word i of the acknowledgements of four heartbeats, whose own word it is.
TARGET static inline __m256i ack_word(
	const struct wire_beats *b, uint32_t first, uint32_t i, __m256i own)
{
	switch (i) {
	case 0: return _mm256_xor_si256(own, _mm256_set1_epi64x(WIRE_BEAT_TO_ACK));
	case 3: return _mm256_set1_epi64x((long long)b->term);
	case 4: return column(&b->ack_index[first]);
	case 5: return column(&b->ack_end[first]);
	default: return own;
	}
}

TARGET static inline void load_beats(
	const struct wire_beats *b, uint32_t first, __m256i rows[2 * LANES])
{
#pragma GCC unroll 2
	for (uint32_t half = 0; half < 2; half++) {
		for (uint32_t lane = 0; lane < LANES; lane++)
			rows[half * LANES + lane] = _mm256_loadu_si256(
				(const __m256i *)(b->frames[first + lane] + 32 * half));
		transpose(rows + half * LANES);
	}
}

TARGET static inline void store_column(uint64_t *to, __m256i words)
{
	_mm256_store_si256((__m256i *)to, words);
}

// Heartbeats first … first + 3 and, beside them, their acknowledgements.
TARGET static void tag_beats(struct wire_beats *b, uint32_t first)
{
	struct state s[CHAINS];
	__m256i rows[2 * LANES], low[CHAINS], high[CHAINS], sum = _mm256_setzero_si256();
	start(&s[0], column(&b->key[0][first]), column(&b->key[1][first]));
	s[1] = s[0];
	load_beats(b, first, rows);
#pragma GCC unroll 8
	for (uint32_t i = 0; i < WIRE_BEAT_WORDS; i++) {
		__m256i words[CHAINS] = {rows[i], ack_word(b, first, i, rows[i])};
		sum = add_halves(sum, words[1]);
		compress(s, words, CHAINS);
	}
	const __m256i size = _mm256_set1_epi64x(WIRE_BEAT_WORDS * 8ll << 56);
	compress(s, (__m256i[CHAINS]){size, size}, CHAINS);
	finish(s, low, high, CHAINS);
	store_column(
		&b->differs[first], _mm256_or_si256(_mm256_xor_si256(low[0], rows[WIRE_BEAT_WORDS]),
					    _mm256_xor_si256(high[0], rows[WIRE_BEAT_WORDS + 1])));
	store_column(&b->ack_tag[0][first], low[1]);
	store_column(&b->ack_tag[1][first], high[1]);
	store_column(&b->ack_sum[first], add_halves(add_halves(sum, low[1]), high[1]));
}

TARGET void wire_beats_tag_avx2(struct wire_beats *b)
{
	if (b->count == 0)
		return;
	wire_beats_fill_lanes(b, LANES);
	for (uint32_t first = 0; first < b->count; first += LANES)
		tag_beats(b, first);
}

#else
void wire_beats_tag_avx2(struct wire_beats *b)
{
	wire_beats_tag_by(siphash_burst_scalar, b);
}

void siphash_burst_avx2(const struct wire_key *const keys[], const uint8_t *const data[],
	uint32_t size, uint32_t count, uint8_t (*tags)[WIRE_TAG_BYTES])
{
	siphash_burst_scalar(keys, data, size, count, tags);
}
#endif
