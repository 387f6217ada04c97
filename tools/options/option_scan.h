// Scans the words of a command line one by one: options with their values, and arguments between them. Each program has
// its own table of options and its own words for mistakes.
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum option_event {
	OPTION_END,
	OPTION_ARGUMENT,    // a word that is no option
	OPTION_GIVEN,       // number and value are set
	OPTION_UNKNOWN,     // no option has this name
	OPTION_AMBIGUOUS,   // several options begin so
	OPTION_NEEDS_VALUE, // but no word is left for it
	OPTION_TAKES_NONE,  // but a value was given
	OPTION_OF_ONE_DASH, // "-x", though options have two dashes
};

struct option_match {
	int number; // the program's number for it
	bool takes_value;
};

struct option_syntax {
	// Finds an option by the first size characters of name: OPTION_GIVEN, OPTION_UNKNOWN or OPTION_AMBIGUOUS.
	enum option_event (*find)(
		const void *context, const char *name, size_t size, struct option_match *);
	const void *context;
	bool has_one_dash;     // -name is the same as --name
	bool ends_with_dashes; // all words after "--" are arguments
	bool ends_at_argument; // all words after the first argument are arguments
};

struct option_scan {
	const char *const *next; // NULL-ended
	bool has_ended;          // "--" has come
	// Of the newest event:
	const char *word, *name; // name: without its dashes
	const char *value;       // NULL: none
	int number;
};

enum option_event option_next(struct option_scan *, const struct option_syntax *);
