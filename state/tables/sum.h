// Sums by which two processes tell whether they have the same. Quick, not safe against who wants things to be alike.
#pragma once
#include "state/base/crc32c.h"
#include "state/base/schema.h"
#include "state/base/uuid.h"
#include <stdint.h>
#include <string.h>

#define SUM_NOTHING 0x9e3779b97f4a7c15ull // where a sum begins

static inline uint64_t sum_u64(uint64_t sum, uint64_t value)
{
	sum = (sum ^ value) * 0x9e3779b97f4a7c15ull;
	return sum ^ (sum >> 29);
}

static inline uint64_t sum_uuid(uint64_t sum, const struct uuid *id)
{
	uint64_t halves[2];

	memcpy(halves, id->bytes, sizeof halves);
	return sum_u64(sum_u64(sum, halves[0]), halves[1]);
}

static inline uint64_t sum_bytes(uint64_t sum, const void *data, size_t size)
{
	return sum_u64(sum, (uint64_t)size << 32 | crc32c(0, data, size));
}

// NULL is the empty string.
static inline uint64_t sum_string(uint64_t sum, const char *string)
{
	return string ? sum_bytes(sum, string, strlen(string)) : sum_bytes(sum, "", 0);
}

// Goes on with the sum; that of equal records is equal.
uint64_t record_sum(const struct record_type *, const void *record, uint64_t sum);
