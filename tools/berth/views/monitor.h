// Following an evaluation until it is worked off, and the deployment that it is part of until that ends, as `job run`
// and `job stop` do.
#pragma once
#include "tools/berth/cli/session.h"

// Prints what happens meanwhile. STATUS_REFUSED when it failed, or could not place everything; STATUS_FAILURE when the
// deployment did not succeed.
enum exit_status monitor_evaluation(struct session *, const char *id);
// Follows the evaluation that a write made, or names it when --detach is given. Does nothing when there is none ("").
enum exit_status monitor_made(struct session *, const char *id);
