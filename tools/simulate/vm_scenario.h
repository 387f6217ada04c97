// One turn of the placement of virtual machines over a scenario: a health pass, then a scheduling pass, by the code
// that runs in the daemon. The form of both is in docs/simulate.md.
#pragma once
#include "tools/json/json_reader.h"
#include "tools/json/json_writer.h"

// {"Updates": […], "Assignments": […], "Notified": […]}. False, with sentences: there is no result.
bool vm_scenario_run(json_t *input, struct json_report *, struct json_writer *);
