// Telling allocations to leave: ids are gathered in read sections and sent in commands that are not too large.
#pragma once
#include "placement/watch/frame/watch_tools.h"

// Nomad's bound of one write.
#define FLAGS_AT_ONCE 7281u

// With the migrate flag, and an evaluation for each job of them. Returns 0 or the first error; what came before it is
// flagged. Counts what it flags.
int flag_to_migrate(const struct watch_tools *, const struct uuid *, uint32_t count);
// Direct allocations, which no scheduler moves: they are released.
int release_allocations(const struct watch_tools *, const struct uuid *, uint32_t count);
