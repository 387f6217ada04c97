// SipHash-2-4 with 128-bit output (Aumasson and Bernstein, 2012), one frame at a time and in lanes.
#pragma once
#include "dataplane/wire/wire.h"
#include "dataplane/wire/wire_key.h"

void siphash128(const struct wire_key *, const uint8_t *data, uint32_t size,
	uint8_t tag[static WIRE_TAG_BYTES]);

typedef void siphash_burst(const struct wire_key *const keys[], const uint8_t *const data[],
	uint32_t size, uint32_t count, uint8_t (*tags)[WIRE_TAG_BYTES]);

siphash_burst siphash_burst_scalar, siphash_burst_avx2, siphash_burst_avx512;
