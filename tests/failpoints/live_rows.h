// The failpoints of programs that run, and what hits them.
#pragma once
#include "state/base/failpoint/failpoint.h"
#include "tests/failpoints/live.h"

enum live_work {
	LIVE_BEATS,    // the agent's, which come by themselves
	LIVE_REQUEST,  // of a client, for what is the node's
	LIVE_DIAL,     // the same over a new connection
	LIVE_QUESTION, // of the node
	LIVE_CHANGE,   // that a client waits for
};

struct live_row {
	enum failpoint point;
	const char *error; // as BERTH_FAILPOINTS has it
	const char
		*said; // in a log; or after *, the metric that counts it; or after !, to who asked
	enum live_work work;
	const char *also;          // armed beside it, so that the point is reached; or NULL
	bool is_polled;            // as often as anybody looks whether there is work
	bool is_of_start;          // it is hit as the program starts, which ends then ...
	bool is_absorbed;          // ... or serves all the same
	enum live_program program; // that starts
};

extern const struct live_row live_rows[];
extern const uint32_t live_row_count;
