// A fleet that follows the published state, and what is claimed on top of it, by their feeds of changed nodes. One
// thread at a time, which is in a read section of the state whenever an index is asked for.
#pragma once
#include "placement/direct/claims.h"
#include "placement/direct/fleet.h"
#include "state/tables/state.h"

struct fleet_mirror;

// claims: NULL when nobody claims anything.
struct fleet_mirror *fleet_mirror_create(const struct state *, struct claims *);
void fleet_mirror_destroy(struct fleet_mirror *); // NULL is fine
struct fleet *fleet_mirror_fleet(struct fleet_mirror *);
