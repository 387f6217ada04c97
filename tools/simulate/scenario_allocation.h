#pragma once
#include "tools/simulate/scenario.h"

// Reads an allocation and makes its record; nodes and jobs must be read before. Collects mistakes.
void scenario_allocation_read(struct scenario *, struct scenario_allocation *, json_t *,
	const char *path, struct json_report *);
void scenario_allocation_release(struct scenario_allocation *);
