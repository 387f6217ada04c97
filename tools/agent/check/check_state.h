// What is known of one check: from its tries comes its status, and from that whether its task has to begin anew.
#pragma once
#include "tools/agent/check/check_rule.h"

#define CHECK_OUTPUT_BYTES 3072u // that are kept of what it answered

// What one try came to.
struct check_answer {
	enum check_status status;
	int http_code; // 0: none
	uint32_t size; // of output
	char output[CHECK_OUTPUT_BYTES + 1];
};

struct check_state {
	enum check_status status;
	uint32_t successes, failures; // in a row
	int64_t due_ns;               // unix; next try
	int64_t well_ns;              // unix; since when it is as its effect asks; 0: it is not
	int64_t bad_ns;         // unix; since when its task may have to begin anew; 0: it need not
	int64_t grace_until_ns; // unix; failures before do not restart
	int64_t told_ns;        // unix; newest answer, or the beginning
	int http_code;
	char *output; // owned
};

void check_state_begin(struct check_state *, const struct check_rule *, int64_t now_ns);
void check_state_end(struct check_state *);
// True when its task has to begin anew.
bool check_state_take(struct check_state *, const struct check_rule *, const struct check_answer *,
	int64_t now_ns);
