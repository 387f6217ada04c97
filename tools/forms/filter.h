// ?filter= of lists: expressions over the JSON form of one item, in the language that Nomad's clients write.
//
// Comparisons are joined by `and` and `or`, `and` binding closer, negated by `not`, and grouped by parentheses:
//     selector == value, !=        a selector: Name, Name.Name or Name["na.me"]
//     selector contains value, not contains        an array, a map (its names) or a text does
//     value in selector, not in                      the same the other way around
//     selector is empty, is not empty
//     selector matches "regular expression", not matches
// A value is a word, a number, or text in "" (with escapes as in JSON) or ``.
#pragma once
#include "state/base/text.h"
#include <jansson.h>

#define FILTER_BYTES_MAX 4096u
#define FILTER_DEPTH_MAX 32u  // of parentheses and "not"
#define FILTER_TERMS_MAX 128u // comparisons, and the words that join them
#define FILTER_PARTS_MAX 8u   // of a selector
#define FILTER_MESSAGE_BYTES 384u

struct filter;

// NULL when the text is no filter; the message names the mistake and its place (characters from 1).
struct filter *filter_parse(struct text, char message[static FILTER_MESSAGE_BYTES]);
void filter_free(struct filter *); // NULL is fine
// Whether the item passes. A member that the item lacks is unequal to everything, contains nothing, and is empty.
bool filter_fits(const struct filter *, const json_t *item);
// Whether a selector begins with this member, so that an item needs it.
bool filter_wants(const struct filter *, const char *name, size_t size);
// Calls is_known with the first part of each selector until it returns false; returns that part, or NULL.
const char *filter_find_unknown(
	const struct filter *, bool (*is_known)(const char *name, void *context), void *context);
