// Follows an evaluation until it is finished, and then its deployment until that ends, as `job run` and `job stop` do.
#pragma once
#include "tools/berth/cli/session.h"

// Prints events meanwhile. STATUS_REFUSED when the evaluation failed or could not place everything; STATUS_FAILURE when
// the deployment did not succeed.
enum exit_status monitor_evaluation(struct session *, const char *id);
// Follows the evaluation that a write made; with --detach only prints its id. Does nothing for "".
enum exit_status monitor_made(struct session *, const char *id);
