// Whether the deployment changes of a plan still hold. Applier thread only.
#pragma once
#include "state/log/entry_plan.h"

struct state;

// Whether the plan was made with too old a state: its deployment cannot begin.
bool plan_deployment_is_stale(const struct state *, const struct entry_plan *);
// Whether an update still holds for the present deployment.
bool plan_deployment_update_holds(const struct state *, const struct entry_plan *, uint32_t update);
bool plan_deployment_has_room(const struct state *, const struct entry_plan *);
