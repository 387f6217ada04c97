// Scenarios of type "nodes": events of nodes, and after each of them where every node stands (docs/simulate.md).
#pragma once
#include "tools/json/json_reader.h"
#include "tools/json/json_writer.h"

// Reads the member Input and writes the result. False, with sentences, when there is no result.
bool node_scenario_run(json_t *input, struct json_report *, struct json_writer *);
