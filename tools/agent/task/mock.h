// What a task of the driver mock pretends: members of its configuration, or of its metadata (its own, its group's or
// its job's) under "mock." and the name, so that a job can be rehearsed with unchanged tasks.
#pragma once
#include "tools/agent/task/task.h"

struct mock_rules {
	bool ends; // run_for was given; else the task runs until it is told to end
	int64_t run_ns, start_block_ns, kill_after_ns;
	int exit_code, exit_signal;
	const char *start_error; // "": none; a view into the spec
	bool error_is_recoverable, error_is_nodes_fault;
	bool is_remote; // pretends to run away from the node: another node can go on with it
};
struct mock_rules mock_rules_read(const struct task_spec *);

// Writes when a task that pretends to run away from its node ends (unix ns, 0: not of itself).
void mock_handle_write(struct handle *, int64_t ends_ns);
bool mock_handle_read(const struct handle *, int64_t *ends_ns);
