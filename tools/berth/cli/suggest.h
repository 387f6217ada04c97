// The known word that is most like a mistyped one.
#pragma once
#include <stdint.h>

struct suggestion {
	const char *typed, *best; // best: NULL while nothing is like it; borrowed
	uint32_t distance;
};

#define SUGGESTION_BYTES 160u

void suggestion_consider(struct suggestion *, const char *word);
// "; did you mean \"ready\"?", or "" when nothing is near.
const char *suggestion_text(const struct suggestion *, char text[static SUGGESTION_BYTES]);
