// Node pools of a scenario, of which only the algorithm that they set matters (row A55).
#pragma once
#include "tools/json/json_reader.h"

struct scenario_pool_config {
	int algorithm; // 0: none; else 1 + enum scheduler_algorithm
};
struct scenario_pool {
	char *name;
	struct scenario_pool_config config;
};

void scenario_pool_read(
	struct scenario_pool *, json_t *value, const char *path, struct json_report *);
void scenario_pools_release(struct array *pools);
// Of the pool in the list of scenario_pool: an enum scheduler_algorithm, or -1.
int scenario_pool_algorithm(const struct array *pools, const char *name);
