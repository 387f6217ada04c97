// A node's record and use, as the fit index wants them.
#pragma once
#include "placement/direct/fit_index.h"
#include "state/records/nodes/node.h"

// Instances of the node's devices that are not in `used`.
struct device_set fit_free_devices(const struct node *, const struct device_set *used);
// snapshot: see struct fit_input. The result points into the record.
struct fit_input fit_input_of(const struct node *, struct resources used,
	const struct device_set *devices_used, const char *snapshot);
