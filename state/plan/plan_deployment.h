// Whether what a plan says of deployments still makes sense. Applier thread only.
#pragma once
#include "state/log/entry_plan.h"

struct state;

// The plan was made with a state that is long gone: its deployment cannot begin.
bool plan_deployment_is_stale(const struct state *, const struct entry_plan *);
// Whether an update still makes sense for the deployment as it is.
bool plan_deployment_update_holds(const struct state *, const struct entry_plan *, uint32_t update);
bool plan_deployment_has_room(const struct state *, const struct entry_plan *);
