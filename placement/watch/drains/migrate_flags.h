// Tells allocations to leave: ids are gathered in read sections and sent in commands of bounded size.
#pragma once
#include "placement/watch/frame/watch_tools.h"

// Nomad's bound of one write.
#define FLAGS_AT_ONCE 7281u

// Sets the migrate flag, and makes an evaluation for each of their jobs. Returns 0 or the first error; commands
// before it have flagged theirs. Counts what it flags.
int flag_to_migrate(const struct watch_tools *, const struct uuid *, uint32_t count);
// Releases direct allocations, which no scheduler moves.
int release_allocations(const struct watch_tools *, const struct uuid *, uint32_t count);
