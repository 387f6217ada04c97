// Resources of a node in the form of Nomad's API. Under read lock.
#pragma once
#include "state/tables/state.h"
#include "tools/json/json_writer.h"

// Members "NodeResources" and "ReservedResources".
void node_resources_json(struct json_writer *, const struct node *);
// The form of resources before version 0.9, which Nomad's command line still sums.
void node_resources_json_legacy(struct json_writer *, const char *key, struct resources);
