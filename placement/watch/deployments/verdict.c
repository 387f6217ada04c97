#include "placement/watch/deployments/verdict.h"

static bool is_trying_canaries(const struct deployment_group *g)
{
	return g->desired_canaries > 0 && !g->promoted;
}

// More may happen to it later, when nodes die; but nothing more has to.
static bool is_done(const struct deployment_group *g, const struct group_health *h)
{
	return !is_trying_canaries(g) && h->healthy >= g->desired_total;
}

int64_t deployment_deadline(
	const struct deployment *d, const struct group_health *health, int64_t after_ns)
{
	int64_t deadline_ns = 0;

	if (d->status != DEPLOYMENT_RUNNING)
		return 0;
	for (uint32_t i = 0; i < d->groups.count; i++) {
		const struct deployment_group *g = ARRAY_AT(&d->groups, struct deployment_group, i);
		int64_t by_ns = g->require_progress_by_ns;
		if (by_ns <= after_ns || by_ns == 0 || is_done(g, &health[i]))
			continue;
		if (deadline_ns == 0 || by_ns < deadline_ns)
			deadline_ns = by_ns;
	}
	return deadline_ns;
}

bool deployment_lags(const struct deployment *d, bool *revert)
{
	bool lags = false;

	*revert = false;
	for (uint32_t i = 0; i < d->groups.count; i++) {
		const struct deployment_group *g = ARRAY_AT(&d->groups, struct deployment_group, i);
		int64_t wanted = is_trying_canaries(g) ? g->desired_canaries : g->desired_total;
		if (g->healthy_allocs >= wanted)
			continue;
		lags = true;
		*revert |= g->auto_revert;
	}
	return lags;
}

bool deployment_is_ripe(const struct deployment *d, const struct group_health *health)
{
	if (!deployment_requires_promotion(d) || !deployment_has_auto_promote(d))
		return false;
	for (uint32_t i = 0; i < d->groups.count; i++) {
		const struct deployment_group *g = ARRAY_AT(&d->groups, struct deployment_group, i);
		if (g->desired_canaries > 0 &&
			((int64_t)g->placed_canaries.count < g->desired_canaries ||
				(int64_t)health[i].healthy_canaries < g->desired_canaries))
			return false;
	}
	return true;
}
