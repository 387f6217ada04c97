// A placer without policy: the lowest slot whose node is ready and has room, the lowest free instances of the first
// device group that matches. It keeps no state, so that it is never out of date.
#pragma once
#include "state/tables/placer.h"
#include "state/tables/state.h"

struct placer first_fit_placer(struct state *);
// Whether the node can take another instance, and with which device instances.
bool first_fit_takes(const struct node_cell *, const struct group_ask *, struct device_set *);
