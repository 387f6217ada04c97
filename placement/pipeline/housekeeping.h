// Looks after what nobody else does (semantics §5.2 "leader loops"): timers of the broker, evaluations that failed,
// that others made needless or that lost against another, old knowledge, the schedule of garbage collection, and
// whether an operator has paused the broker.
#pragma once
#include "placement/pipeline/pipeline.h"

struct caretaker;

struct caretaker *caretaker_create(struct pipeline *);
int caretaker_start(struct caretaker *);
void caretaker_join(struct caretaker *);
void caretaker_destroy(struct caretaker *);
void caretaker_kick(struct caretaker *); // NULL is fine
// Everything that is due, on the calling thread. True when something was done.
bool caretaker_turn(struct caretaker *);
