#ifdef __x86_64__
#include "placement/direct/fit_box.h"
#include "placement/direct/fit_tree.h"
#include <immintrin.h>
#include <math.h>

#define WIDE __attribute__((target("avx512f,avx512vl,avx512dq")))
#define INLINE WIDE static inline __attribute__((always_inline))

_Static_assert(FIT_EXP2_TERMS == 12, "the polynomial is written out");

// terms[i] + terms[i + 1] f
INLINE __m512d pair(uint32_t i, __m512d f)
{
	return _mm512_fmadd_pd(
		f, _mm512_set1_pd(fit_exp2_terms[i + 1]), _mm512_set1_pd(fit_exp2_terms[i]));
}

INLINE __m512d exp10_approximate(__m512d x)
{
	__m512d y = _mm512_mul_pd(x, _mm512_set1_pd(FIT_LOG2_OF_10));
	__m512d rounded = _mm512_add_pd(y, _mm512_set1_pd(FIT_ROUNDER));
	__m512d f = _mm512_sub_pd(y, _mm512_sub_pd(rounded, _mm512_set1_pd(FIT_ROUNDER)));
	// Estrin's scheme: the latency of one result counts here.
	__m512d f2 = _mm512_mul_pd(f, f), f4 = _mm512_mul_pd(f2, f2);
	__m512d low = _mm512_fmadd_pd(f2, pair(2, f), pair(0, f));
	__m512d middle = _mm512_fmadd_pd(f2, pair(6, f), pair(4, f));
	__m512d high = _mm512_fmadd_pd(f2, pair(10, f), pair(8, f));
	__m512d p = _mm512_fmadd_pd(f4, _mm512_fmadd_pd(f4, high, middle), low);
	__m512i exponent = _mm512_slli_epi64(_mm512_castpd_si512(rounded), 52);
	return _mm512_castsi512_pd(_mm512_add_epi64(_mm512_castpd_si512(p), exponent));
}

INLINE __m256i eight(const uint32_t *column)
{
	return _mm256_load_si256((const __m256i *)column);
}
INLINE __m512d eight_wide(const uint32_t *column)
{
	return _mm512_cvtepu32_pd(eight(column));
}

// Eight fractions that stay free after the ask.
INLINE __m512d fractions(const uint32_t *free_column, const uint32_t *capacity, __m512d ask)
{
	return _mm512_div_pd(_mm512_sub_pd(eight_wide(free_column), ask), eight_wide(capacity));
}

INLINE __m512d signed_total(__m512d x, __m512d y, bool spread)
{
	__m512d total = _mm512_add_pd(exp10_approximate(x), exp10_approximate(y));
	return spread ? _mm512_sub_pd(_mm512_setzero_pd(), total) : total;
}

INLINE uint32_t scan_leaf(const struct fit_leaf *l, const struct fit_bounds *b,
	double cost[FIT_LEAF_NODES], bool spread)
{
	__m256i cpu = _mm256_set1_epi32((int)b->cpu), memory = _mm256_set1_epi32((int)b->memory),
		disk = _mm256_set1_epi32((int)b->disk);
	__m512d cpu_wide = _mm512_set1_pd(b->cpu), memory_wide = _mm512_set1_pd(b->memory);
	uint32_t found = 0;
	for (uint32_t i = 0; i < l->count; i += 8) {
		__mmask8 fits = _mm256_cmpge_epu32_mask(eight(l->cpu_free + i), cpu) &
				_mm256_cmpge_epu32_mask(eight(l->memory_free + i), memory) &
				_mm256_cmpge_epu32_mask(eight(l->disk_free + i), disk);
		if (!fits)
			continue;
		__m512d total = signed_total(
			fractions(l->cpu_free + i, l->cpu_capacity + i, cpu_wide),
			fractions(l->memory_free + i, l->memory_capacity + i, memory_wide), spread);
		_mm512_storeu_pd(cost + i, total);
		uint32_t good = _mm512_mask_cmp_pd_mask(
			fits, total, _mm512_set1_pd(b->cost_most), _CMP_LE_OQ);
		found |= good << i;
	}
	return found & (l->count == 32 ? ~0u : (1u << l->count) - 1);
}

// See fraction_bound in fit_scan.c.
INLINE __m512d fraction_bounds(const double *fraction, const uint32_t *free_least,
	const uint32_t *free_most, const uint32_t *capacity_least, const uint32_t *capacity_most,
	__m512d ask, bool spread)
{
	__m512d own = _mm512_load_pd(fraction);
	if (spread) {
		__m512d a = _mm512_sub_pd(own, _mm512_div_pd(ask, eight_wide(capacity_most)));
		__m512d b = fractions(free_most, capacity_least, ask);
		return _mm512_min_pd(_mm512_set1_pd(1.0), _mm512_min_pd(a, b));
	}
	__m512d a = _mm512_sub_pd(own, _mm512_div_pd(ask, eight_wide(capacity_least)));
	__m512d b = fractions(free_least, capacity_most, ask);
	return _mm512_max_pd(_mm512_setzero_pd(), _mm512_max_pd(a, b));
}

