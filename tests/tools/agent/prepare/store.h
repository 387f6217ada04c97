// Variables of a cluster in memory, asked as a controller is: a question with an index waits until it has changed.
#pragma once
#include "tools/agent/prepare/variable_source.h"

extern const struct variable_source store_source;

// text NULL: there is none. items: JSON of an object.
void store_put(const char *path, const char *items);
// Answers with this status from now on; 0: as it is, -1: it cannot be reached.
void store_fail(int status);
void store_clear(void);
uint32_t store_asked(void);
// Whether who asked last has been told all that there is, and waits for more: what it was told is where it belongs.
bool store_is_known(void);
