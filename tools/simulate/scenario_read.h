// Reads scenarios from JSON.
#pragma once
#include "tools/simulate/scenario.h"

// Reads a file's text and collects mistakes, each with its path. NULL when there are any.
struct scenario *scenario_read(const char *text, size_t size, struct json_report *);
// Reads parsed JSON, which the call changes, so that it can be read only once.
struct scenario *scenario_read_json(json_t *root, struct json_report *);
void scenario_free(struct scenario *); // NULL is fine
