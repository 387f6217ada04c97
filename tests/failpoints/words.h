// A command line that is made word by word.
#pragma once

#define WORDS_MOST 40

// Begins as {0}. The words are pointed to from within: it is not copied.
struct words {
	char text[WORDS_MOST][160];
	char *at[WORDS_MOST + 1]; // NULL-ended
	int count;
};

// More of them than there is room for end the test.
void words_add(struct words *, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Each of them behind two hyphens; NULL ends them.
void words_add_settings(struct words *, const char *const *settings);
