// Does the remaining upkeep (docs/spec/evaluations.md): the broker's timers, evaluations that failed, became needless
// or lost against another, old unblocks, the schedule of garbage collection, and whether an operator has paused the
// broker.
#pragma once
#include "placement/pipeline/pipeline_parts.h"

struct housekeeping;

struct housekeeping *housekeeping_create(struct pipeline *);
int housekeeping_start(struct housekeeping *);
void housekeeping_join(struct housekeeping *);
void housekeeping_destroy(struct housekeeping *);
void housekeeping_kick(struct housekeeping *); // NULL is fine
// Kicks it only when evaluations have failed, become needless or lost. NULL is fine.
void housekeeping_look(struct housekeeping *);
// Does everything that is due, on the calling thread. True when it did something.
bool housekeeping_turn(struct housekeeping *);
