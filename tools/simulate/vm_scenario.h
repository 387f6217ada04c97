// One turn of the placement of virtual machines over a scenario: a health pass, then a scheduling pass, by the daemon's
// own code. docs/simulate.md has the form of both.
#pragma once
#include "tools/json/json_reader.h"
#include "tools/json/json_writer.h"

// Writes {"Updates": […], "Assignments": […], "Notified": […]}. False, and sentences, when there is no result.
bool vm_scenario_run(json_t *input, struct json_report *, struct json_writer *);
