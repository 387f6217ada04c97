// What a node said of the tasks of an allocation.
#pragma once
#include "state/records/allocation.h"
#include "tools/json/json_writer.h"

// Member "TaskStates"; null when its node said nothing yet.
void task_states_json(struct json_writer *, const struct allocation *);
