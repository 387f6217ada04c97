// Eight frames at a time, one 64-bit lane each. Rows of up to 64 bytes are loaded whole (masked, so nothing
// is read behind a frame's end) and transposed in registers: cheaper than eight gathers.
#include "dataplane/wire/beats.h"
#include "dataplane/wire/siphash.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl")))
#define STEP TARGET static inline __attribute__((always_inline))
#define LANES 8u
// Groups of lanes worked on side by side: each step of a round waits for the one before it, and while one group waits
// the processor works on the other. The states of two groups fit the 32 registers beside two groups' words.
#define GROUPS_MAX 2u
#define LANES_MAX (GROUPS_MAX * LANES)
// Heartbeats and their acknowledgements are four groups: their words are few, and half of them are the same.
#define CHAINS (2 * GROUPS_MAX)

_Static_assert(WIRE_BEATS_MAX == LANES_MAX, "heartbeats are tagged all at once");

struct state {
	__m512i v0, v1, v2, v3;
};

STEP void round_all(struct state *s, uint32_t groups)
{
#pragma GCC unroll 4
	for (uint32_t g = 0; g < groups; g++) {
		s[g].v0 = _mm512_add_epi64(s[g].v0, s[g].v1);
		s[g].v2 = _mm512_add_epi64(s[g].v2, s[g].v3);
		s[g].v1 = _mm512_xor_si512(_mm512_rol_epi64(s[g].v1, 13), s[g].v0);
		s[g].v3 = _mm512_xor_si512(_mm512_rol_epi64(s[g].v3, 16), s[g].v2);
		s[g].v0 = _mm512_rol_epi64(s[g].v0, 32);
		s[g].v2 = _mm512_add_epi64(s[g].v2, s[g].v1);
		s[g].v0 = _mm512_add_epi64(s[g].v0, s[g].v3);
		s[g].v1 = _mm512_xor_si512(_mm512_rol_epi64(s[g].v1, 17), s[g].v2);
		s[g].v3 = _mm512_xor_si512(_mm512_rol_epi64(s[g].v3, 21), s[g].v0);
		s[g].v2 = _mm512_rol_epi64(s[g].v2, 32);
	}
}

// rows[lane] holds eight words of one frame; afterwards rows[i] holds word i of every frame.
STEP void transpose(__m512i rows[LANES])
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
STEP void load_keys(const struct wire_key *const keys[LANES], __m512i *k0, __m512i *k1)
{
	__m512i p = _mm512_loadu_si512(keys);
	*k0 = _mm512_i64gather_epi64(p, NULL, 1);
	*k1 = _mm512_i64gather_epi64(_mm512_add_epi64(p, _mm512_set1_epi64(8)), NULL, 1);
}

// words[g] is the next word of each lane of group g.
STEP void compress(struct state *s, const __m512i *words, uint32_t groups)
{
#pragma GCC unroll 4
	for (uint32_t g = 0; g < groups; g++)
		s[g].v3 = _mm512_xor_si512(s[g].v3, words[g]);
	round_all(s, groups);
	round_all(s, groups);
#pragma GCC unroll 4
	for (uint32_t g = 0; g < groups; g++)
		s[g].v0 = _mm512_xor_si512(s[g].v0, words[g]);
}

STEP void finish(struct state *s, __m512i *out, uint32_t groups)
{
	for (int i = 0; i < 4; i++)
		round_all(s, groups);
#pragma GCC unroll 4
	for (uint32_t g = 0; g < groups; g++)
		out[g] = _mm512_xor_si512(
			_mm512_xor_si512(s[g].v0, s[g].v1), _mm512_xor_si512(s[g].v2, s[g].v3));
}

STEP void finish_both(struct state *s, __m512i *low, __m512i *high, uint32_t groups)
{
#pragma GCC unroll 4
	for (uint32_t g = 0; g < groups; g++)
		s[g].v2 = _mm512_xor_si512(s[g].v2, _mm512_set1_epi64(0xee));
	finish(s, low, groups);
#pragma GCC unroll 4
	for (uint32_t g = 0; g < groups; g++)
		s[g].v1 = _mm512_xor_si512(s[g].v1, _mm512_set1_epi64(0xdd));
	finish(s, high, groups);
}

