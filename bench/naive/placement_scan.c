#include "bench/naive/placement_scan.h"
#include "state/base/check.h"
#include "state/base/memory.h"
#include <stdlib.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

static void *column(uint32_t nodes)
{
	void *memory = memory_map((size_t)(nodes + 15) / 16 * 64);
	CHECK(memory);
	return memory;
}

struct scan scan_create(enum placement_algorithm algorithm, uint32_t nodes)
{
	return (struct scan){algorithm, nodes, column(nodes), column(nodes), column(nodes),
		column(nodes), column(nodes), memory_take_array(nodes, sizeof(struct resources))};
}

void scan_destroy(struct scan *s)
{
	void *columns[] = {
		s->cpu_free, s->memory_free, s->disk_free, s->cpu_inverse, s->memory_inverse};
	for (uint32_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
		memory_unmap(columns[i], (size_t)(s->nodes + 15) / 16 * 64);
	free(s->capacity);
}

void scan_set(struct scan *s, uint32_t slot, struct resources capacity, struct resources used)
{
	s->capacity[slot] = capacity;
	s->cpu_free[slot] = capacity.cpu_mhz - used.cpu_mhz;
	s->memory_free[slot] = capacity.memory_mb - used.memory_mb;
	s->disk_free[slot] = capacity.disk_mb - used.disk_mb;
	s->cpu_inverse[slot] = 1.0f / (float)capacity.cpu_mhz;
	s->memory_inverse[slot] = 1.0f / (float)capacity.memory_mb;
}

static double score_of(const struct scan *s, uint32_t slot, struct resources ask)
{
	struct resources c = s->capacity[slot];
	struct resources used = {c.cpu_mhz - s->cpu_free[slot] + ask.cpu_mhz,
		c.memory_mb - s->memory_free[slot] + ask.memory_mb, 0};
	return placement_score(s->algorithm, c, used);
}

struct scan_answer scan_best_plain(const struct scan *s, struct resources ask)
{
	struct scan_answer best = {s->nodes, -1.0};
	for (uint32_t i = 0; i < s->nodes; i++) {
		if (s->cpu_free[i] < ask.cpu_mhz || s->memory_free[i] < ask.memory_mb ||
			s->disk_free[i] < ask.disk_mb)
			continue;
		double score = score_of(s, i, ask);
		if (score > best.score)
			best = (struct scan_answer){i, score};
	}
	return best;
}

#ifdef __x86_64__
#define WIDE __attribute__((target("avx512f,avx512vl,avx512dq")))

bool scan_has_avx512(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("avx512dq");
}

// 10^x in single precision, relative error below 1e-6; FAR is well above what that does to a sum of two.
#define FAR 1e-4f
WIDE static inline __m512 exp10_single(__m512 x)
{
	__m512 y = _mm512_mul_ps(x, _mm512_set1_ps(3.3219281f));
	__m512 n = _mm512_roundscale_ps(y, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
	__m512 f = _mm512_sub_ps(y, n);
	__m512 p = _mm512_set1_ps(1.3333558e-3f);
	p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(9.6181291e-3f));
	p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(5.5504109e-2f));
	p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(2.4022651e-1f));
	p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(6.9314718e-1f));
	p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(1.0f));
	return _mm512_scalef_ps(p, n);
}

WIDE static inline __m512 left_over(const uint32_t *free, const float *inverse, __m512i ask)
{
	__m512i left = _mm512_sub_epi32(_mm512_load_si512(free), ask);
	return _mm512_mul_ps(_mm512_cvtepu32_ps(left), _mm512_load_ps(inverse));
}

// No node above this cost has such a score, or a better one.
static inline float cost_limit(double score, bool spread)
{
	return (float)(spread ? -2.0 - score * 18.0 : 20.0 - score * 18.0) + FAR;
}

// One pass: takes sixteen nodes at a time in single precision, and computes the exact score only for those that come
// close to the best so far.
WIDE static inline __attribute__((always_inline)) struct scan_answer scan_wide(
	const struct scan *s, struct resources ask, bool spread)
{
	struct scan_answer best = {s->nodes, -1.0};
	__m512i cpu = _mm512_set1_epi32((int)ask.cpu_mhz);
	__m512i memory = _mm512_set1_epi32((int)ask.memory_mb);
	__m512i disk = _mm512_set1_epi32((int)ask.disk_mb);
	__m512 limit = _mm512_set1_ps(100.0f);
	for (uint32_t i = 0; i < s->nodes; i += 16) {
		uint32_t real = s->nodes - i;
		__mmask16 fits = real >= 16 ? 0xffff : (__mmask16)((1u << real) - 1);
		fits = _mm512_mask_cmpge_epu32_mask(fits, _mm512_load_si512(s->cpu_free + i), cpu);
		fits = _mm512_mask_cmpge_epu32_mask(
			fits, _mm512_load_si512(s->memory_free + i), memory);
		fits = _mm512_mask_cmpge_epu32_mask(
			fits, _mm512_load_si512(s->disk_free + i), disk);
		if (!fits)
			continue;
		__m512 cost = _mm512_add_ps(
			exp10_single(left_over(s->cpu_free + i, s->cpu_inverse + i, cpu)),
			exp10_single(left_over(s->memory_free + i, s->memory_inverse + i, memory)));
		if (spread)
			cost = _mm512_sub_ps(_mm512_setzero_ps(), cost);
		uint32_t close = _mm512_mask_cmp_ps_mask(fits, cost, limit, _CMP_LE_OQ);
		for (; close; close &= close - 1) {
			uint32_t slot = i + (uint32_t)__builtin_ctz(close);
			double score = score_of(s, slot, ask);
			if (score > best.score)
				best = (struct scan_answer){slot, score};
			limit = _mm512_set1_ps(cost_limit(best.score, spread));
		}
	}
	return best;
}

WIDE struct scan_answer scan_best_avx512(const struct scan *s, struct resources ask)
{
	return s->algorithm == PLACEMENT_SPREAD ? scan_wide(s, ask, true)
						: scan_wide(s, ask, false);
}
#else
bool scan_has_avx512(void)
{
	return false;
}
struct scan_answer scan_best_avx512(const struct scan *s, struct resources ask)
{
	return scan_best_plain(s, ask);
}
#endif
