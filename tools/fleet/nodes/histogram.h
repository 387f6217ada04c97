// Histogram of times in microseconds, exact to about 6 %: sixteen steps per power of two.
#pragma once
#include <stdint.h>

#define HISTOGRAM_STEPS 16u
#define HISTOGRAM_CELLS (HISTOGRAM_STEPS * 29)

struct histogram {
	uint64_t count;
	uint64_t cells[HISTOGRAM_CELLS];
};

static inline uint32_t histogram_cell(uint32_t us)
{
	if (us < HISTOGRAM_STEPS)
		return us;
	uint32_t power = 31 - (uint32_t)__builtin_clz(us); // 4 …
	return (power - 3) * HISTOGRAM_STEPS + (us >> (power - 4)) - HISTOGRAM_STEPS;
}

static inline void histogram_add(struct histogram *h, uint32_t us)
{
	h->count++;
	h->cells[histogram_cell(us)]++;
}

// The largest time that falls into a cell.
static inline uint32_t histogram_top_us(uint32_t cell)
{
	if (cell < HISTOGRAM_STEPS)
		return cell;
	uint32_t power = cell / HISTOGRAM_STEPS + 3;
	uint64_t step = 1ull << (power - 4);
	return (uint32_t)((1ull << power) + (cell % HISTOGRAM_STEPS + 1) * step - 1);
}

// The time that the given share of all times does not exceed; 0 for an empty histogram.
static inline uint32_t histogram_us(const struct histogram *h, double share)
{
	uint64_t wanted = (uint64_t)(share * (double)h->count), seen = 0;
	for (uint32_t cell = 0; cell < HISTOGRAM_CELLS; cell++) {
		seen += h->cells[cell];
		if (seen > wanted || (seen == h->count && seen > 0))
			return histogram_top_us(cell);
	}
	return 0;
}