INLINE __mmask16 may_fit(const struct fit_branch *n, const struct fit_bounds *b)
{
	__mmask16 may = _mm512_cmpge_epu32_mask(
		_mm512_load_si512(n->cpu_free_most), _mm512_set1_epi32((int)b->cpu));
	may = _mm512_mask_cmpge_epu32_mask(
		may, _mm512_load_si512(n->memory_free_most), _mm512_set1_epi32((int)b->memory));
	may = _mm512_mask_cmpge_epu32_mask(
		may, _mm512_load_si512(n->disk_free_most), _mm512_set1_epi32((int)b->disk));
	may = _mm512_mask_cmpge_epu32_mask(
		may, _mm512_load_si512(n->devices_most), _mm512_set1_epi32((int)b->devices));
	__m512i classes = _mm512_set1_epi64((long long)b->classes);
	uint32_t low = _mm512_test_epi64_mask(_mm512_load_si512(n->classes), classes);
	uint32_t high = _mm512_test_epi64_mask(_mm512_load_si512(n->classes + 8), classes);
	return may & (__mmask16)(low | high << 8);
}

INLINE uint32_t scan_branch(const struct fit_branch *n, const struct fit_bounds *b,
	double cost[FIT_BRANCH_CHILDREN], bool spread)
{
	uint32_t may = may_fit(n, b), found = 0;
	__m512d cpu = _mm512_set1_pd(b->cpu), memory = _mm512_set1_pd(b->memory);
	for (uint32_t i = 0; i < FIT_BRANCH_CHILDREN; i += 8) {
		__mmask8 mask = (__mmask8)(may >> i);
		if (!mask)
			continue;
		__m512d total =
			signed_total(fraction_bounds(n->cpu_fraction + i, n->cpu_free_least + i,
					     n->cpu_free_most + i, n->cpu_capacity_least + i,
					     n->cpu_capacity_most + i, cpu, spread),
				fraction_bounds(n->memory_fraction + i, n->memory_free_least + i,
					n->memory_free_most + i, n->memory_capacity_least + i,
					n->memory_capacity_most + i, memory, spread),
				spread);
		_mm512_storeu_pd(cost + i, total);
		uint32_t good = _mm512_mask_cmp_pd_mask(
			mask, total, _mm512_set1_pd(b->cost_most), _CMP_LE_OQ);
		found |= good << i;
	}
	return found;
}

INLINE __m512 quick_exp10(__m512 x)
{
	__m512 p = _mm512_set1_ps(fit_quick_terms[FIT_QUICK_TERMS - 1]);
	for (int i = (int)FIT_QUICK_TERMS - 2; i >= 0; i--)
		p = _mm512_fmadd_ps(p, x, _mm512_set1_ps(fit_quick_terms[i]));
	return p;
}

// See quick_cost in fit_scan.c: of the 16 lanes from i on.
INLINE __m512 quick_costs(
	const struct fit_flat_block *n, const struct fit_bounds *b, uint32_t i, bool spread)
{
	uint32_t filled = n->nodes.count >= 32 ? ~0u : (1u << n->nodes.count) - 1;
	__mmask16 fits = _mm512_mask_cmpge_epu32_mask((__mmask16)(filled >> i),
		_mm512_load_si512(n->nodes.cpu_free + i), _mm512_set1_epi32((int)b->cpu));
	fits = _mm512_mask_cmpge_epu32_mask(fits, _mm512_load_si512(n->nodes.memory_free + i),
		_mm512_set1_epi32((int)b->memory));
	fits = _mm512_mask_cmpge_epu32_mask(
		fits, _mm512_load_si512(n->nodes.disk_free + i), _mm512_set1_epi32((int)b->disk));
	__m512 x = _mm512_fnmadd_ps(_mm512_set1_ps((float)b->cpu),
		_mm512_load_ps(n->cpu_inverse + i), _mm512_load_ps(n->cpu_fraction + i));
	__m512 y = _mm512_fnmadd_ps(_mm512_set1_ps((float)b->memory),
		_mm512_load_ps(n->memory_inverse + i), _mm512_load_ps(n->memory_fraction + i));
	__m512 total = _mm512_add_ps(quick_exp10(x), quick_exp10(y));
	if (spread)
		total = _mm512_sub_ps(_mm512_setzero_ps(), total);
	return _mm512_mask_mov_ps(_mm512_set1_ps(INFINITY), fits, total);
}

INLINE float scan_quickly(const struct fit_flat_block *blocks, uint32_t count,
	const struct fit_bounds *b, struct fit_flat_costs *costs, bool spread)
{
	const struct fit_bounds bounds = *b; // stays in registers while costs are written
	__m512 all = _mm512_set1_ps(INFINITY);
	for (uint32_t i = 0; i < count; i++) {
		__m512 both = _mm512_min_ps(quick_costs(&blocks[i], &bounds, 0, spread),
			quick_costs(&blocks[i], &bounds, FIT_FLAT_PAIRS, spread));
		_mm512_store_ps(costs[i].least, both);
		all = _mm512_min_ps(all, both);
	}
	return _mm512_reduce_min_ps(all);
}

