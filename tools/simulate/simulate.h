// What if: the schedulers over a scenario file, without a daemon. The very code that runs in the daemon looks at the
// nodes, jobs and allocations of the file, works off its evaluation, and its plans and evaluations are printed. The
// form of both is in docs/simulate.md.
#pragma once
#include "tools/json/json_reader.h"
#include "tools/json/json_writer.h"
#include <stdio.h>

struct simulate_settings {
	const char *path; // "-" is standard input
	bool pretty;
	FILE *output, *messages;
};

// 0, or 1 when the scenario cannot be read or worked off; then messages say what, where and what to do.
int simulate(const struct simulate_settings *);

// A kind of scenario that is no evaluation: its Scenario.Type. NULL: there is none, or none of that name.
struct scenario_type;
const struct scenario_type *scenario_type_of(const json_t *root);
// Writes the result. False, with sentences: there is none.
bool scenario_type_run(const struct scenario_type *, const json_t *root, struct json_report *,
	struct json_writer *);
