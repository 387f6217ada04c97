// Lists of numbers and ranges, as people write ports and cores: "22,80,8000-8010".
#pragma once
#include "state/base/text.h"

struct number_range {
	uint32_t least, most; // both are in it
};

// Decimal digits alone; false when there are none, something else, or more than most.
bool number_read(struct text, uint32_t most, uint32_t *number);
// Takes the first range off the list. False when there is none, or it is not one: text is then as
// it was.
bool number_ranges_next(struct text *, uint32_t most, struct number_range *);
// The empty list is sound.
bool number_ranges_are_sound(struct text, uint32_t most);
