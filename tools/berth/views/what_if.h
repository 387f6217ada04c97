// What would become of a node's allocations.
#pragma once
#include "tools/berth/cli/session.h"

// Prints it. kind: "drain" or "down". STATUS_REFUSED when something would fit nowhere.
enum exit_status what_if_report(struct session *, const char *id, const char *kind);
