// A script of a check: what it runs with, and what its end says.
#pragma once
#include "tools/agent/check/check_state.h"
#include "tools/agent/script/script.h"

// NULL, and the answer says why: it does not run.
struct script *check_script_begin(const struct check_rule *, const struct alloc_run *,
	const struct alloc_place *, int wake_fd, struct check_answer *);
// The answer of one that is over, which is freed. Exit status 0 passes, 1 warns, every other fails.
void check_script_end(struct script *, const struct check_rule *, struct check_answer *);
// A try that was not over in its time.
void check_answer_late(const struct check_rule *, struct check_answer *);
