// Node pools of a scenario, of which only what they set for the schedulers matters (row A55).
#pragma once
#include "state/records/nodes/node_pool.h"
#include "tools/json/json_reader.h"

void scenario_pool_read(
	struct node_pool *, json_t *value, const char *path, struct json_report *report);
void scenario_pools_release(struct array *pools);
// In a list of struct node_pool; NULL: the scenario does not describe the pool.
const struct node_pool *scenario_pool_find(const struct array *pools, const char *name);
