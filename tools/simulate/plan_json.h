// Writes a plan as an object, in the form of docs/simulate.md. An allocation's resources are derived as in the API.
#pragma once
#include "state/records/plan.h"
#include "tools/json/json_writer.h"
#include "tools/simulate/scenario.h"

void plan_json(struct json_writer *, const struct scenario *, const struct plan *);
