// A script of a check, which runs as the task that it is about does: with its environment, in its folder, as its user.
#pragma once
#include "tools/agent/check/check_state.h"

struct check_script {
	struct process process;
	char path[512]; // of its files, without their endings
};

// False, and the answer says why: it does not run.
bool check_script_begin(struct check_script *, const struct check_rule *, const struct alloc_run *,
	const struct alloc_place *, struct check_answer *);
bool check_script_is_over(const struct check_script *);
// The answer of one that is over. Exit status 0 passes, 1 warns, every other fails.
void check_script_end(struct check_script *, struct check_answer *);
