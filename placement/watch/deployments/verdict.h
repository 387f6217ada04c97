// The effect of its allocations' health on a deployment (rows C52, C53, C55; docs/spec/watchers.md). Pure.
#pragma once
#include "state/records/deployment.h"

// Living allocations of a group that belong to the deployment.
struct group_health {
	uint32_t healthy, healthy_canaries;
};

// The next deadline of a group, later than after_ns; 0: none. A group that has what it wants has no deadline, nor has a
// deployment that is not running. health: in the order of the deployment's groups.
int64_t deployment_deadline(
	const struct deployment *, const struct group_health *health, int64_t after_ns);
// At a deadline: whether some group has too few healthy allocations. revert: such a group asks for it.
bool deployment_lags(const struct deployment *, bool *revert);
// Whether every canary is there and healthy, and no operator has to promote them.
bool deployment_is_ripe(const struct deployment *, const struct group_health *health);
