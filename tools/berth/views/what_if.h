// Shows where a node's allocations would go.
#pragma once
#include "tools/berth/cli/session.h"

// kind: "drain" or "down". STATUS_REFUSED when an allocation would fit nowhere.
enum exit_status what_if_report(struct session *, const char *id, const char *kind);