STEP void start(struct state *s, __m512i k0, __m512i k1)
{
	s->v0 = _mm512_xor_si512(k0, _mm512_set1_epi64(0x736f6d6570736575ll));
	s->v1 = _mm512_xor_si512(k1, _mm512_set1_epi64(0x646f72616e646f6dll ^ 0xee));
	s->v2 = _mm512_xor_si512(k0, _mm512_set1_epi64(0x6c7967656e657261ll));
	s->v3 = _mm512_xor_si512(k1, _mm512_set1_epi64(0x7465646279746573ll));
}

STEP void absorb(struct state *s, const uint8_t *const data[], uint32_t size, uint32_t groups)
{
	uint32_t words = size / 8 + 1; // the last holds the size in its top byte
	const __m512i closing = _mm512_set1_epi64((long long)((uint64_t)size << 56));
	for (uint32_t first = 0; first < words; first += 8) {
		uint32_t bytes = size - first * 8;
		__mmask64 valid = bytes >= 64 ? ~0ull : (1ull << bytes) - 1;
		__m512i rows[GROUPS_MAX][LANES];
		for (uint32_t g = 0; g < groups; g++) {
			for (uint32_t lane = 0; lane < LANES; lane++)
				rows[g][lane] = _mm512_maskz_loadu_epi8(
					valid, data[g * LANES + lane] + first * 8);
			transpose(rows[g]);
		}
		for (uint32_t i = 0; i < 8 && first + i < words; i++) {
			__m512i word[GROUPS_MAX];
			for (uint32_t g = 0; g < groups; g++)
				word[g] = first + i + 1 < words
						  ? rows[g][i]
						  : _mm512_or_si512(rows[g][i], closing);
			compress(s, word, groups);
		}
	}
}

// lanes: how many of a group's tags are wanted.
STEP void store_tags(__m512i low, __m512i high, uint32_t lanes, uint8_t (*tags)[WIRE_TAG_BYTES])
{
	const __m512i first = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0);
	const __m512i second = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);
	uint32_t words = lanes * 2;
	__mmask8 in_first = (__mmask8)(words >= 8 ? 0xff : (1u << words) - 1);
	__mmask8 in_second = (__mmask8)(words <= 8 ? 0 : (1u << (words - 8)) - 1);
	_mm512_mask_storeu_epi64(tags, in_first, _mm512_permutex2var_epi64(low, first, high));
	_mm512_mask_storeu_epi64(tags + 4, in_second, _mm512_permutex2var_epi64(low, second, high));
}

STEP void tag_side_by_side(const struct wire_key *const keys[], const uint8_t *const data[],
	uint32_t size, uint32_t groups, uint32_t wanted, uint8_t (*tags)[WIRE_TAG_BYTES])
{
	struct state s[GROUPS_MAX];
	__m512i low[GROUPS_MAX], high[GROUPS_MAX];
	for (uint32_t g = 0; g < groups; g++) {
		__m512i k0, k1;
		load_keys(keys + g * LANES, &k0, &k1);
		start(&s[g], k0, k1);
	}
	absorb(s, data, size, groups);
	finish_both(s, low, high, groups);
	for (uint32_t g = 0; g < groups && g * LANES < wanted; g++) {
		uint32_t left = wanted - g * LANES;
		store_tags(low[g], high[g], left < LANES ? left : LANES, tags + g * LANES);
	}
}

// Tags the last few frames. Idle lanes repeat the last frame; their tags are not stored.
TARGET static void tag_rest(const struct wire_key *const keys[], const uint8_t *const data[],
	uint32_t size, uint32_t count, uint8_t (*tags)[WIRE_TAG_BYTES])
{
	const struct wire_key *all_keys[LANES_MAX];
	const uint8_t *all_data[LANES_MAX];
	for (uint32_t lane = 0; lane < LANES_MAX; lane++) {
		uint32_t from = lane < count ? lane : count - 1;
		all_keys[lane] = keys[from];
		all_data[lane] = data[from];
	}
	if (count <= LANES)
		tag_side_by_side(all_keys, all_data, size, 1, count, tags);
	else
		tag_side_by_side(all_keys, all_data, size, 2, count, tags);
}

