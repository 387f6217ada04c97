// Records a scheduler's decisions about a scenario: commits plans whole, and writes everything in the order in which it
// comes.
#pragma once
#include "placement/scheduler/common/planner.h"
#include "tools/json/json_writer.h"
#include "tools/simulate/scenario.h"

// Writes {"Plans": […], "Evals": […], "CreateEvals": […], "ReblockEvals": […]}, indented as the writer's settings say.
// Or returns a negative error of the scheduler and writes nothing. The same scenario gives the same result.
int scenario_work_off(struct scenario *, struct json_writer *);
