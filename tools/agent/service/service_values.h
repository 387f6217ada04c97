// Values of query parameters, read as Go's strconv reads them, with its words for what is wrong.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// NULL: it was read; else why not: "invalid syntax" or "value out of range".
const char *service_read_i64(const char *text, int64_t *value);
const char *service_read_bool(const char *text, bool *value);
