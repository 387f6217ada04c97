// How a node that is gone, down, draining or disconnected concerns an allocation on it (docs/spec/reconciler.md).
#pragma once
#include "placement/scheduler/common/view.h"

enum taint {
	TAINT_NONE,          // the allocation goes on as it is
	TAINT_MIGRATE,       // the allocation is flagged to move elsewhere
	TAINT_LOST,          // its node is down or gone, or it was unknown for too long
	TAINT_DISCONNECTING, // the allocation becomes unknown
	TAINT_RECONNECTING,  // its node is back
	TAINT_IGNORE
};

enum taint allocation_taint(
	const struct scheduler_view *, const struct allocation *, int64_t now_ns);
