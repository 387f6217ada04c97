// Shared by the files of a world.
#pragma once
#include "tests/placement/scheduler/world.h"

// Frees the memory with the world; returns it.
void *world_keep(struct world *, void *memory);
// The whole text must be a number.
long world_number(const char *text);
bool world_has_prefix(const char *word, const char *prefix);
