// A fleet that follows the published state by its feed of changed nodes. One thread, which is in a read section of the
// state whenever an index is asked for.
#pragma once
#include "placement/direct/fleet.h"
#include "state/tables/state.h"

struct fleet_mirror;

struct fleet_mirror *fleet_mirror_create(const struct state *);
void fleet_mirror_destroy(struct fleet_mirror *); // NULL is fine
struct fleet *fleet_mirror_fleet(struct fleet_mirror *);
