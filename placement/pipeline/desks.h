// Where scheduler threads decide. There are fewer desks than threads: a thread has one only while it looks at a view,
// and leaves it to another thread's evaluation while its plan is on the way. Each desk has an index of the fleet.
#pragma once
#include "placement/direct/fleet_mirror.h"

struct desks;

// claims: NULL when nobody claims anything.
struct desks *desks_create(const struct state *, struct claims *claims, uint32_t count);
void desks_destroy(struct desks *); // every desk was given back
// Waits for a desk; who works for the highest priority comes first, then who asked first. Any thread. While many
// placements are on their way, no more evaluations are in work than there are desks, those that wait for their plan
// included.
struct fleet_mirror *desks_take(struct desks *, int64_t priority);
void desks_give(struct desks *, struct fleet_mirror *);
// A plan goes its way, and comes to its end.
void desks_plan_begins(struct desks *, uint32_t placements);
void desks_plan_ends(struct desks *, uint32_t placements);
// Threads that wait for a desk.
uint32_t desks_waiting(struct desks *);
