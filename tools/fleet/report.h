// What a run prints, for people and for scripts.
#pragma once
#include "tools/fleet/options.h"
#include "tools/fleet/trace.h"
#include <stdio.h>

struct run {
	const struct fleet_options *options;
	FILE *out; // text for people: standard output, unless the summary goes there
	struct fleet fleet;
	struct placing *placing; // NULL: not asked for, or not begun
	struct trace *trace;     // NULL: none
	uint32_t placing_requests;
	bool placing_asked, placing_done;
	bool faults_done;
	bool capture_failed;
	double seconds;
};

// Prints one line about the present state.
void report_line(const struct run *);
// Prints on standard error a sentence about each thing that was asked for and not reached. Returns true when nothing is
// missing.
bool report_verdict(const struct run *);
// Writes the summary as JSON. Returns 0, or -EIO, with errno as the failure left it.
int report_json(const struct run *, bool seen, const char *path);
// Prints a trace's results for people.
void report_trace(const struct run *);
