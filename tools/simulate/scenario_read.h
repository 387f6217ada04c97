// Scenarios from JSON.
#pragma once
#include "tools/simulate/scenario.h"

// Reads a file's text; mistakes are collected, each with its path. NULL when there are any.
struct scenario *scenario_read(const char *text, size_t size, struct json_report *);
// The same from parsed JSON, which the reading changes: it can be read only once.
struct scenario *scenario_read_json(json_t *root, struct json_report *);
void scenario_free(struct scenario *); // NULL is fine
