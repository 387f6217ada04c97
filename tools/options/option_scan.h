// The words of a command line, one after the other: options with their values, and arguments between them. What the
// options are called is for each program's table to say, and what a mistake is called for each program.
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum option_event {
	OPTION_END,
	OPTION_ARGUMENT,    // a word that is no option
	OPTION_GIVEN,       // number and value are set
	OPTION_UNKNOWN,     // there is none of that name
	OPTION_AMBIGUOUS,   // there are several that begin so
	OPTION_NEEDS_VALUE, // and no word is left for it
	OPTION_TAKES_NONE,  // and value was given to it
	OPTION_OF_ONE_DASH, // "-x", where options have two
};

struct option_match {
	int number; // the program's own
	bool takes_value;
};

struct option_syntax {
	// Finds an option by the first size characters of name: OPTION_GIVEN, OPTION_UNKNOWN or OPTION_AMBIGUOUS.
	enum option_event (*find)(
		const void *context, const char *name, size_t size, struct option_match *);
	const void *context;
	bool has_one_dash;     // -name is the same as --name
	bool ends_with_dashes; // what follows "--" are arguments
};

struct option_scan {
	const char *const *next; // NULL ends the words
	bool has_ended;          // "--" was there
	// Of the newest event.
	const char *word, *name; // name: without its dashes
	const char *value;       // NULL: none
	int number;
};

enum option_event option_next(struct option_scan *, const struct option_syntax *);
