// Why the store refuses, in a sentence that says what, where and what to do.
#pragma once
#include <stdint.h>

#define COMPLAINT_BYTES 1024u // that every sentence fits in

struct complaint { // size is at least 1
	char *text;
	uint32_t size;
};

// Writes the sentence and returns error, so that a refusal is one statement.
int complain(const struct complaint *, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
