// Scenarios of type "nodes": events of nodes, and every node's standing after each of them (docs/simulate.md).
#pragma once
#include "tools/json/json_reader.h"
#include "tools/json/json_writer.h"

// Reads the member Input and writes the result. False, and sentences, when there is no result.
bool node_scenario_run(json_t *input, struct json_report *, struct json_writer *);
