// The index of the nodes of any view that a scheduler is given: each view begins with a look at all of them. The daemon
// has something better (placement/direct/fleet_mirror.h).
#pragma once
#include "placement/scheduler/common/view.h"

struct view_fleet;

struct view_fleet *view_fleet_create(void);
void view_fleet_destroy(struct view_fleet *); // NULL is fine
// A new view begins, which is given its index. Its nodes are read once somebody asks for them.
void view_fleet_begin(struct view_fleet *, struct scheduler_view *);
