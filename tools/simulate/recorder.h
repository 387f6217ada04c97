// Takes what a scheduler decides about a scenario: plans are committed whole, and everything is written down as
// it comes.
#pragma once
#include "placement/scheduler/common/planner.h"
#include "tools/json/json_writer.h"
#include "tools/simulate/scenario.h"

// {"Plans": […], "Evals": […], "CreateEvals": […], "ReblockEvals": […]}, indented as the writer says. Or a
// negative error of the scheduler, and nothing is written. The same scenario gives the same result.
int scenario_work_off(struct scenario *, struct json_writer *);
