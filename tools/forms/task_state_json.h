// States of an allocation's tasks, as its node reported them.
#pragma once
#include "state/records/allocation.h"
#include "tools/json/json_writer.h"

// Member "TaskStates"; null until the node reports.
void task_states_json(struct json_writer *, const struct allocation *);
