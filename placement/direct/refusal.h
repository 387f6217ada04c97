// Why no node was found, in numbers: every node is in exactly one category, and once known the counts of the
// categories follow each change.
#pragma once
#include "placement/direct/feasibility.h"
#include "placement/direct/fit_index.h"

enum {
	CATEGORY_ABSENT = VERDICTS,
	CATEGORY_NOT_READY,
	CATEGORY_CPU,
	CATEGORY_MEMORY,
	CATEGORY_DISK,
	CATEGORY_DEVICE,
	CATEGORY_FITS,
	CATEGORIES,
};

// First filters in the order of the verdicts, then what is exhausted: cpu, memory, disk, devices.
uint8_t refusal_category(const struct group_ask *, const struct fit_node *, uint8_t verdict,
	const struct device_matches *);
void refusal_fill(const uint32_t counts[CATEGORIES], uint32_t constraints, struct place_refusal *);
