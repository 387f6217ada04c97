// Following an evaluation until it is worked off, as `job run` and `job stop` do.
#pragma once
#include "tools/berth/session.h"

// Prints what happens meanwhile. STATUS_REFUSED when it failed, or could not place everything.
enum exit_status monitor_evaluation(struct session *, const char *id);
