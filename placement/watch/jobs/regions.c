#include "placement/watch/jobs/regions.h"
#include "state/base/check.h"
#include <string.h>

static bool is_at_work(int seen)
{
	return seen == DEPLOYMENT_RUNNING || seen == DEPLOYMENT_PAUSED;
}

// The region's deployment has not begun, or may not have.
static bool is_before_its_turn(int seen)
{
	return seen == DEPLOYMENT_INITIALIZING || seen == DEPLOYMENT_PENDING ||
	       seen == REGION_UNKNOWN || seen == REGION_ABSENT;
}

// Row C41: by default a failure ends the regions after it, including those at work.
static bool fails_with_others(const struct rollout *r, uint32_t self)
{
	bool all = r->on_failure && strcmp(r->on_failure, "fail_all") == 0;

	if (r->on_failure && strcmp(r->on_failure, "fail_local") == 0)
		return false;
	for (uint32_t i = 0; i < r->count && (all || i < self); i++)
		if (r->seen[i] == DEPLOYMENT_FAILED)
			return true;
	return false;
}

// Rows C37 and C39: no region begins before every region's deployment is at least pending; then at most max_parallel
// at once, in their order.
static bool has_its_turn(const struct rollout *r, uint32_t self)
{
	int64_t others = 0;

	for (uint32_t i = 0; i < r->count; i++) {
		int seen = r->seen[i];
		if (is_before_its_turn(seen) && seen != DEPLOYMENT_PENDING)
			return false;
		others += is_at_work(seen) || (seen == DEPLOYMENT_PENDING && i < self);
	}
	return r->max_parallel == 0 || others < r->max_parallel;
}

static bool is_last(const struct rollout *r)
{
	for (uint32_t i = 0; i < r->count; i++)
		if (is_at_work(r->seen[i]) || is_before_its_turn(r->seen[i]))
			return false;
	return true;
}

enum region_step region_next_step(const struct rollout *r, uint32_t self)
{
	CHECK(self < r->count);
	switch (r->seen[self]) {
	case DEPLOYMENT_INITIALIZING:
	case DEPLOYMENT_RUNNING:
	case DEPLOYMENT_UNBLOCKING: return fails_with_others(r, self) ? REGION_FAIL : REGION_WAIT;
	case DEPLOYMENT_PENDING:
		if (fails_with_others(r, self))
			return REGION_FAIL;
		return has_its_turn(r, self) ? REGION_RUN : REGION_WAIT;
	case DEPLOYMENT_BLOCKED:
		if (fails_with_others(r, self))
			return REGION_FAIL;
		return is_last(r) ? REGION_UNBLOCK : REGION_WAIT;
	default: return REGION_WAIT; // at its end, or an operator has paused it
	}
}
