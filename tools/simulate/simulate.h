// What if: runs the schedulers over a scenario file, without a daemon. The daemon's own code reads the file's nodes,
// jobs and allocations and works off its evaluation; the result is its plans and evaluations. docs/simulate.md has the
// form of both.
#pragma once
#include "tools/json/json_reader.h"
#include "tools/json/json_writer.h"
#include <stdio.h>

struct simulate_settings {
	const char *path; // "-" is standard input
	bool pretty;
	FILE *output, *messages;
};

// 0, or 1 when the scenario cannot be read or worked off; messages then say what failed, where, and what to do.
int simulate(const struct simulate_settings *);

// The kind of a scenario without an evaluation, by its Scenario.Type. NULL: no Type, or an unknown one.
struct scenario_type;
const struct scenario_type *scenario_type_of(const json_t *root);
// Writes the result. False, and sentences, when there is none.
bool scenario_type_run(const struct scenario_type *, const json_t *root, struct json_report *,
	struct json_writer *);
