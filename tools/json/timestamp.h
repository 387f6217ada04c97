// Times as JSON has them: RFC 3339 text.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// Go's zero time: never.
#define TIMESTAMP_NEVER "0001-01-01T00:00:00Z"

// Parses "2026-01-31T12:00:00.25+01:00" to unix ns. Go's zero time, "0001-01-01T00:00:00Z", is 0. False, without a
// change, when the text is no time, or when ns cannot hold its year.
bool timestamp_parse(const char *text, int64_t *unix_ns);
