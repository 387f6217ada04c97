// A plan as an object, in the form of docs/simulate.md. What an allocation got is derived as the API derives it.
#pragma once
#include "state/records/plan.h"
#include "tools/json/json_writer.h"
#include "tools/simulate/scenario.h"

void plan_json(struct json_writer *, const struct scenario *, const struct plan *);