TARGET void siphash_burst_avx512(const struct wire_key *const keys[], const uint8_t *const data[],
	uint32_t size, uint32_t count, uint8_t (*tags)[WIRE_TAG_BYTES])
{
	uint32_t i = 0;
	for (; i + LANES_MAX <= count; i += LANES_MAX)
		tag_side_by_side(keys + i, data + i, size, 2, LANES_MAX, tags + i);
	if (i < count)
		tag_rest(keys + i, data + i, size, count - i, tags + i);
}

// Sums the halves of each lane's word.
STEP __m512i add_halves(__m512i sum, __m512i words)
{
	sum = _mm512_add_epi64(sum, _mm512_and_si512(words, _mm512_set1_epi64(0xffffffffll)));
	return _mm512_add_epi64(sum, _mm512_srli_epi64(words, 32));
}

// Word i of the acknowledgements of eight heartbeats, whose own word it is.
STEP __m512i ack_word(const struct wire_beats *b, uint32_t first, uint32_t i, __m512i own)
{
	switch (i) {
	case 0: return _mm512_xor_si512(own, _mm512_set1_epi64(WIRE_BEAT_TO_ACK));
	case 3: return _mm512_set1_epi64((long long)b->term);
	case 4: return _mm512_load_si512(&b->ack_index[first]);
	case 5: return _mm512_load_si512(&b->ack_end[first]);
	default: return own;
	}
}

// Each group is tagged beside its acknowledgements.
TARGET static void tag_beats(struct wire_beats *b)
{
	struct state s[CHAINS];
	__m512i rows[GROUPS_MAX][LANES], sums[GROUPS_MAX], low[CHAINS], high[CHAINS];
#pragma GCC unroll 2
	for (uint32_t g = 0; g < GROUPS_MAX; g++) {
		uint32_t at = g * LANES;
		start(&s[g], _mm512_load_si512(&b->key[0][at]), _mm512_load_si512(&b->key[1][at]));
		s[GROUPS_MAX + g] = s[g];
#pragma GCC unroll 8
		for (uint32_t lane = 0; lane < LANES; lane++)
			rows[g][lane] = _mm512_loadu_si512(b->frames[at + lane]);
		transpose(rows[g]);
		sums[g] = _mm512_setzero_si512();
	}
#pragma GCC unroll 8
	for (uint32_t i = 0; i < WIRE_BEAT_WORDS; i++) {
		__m512i words[CHAINS];
#pragma GCC unroll 2
		for (uint32_t g = 0; g < GROUPS_MAX; g++) {
			words[g] = rows[g][i];
			words[GROUPS_MAX + g] = ack_word(b, g * LANES, i, rows[g][i]);
			sums[g] = add_halves(sums[g], words[GROUPS_MAX + g]);
		}
		compress(s, words, CHAINS);
	}
	const __m512i size = _mm512_set1_epi64(WIRE_BEAT_WORDS * 8ll << 56);
	compress(s, (__m512i[CHAINS]){size, size, size, size}, CHAINS);
	finish_both(s, low, high, CHAINS);
#pragma GCC unroll 2
	for (uint32_t g = 0; g < GROUPS_MAX; g++) {
		uint32_t at = g * LANES;
		__m512i ack_low = low[GROUPS_MAX + g], ack_high = high[GROUPS_MAX + g];
		_mm512_store_si512(&b->differs[at],
			_mm512_or_si512(_mm512_xor_si512(low[g], rows[g][WIRE_BEAT_WORDS]),
				_mm512_xor_si512(high[g], rows[g][WIRE_BEAT_WORDS + 1])));
		_mm512_store_si512(&b->ack_tag[0][at], ack_low);
		_mm512_store_si512(&b->ack_tag[1][at], ack_high);
		_mm512_store_si512(
			&b->ack_sum[at], add_halves(add_halves(sums[g], ack_low), ack_high));
	}
}

TARGET void wire_beats_tag_avx512(struct wire_beats *b)
{
	if (b->count == 0)
		return;
	wire_beats_fill_lanes(b, LANES_MAX);
	tag_beats(b);
}

#else
void wire_beats_tag_avx512(struct wire_beats *b)
{
	wire_beats_tag_by(siphash_burst_scalar, b);
}

void siphash_burst_avx512(const struct wire_key *const keys[], const uint8_t *const data[],
	uint32_t size, uint32_t count, uint8_t (*tags)[WIRE_TAG_BYTES])
{
	siphash_burst_scalar(keys, data, size, count, tags);
}
#endif
