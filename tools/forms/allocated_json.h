// Resources of an allocation, derived from its job, its node and its details. Under read lock.
#pragma once
#include "state/tables/state.h"
#include "tools/json/json_writer.h"

// Member "AllocatedResources".
void allocated_json(struct json_writer *, const struct state *, const struct allocation *);
// Without a state: node is the allocation's, NULL when that is gone.
void allocated_json_on(struct json_writer *, const struct node *, const struct allocation *);
// Members "Resources", "SharedResources" and "TaskResources": the form of before version 0.9, which
// Nomad's command line still reads.
void allocated_json_legacy(struct json_writer *, const struct allocation *);
