// What the files of a world share.
#pragma once
#include "tests/placement/scheduler/world.h"

// Memory that is freed with the world; returns it.
void *world_keep(struct world *, void *memory);
// All of the text is one.
long world_number(const char *text);
bool world_has_prefix(const char *word, const char *prefix);
