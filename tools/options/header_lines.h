// Headers of HTTP answers as people configure them: "Name: value", one a line.
#pragma once
#include "state/base/text.h"
#include <stdbool.h>

#define HEADER_LINES_BYTES 1024u // of all of them, with a NUL
#define HEADER_LINES_MAX 32u

// Takes the first header off the lines. Empty lines are passed over, and so are blanks around names and values. False
// when there is none left. A line without a colon is a name without a value.
bool header_lines_next(struct text *lines, struct text *name, struct text *value);
// Whether each is a header by the grammar of HTTP, there once, and none of those that Berth's API says itself. False
// and a sentence.
bool header_lines_are_sound(const char *lines, char *message, size_t size);
