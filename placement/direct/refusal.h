// Why no node was found, in numbers: every node is in exactly one category, and once known the counts of the
// categories follow each change.
#pragma once
#include "placement/direct/fit_index.h"
#include "placement/direct/verdicts.h"

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

// First filters in the order of the verdicts, then what is exhausted: cpu, memory, disk, devices. matches: of the
// node's class, as device_needs_match() fills them; not used unless the verdict lets the node pass.
uint8_t refusal_category(
	const struct verdicts *, const struct fit_node *, uint8_t verdict, const uint8_t *matches);
// Whether so many free devices are enough for the group.
bool refusal_devices_suffice(
	const struct verdicts *, const struct fit_node *, const uint8_t *matches);
void refusal_fill(const uint32_t counts[CATEGORIES], uint32_t constraints, struct place_refusal *);
