// Looks after what nobody else does (docs/spec/evaluations.md): timers of the broker, evaluations that failed,
// that others made needless or that lost against another, old knowledge, the schedule of garbage collection, and
// whether an operator has paused the broker.
#pragma once
#include "placement/pipeline/pipeline_parts.h"

struct housekeeping;

struct housekeeping *housekeeping_create(struct pipeline *);
int housekeeping_start(struct housekeeping *);
void housekeeping_join(struct housekeeping *);
void housekeeping_destroy(struct housekeeping *);
void housekeeping_kick(struct housekeeping *); // NULL is fine
// Everything that is due, on the calling thread. True when something was done.
bool housekeeping_turn(struct housekeeping *);
