// What the health of its allocations means to a deployment (rows C52, C53, C55; docs/spec/watchers.md). Pure.
#pragma once
#include "state/records/deployment.h"

// Of a group, of those that belong to the deployment and live.
struct group_health {
	uint32_t healthy, healthy_canaries;
};

// The next moment at which some group has to have come on, later than after_ns; 0: none. A group that has what it
// wants is not waited for, and neither is a deployment that is not running. health: as the deployment's groups.
int64_t deployment_deadline(
	const struct deployment *, const struct group_health *health, int64_t after_ns);
// At its deadline: whether some group has too few that are healthy. revert: one of those asks for it.
bool deployment_lags(const struct deployment *, bool *revert);
// Every canary that was asked for is there and healthy, and no operator is to be waited for.
bool deployment_is_ripe(const struct deployment *, const struct group_health *health);
