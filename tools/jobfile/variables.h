// Variables and locals of a job file: what declares them, and where their values come from.
#pragma once
#include "tools/jobfile/decode.h"
#include "tools/jobfile/jobfile.h"

// The values of all variables and locals as the names "var" and "local" of a scope. False after mistakes.
bool variables_read(struct decoder *, const struct jobfile *, const struct hcl2_body *file,
	struct hcl2_scope *);
// Sets "local" of the scope, in which "var" is there. False after mistakes.
bool locals_read(struct decoder *, const struct hcl2_body *file, struct hcl2_scope *);
