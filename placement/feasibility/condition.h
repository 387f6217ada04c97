// Compiles one condition of a job: a constraint or an affinity, of a node or of a device.
#pragma once
#include "placement/constraint/constraint.h"
#include "state/records/job.h"

// NULL, and a line in the log, for what nothing meets: a condition that does not compile (validation refuses such jobs,
// so another version stored this one), and a pattern in a direct job, where the applier decides, for which all wait.
// The caller frees with constraint_free().
struct compiled_constraint *condition_compile(
	const struct job *, const char *left, const char *operand, const char *right);