WIDE static float quick_binpack(const struct fit_flat_block *blocks, uint32_t count,
	const struct fit_bounds *b, struct fit_flat_costs *costs)
{
	return scan_quickly(blocks, count, b, costs, false);
}

WIDE static float quick_spread(const struct fit_flat_block *blocks, uint32_t count,
	const struct fit_bounds *b, struct fit_flat_costs *costs)
{
	return scan_quickly(blocks, count, b, costs, true);
}

WIDE static uint32_t next_of(
	const struct fit_flat_costs *costs, uint32_t from, uint32_t count, float most)
{
	__m512 limit = _mm512_set1_ps(most);
	while (from < count &&
		!_mm512_cmp_ps_mask(_mm512_load_ps(costs[from].least), limit, _CMP_LE_OQ))
		from++;
	return from;
}

INLINE uint32_t near_lanes(
	const struct fit_flat_block *n, const struct fit_bounds *b, float most, bool spread)
{
	__m512 limit = _mm512_set1_ps(most);
	uint32_t low = _mm512_cmp_ps_mask(quick_costs(n, b, 0, spread), limit, _CMP_LE_OQ);
	uint32_t high =
		_mm512_cmp_ps_mask(quick_costs(n, b, FIT_FLAT_PAIRS, spread), limit, _CMP_LE_OQ);
	return low | high << FIT_FLAT_PAIRS;
}

WIDE static uint32_t near_binpack(
	const struct fit_flat_block *n, const struct fit_bounds *b, float most)
{
	return near_lanes(n, b, most, false);
}

WIDE static uint32_t near_spread(
	const struct fit_flat_block *n, const struct fit_bounds *b, float most)
{
	return near_lanes(n, b, most, true);
}

INLINE __mmask16 equal_lanes(__mmask16 among, const uint32_t *column, uint32_t value)
{
	return _mm512_mask_cmpeq_epu32_mask(
		among, _mm512_load_si512(column), _mm512_set1_epi32((int)value));
}

WIDE static uint32_t alike_of(const struct fit_leaf *l, const struct fit_candidate *c,
	uint32_t first_slot, uint32_t *behind)
{
	__m512i first = _mm512_set1_epi32((int)first_slot);
	__m512i own = _mm512_set1_epi32((int)(c->slot - first_slot));
	uint32_t found = 0, after = 0, filled = l->count == 32 ? ~0u : (1u << l->count) - 1;
	for (uint32_t i = 0; i < FIT_LEAF_NODES; i += 16) {
		__mmask16 same = equal_lanes(0xffff, l->cpu_free + i, c->cpu_free);
		same = equal_lanes(same, l->memory_free + i, c->memory_free);
		same = equal_lanes(same, l->cpu_capacity + i, c->cpu_capacity);
		same = equal_lanes(same, l->memory_capacity + i, c->memory_capacity);
		__m512i slots = _mm512_sub_epi32(_mm512_load_si512(l->slot + i), first);
		found |= (uint32_t)same << i;
		after |= (uint32_t)_mm512_cmpgt_epu32_mask(slots, own) << i;
	}
	*behind = after & filled;
	return found & filled;
}

WIDE static void box_binpack(const struct fit_leaf *l, struct fit_box *x)
{
	fit_box_of_leaf_plain(l, x, false);
}
WIDE static void box_spread(const struct fit_leaf *l, struct fit_box *x)
{
	fit_box_of_leaf_plain(l, x, true);
}
WIDE static uint32_t leaf_binpack(
	const struct fit_leaf *l, const struct fit_bounds *b, double cost[FIT_LEAF_NODES])
{
	return scan_leaf(l, b, cost, false);
}
WIDE static uint32_t leaf_spread(
	const struct fit_leaf *l, const struct fit_bounds *b, double cost[FIT_LEAF_NODES])
{
	return scan_leaf(l, b, cost, true);
}
WIDE static uint32_t branch_binpack(
	const struct fit_branch *n, const struct fit_bounds *b, double cost[FIT_BRANCH_CHILDREN])
{
	return scan_branch(n, b, cost, false);
}
WIDE static uint32_t branch_spread(
	const struct fit_branch *n, const struct fit_bounds *b, double cost[FIT_BRANCH_CHILDREN])
{
	return scan_branch(n, b, cost, true);
}

const struct fit_scans fit_scans_avx512[] = {
	[PLACEMENT_BINPACK] = {"avx512", box_binpack, leaf_binpack, branch_binpack, quick_binpack,
		next_of, near_binpack, alike_of},
	[PLACEMENT_SPREAD] = {"avx512", box_spread, leaf_spread, branch_spread, quick_spread,
		next_of, near_spread, alike_of},
};
#endif
