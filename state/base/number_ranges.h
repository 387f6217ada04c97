// Lists of numbers and ranges, as people write ports and cores: "22,80,8000-8010".
#pragma once
#include "state/base/text.h"

struct number_range {
	uint32_t least, most; // inclusive
};

// Reads decimal digits only; false when text is empty, has anything else, or exceeds most.
bool number_read(struct text, uint32_t most, uint32_t *number);
// Takes the first range off the list. False when the list is empty or begins with no range: text is then unchanged.
bool number_ranges_next(struct text *, uint32_t most, struct number_range *);
// The empty list is sound.
bool number_ranges_are_sound(struct text, uint32_t most);
