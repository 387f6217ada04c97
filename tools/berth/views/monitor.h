// Following an evaluation until it is worked off, and the deployment that it is part of until that ends, as `job run`
// and `job stop` do.
#pragma once
#include "tools/berth/cli/session.h"

// Prints what happens meanwhile. STATUS_REFUSED when it failed, or could not place everything; STATUS_FAILURE when the
// deployment did not succeed.
enum exit_status monitor_evaluation(struct session *, const char *id);
// The evaluation that a write made: followed, or named when --detach is given. Nothing for none ("").
enum exit_status monitor_made(struct session *, const char *id);
