// What a terminal can do that a file cannot: colours, and lines that are written over.
#pragma once
#include <stdbool.h>

// Standard output is a terminal that may be coloured: NO_COLOR is not set, TERM is not "dumb".
bool terminal_has_colours(void);
bool terminal_is_output(void); // standard output is one
bool terminal_is_error(void);  // standard error is one

// The sequences around a word that is a state: green, yellow or red; "" for any other word.
const char *terminal_colour_of(const char *word);
#define TERMINAL_PLAIN "\033[0m"
#define TERMINAL_BOLD "\033[1m"
#define TERMINAL_RED "\033[31m"
#define TERMINAL_CLEAR "\033[H\033[2J\033[3J"
