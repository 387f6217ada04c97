// What people and scripts see of a run.
#pragma once
#include "tools/fleet/options.h"
#include "tools/fleet/trace.h"
#include <stdio.h>

struct run {
	const struct fleet_options *options;
	FILE *out; // for people: standard output, unless the summary goes there
	struct fleet fleet;
	struct placing *placing; // NULL: none asked for, or not begun
	struct trace *trace;     // NULL: none
	uint32_t placing_requests;
	bool placing_asked, placing_done;
	bool faults_done;
	bool capture_failed;
	double seconds;
};

// One line, now.
void report_line(const struct run *);
// Says on standard error, a sentence each, what was asked for and not seen. Returns true when nothing is missing.
bool report_verdict(const struct run *);
// The summary as JSON. Returns 0, or -errno.
int report_json(const struct run *, bool seen, const char *path);
// What became of a trace, for people.
void report_trace(const struct run *);
