#include "state/records/nodes/node_standing.h"
#include <stddef.h>

const char *const node_standing_names[] = {"healthy", "suspended", "offlined", "forgotten", NULL};

static bool is_suspended(const struct standing *l)
{
	return l->readiness != READINESS_GIVEN || l->lost_ns != 0 || l->flaky_ns != 0;
}

enum node_standing standing_of(const struct standing *l)
{
	if (l->forgotten)
		return NODE_FORGOTTEN;
	if (l->offlined)
		return NODE_OFFLINED;
	return is_suspended(l) ? NODE_SUSPENDED : NODE_HEALTHY;
}

bool standing_is_sound(const struct standing *l)
{
	bool is_marked = l->lost_ns != 0 || l->flaky_ns != 0 || l->readiness != READINESS_GIVEN;

	return l->lost_ns >= 0 && l->flaky_ns >= 0 && (l->lost_ns == 0 || l->flaky_ns == 0) &&
	       l->readiness <= READINESS_GIVEN_UP &&
	       !(l->forgotten && (is_marked || l->offlined || l->unready));
}

static void mark_lost(struct standing *l, int64_t now_ns)
{
	l->lost_ns = now_ns;
	l->flaky_ns = 0;
}

static bool standing_forget(struct standing *l)
{
	*l = (struct standing){.forgotten = true};
	return true;
}

bool standing_added(struct standing *l, bool readiness)
{
	if (l->forgotten) {
		*l = (struct standing){
			.readiness = readiness ? READINESS_AWAITED : READINESS_GIVEN};
		return true;
	}
	if (l->offlined || l->lost_ns == 0)
		return false;
	l->lost_ns = 0;
	// It was announced as ready before: the sweep has nothing to wait for.
	if (l->readiness == READINESS_SIGNALLED)
		l->readiness = READINESS_GIVEN;
	return true;
}

bool standing_removed(struct standing *l, int64_t now_ns)
{
	if (l->forgotten)
		return false;
	if (l->offlined)
		return standing_forget(l);
	mark_lost(l, now_ns);
	return true;
}

bool standing_online(struct standing *l)
{
	bool changes = l->offlined;

	l->offlined = false;
	return changes;
}

bool standing_offline(struct standing *l)
{
	bool changes = !l->forgotten && !l->offlined;

	l->offlined |= changes;
	return changes;
}

bool standing_probed(struct standing *l, bool ready, int64_t backoff_ns)
{
	bool was_unready = l->unready;

	if (l->forgotten)
		return false;
	l->unready = !ready;
	if (l->readiness != READINESS_AWAITED || (!ready && backoff_ns > 0))
		return was_unready != l->unready;
	l->readiness = ready ? READINESS_SIGNALLED : READINESS_GIVEN_UP;
	return true;
}

bool standing_completed(struct standing *l, bool flaky, bool readiness, int64_t now_ns)
{
	if (standing_of(l) != NODE_HEALTHY)
		return false;
	if (readiness && l->unready)
		mark_lost(l, now_ns);
	else if (flaky)
		l->flaky_ns = now_ns;
	return is_suspended(l);
}

struct standing_limits standing_limits_or_defaults(const struct standing_limits *limits)
{
	struct standing_limits given = *limits;

	if (given.lost_after_ns == 0)
		given.lost_after_ns = STANDING_LOST_AFTER_NS;
	if (given.flaky_after_ns == 0)
		given.flaky_after_ns = STANDING_FLAKY_AFTER_NS;
	return given;
}

static bool is_over(int64_t since_ns, int64_t limit_ns, int64_t now_ns)
{
	return since_ns != 0 && now_ns - since_ns > limit_ns;
}

enum standing_sweep standing_swept(
	struct standing *l, const struct standing_limits *limits, int64_t now_ns)
{
	if (standing_of(l) != NODE_SUSPENDED)
		return SWEEP_NOTHING;
	// Who awaits a probe when probes stop to count need not wait for it.
	if (l->readiness == READINESS_SIGNALLED || !limits->readiness)
		l->readiness = READINESS_GIVEN;
	if (!is_suspended(l))
		return SWEEP_HEALTHY;
	if (is_over(l->lost_ns, limits->lost_after_ns, now_ns)) {
		standing_forget(l);
		return SWEEP_FORGOTTEN;
	}
	if (is_over(l->flaky_ns, limits->flaky_after_ns, now_ns)) {
		l->flaky_ns = 0;
		l->readiness = limits->readiness ? READINESS_AWAITED : READINESS_GIVEN;
		return SWEEP_REJOINED;
	}
	return SWEEP_NOTHING;
}

int64_t standing_due_ns(const struct standing *l, const struct standing_limits *limits)
{
	if (standing_of(l) != NODE_SUSPENDED)
		return INT64_MAX;
	if (l->readiness == READINESS_SIGNALLED ||
		(l->readiness != READINESS_GIVEN && !limits->readiness))
		return 0;
	if (l->lost_ns != 0)
		return l->lost_ns + limits->lost_after_ns + 1;
	return l->flaky_ns != 0 ? l->flaky_ns + limits->flaky_after_ns + 1 : INT64_MAX;
}
