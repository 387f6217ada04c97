// Node pools in the JSON of Nomad's clients.
#pragma once
#include "state/records/nodes/node_pool.h"
#include "tools/json/json_writer.h"

void node_pool_json(struct json_writer *, const struct node_pool *);
// A pool that nobody described: one of the two that are always there, or one that a node says it is in.
void node_pool_json_undescribed(struct json_writer *, const char *name);
