#include "tools/berth/cli/suggest.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define WORD_MAX 63u // longer words are near nothing

static uint32_t least_of(uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t least = a < b ? a : b;
	return least < c ? least : c;
}

// How many letters to change, leave out, put in or swap with the next one.
static uint32_t distance_of(const char *a, const char *b)
{
	uint32_t rows[3][WORD_MAX + 2], *before = rows[0], *above = rows[1], *row = rows[2];
	uint32_t a_size = (uint32_t)strlen(a), b_size = (uint32_t)strlen(b);
	if (a_size > WORD_MAX || b_size > WORD_MAX)
		return UINT32_MAX;
	for (uint32_t k = 0; k <= b_size; k++)
		above[k] = k;
	for (uint32_t i = 1; i <= a_size; i++) {
		row[0] = i;
		for (uint32_t k = 1; k <= b_size; k++) {
			bool differ = a[i - 1] != b[k - 1];
			bool swapped =
				i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1];
			row[k] = least_of(row[k - 1] + 1, above[k] + 1, above[k - 1] + differ);
			if (swapped && before[k - 2] + 1 < row[k])
				row[k] = before[k - 2] + 1;
		}
		uint32_t *oldest = before;
		before = above;
		above = row;
		row = oldest;
	}
	return above[b_size];
}

// One slip in a short word, one in three letters of a long one.
static uint32_t slips_allowed(const char *typed)
{
	size_t size = strlen(typed);
	return size < 3 ? 0 : size < 6 ? 1 : (uint32_t)size / 3;
}

void suggestion_consider(struct suggestion *s, const char *word)
{
	uint32_t distance = distance_of(s->typed, word);
	if (distance > slips_allowed(s->typed) || (s->best && distance >= s->distance))
		return;
	s->best = word;
	s->distance = distance;
}

const char *suggestion_text(const struct suggestion *s, char text[static SUGGESTION_BYTES])
{
	if (s->best)
		snprintf(text, SUGGESTION_BYTES, "; did you mean \"%s\"?", s->best);
	else
		*text = '\0';
	return text;
}
