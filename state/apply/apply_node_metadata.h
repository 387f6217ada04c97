// What becomes of the metadata that an operator set when its node registers or goes. Applier thread only.
#pragma once
#include "state/tables/state.h"

struct node_registration;

// Puts what was set of the node over the description that it registered with. False: there was nothing.
bool node_metadata_registered(struct state *, struct node_registration *);
void node_metadata_purged(struct state *, const struct uuid *node);
