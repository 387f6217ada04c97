// Puts allocations into sets by their version, their node and how they ended (steps 3c, 3e, 3f).
#include "placement/scheduler/common/allocation_facts.h"
#include "placement/scheduler/common/taint.h"
#include "placement/scheduler/reconcile/group_pass.h"
#include "state/base/check.h"
#include "state/records/reschedule.h"

static bool is_older(const struct allocation *a, const struct job *job)
{
	return a->job->version < job->version ||
	       a->job->record.create_index < job->record.create_index;
}

// Step 3c: a batch job that changed runs anew.
void filter_old_terminal(struct group_pass *g)
{
	CHECK(g->r->job);
	if (!g->r->ask->batch)
		return;
	FOR_MEMBERS(m, g)
	{
		if (!allocation_is_terminal(m->allocation) || !is_older(m->allocation, g->r->job))
			continue;
		put_member(g, m, SET_NONE);
		g->desired->ignore++;
	}
}

static bool is_of_version(const struct allocation *a, const struct job *job)
{
	return a->job->version == job->version &&
	       a->job->record.create_index == job->record.create_index;
}

// Allocations that ended are judged by how they ended, even in groups that outlive lost connections: otherwise failed
// ones would never be rescheduled, and completed ones would run again.
static uint8_t set_of_taint(const struct allocation *a, enum taint taint)
{
	CHECK(taint <= TAINT_IGNORE);
	switch (taint) {
	case TAINT_MIGRATE: return SET_MIGRATE;
	case TAINT_LOST: return SET_LOST;
	// An allocation that was told to stop is neither replaced nor waited for.
	case TAINT_DISCONNECTING: return a->desired == ALLOC_RUN ? SET_DISCONNECTING : SET_NONE;
	case TAINT_RECONNECTING: return SET_RECONNECTING;
	case TAINT_NONE:
	case TAINT_IGNORE: break;
	}
	return SET_UNTAINTED;
}

// Row C28: by the type of its job, an allocation counts as it is, is ignored, or may have to be rescheduled.
enum end { END_COUNTS, END_IGNORED, END_LOOKED_AT };

static enum end batch_end(const struct allocation *a)
{
	if (a->desired == ALLOC_EVICT)
		return END_IGNORED;
	if (a->desired == ALLOC_STOP)
		return allocation_ran_successfully(a) ? END_COUNTS : END_IGNORED;
	return a->client_status == ALLOC_FAILED ? END_LOOKED_AT : END_COUNTS;
}

static enum end service_end(const struct allocation *a)
{
	bool over = a->desired != ALLOC_RUN || a->client_status == ALLOC_COMPLETE ||
		    a->client_status == ALLOC_LOST;
	return over ? END_IGNORED : END_LOOKED_AT;
}

// Allocations of the active deployment are rescheduled only when its watcher says so (row C27).
static bool may_reschedule(const struct reconciler *r, const struct allocation *a)
{
	const struct deployment *d = r->deployment;
	return !is_of_deployment(a, d) || !deployment_is_active(d) ||
	       is_wished(&a->details->transition.reschedule);
}

// Whether this evaluation is the member's follow-up.
static bool is_own(const struct reconciler *r, const struct allocation *a)
{
	return uuid_equal(followup_of(a), &r->ask->eval->id);
}

// When a member is due for rescheduling, if it is at all. Of most members, which did not fail, what their follow-up is
// need not be read.
static bool due_of(const struct reconciler *r, const struct member *m, int64_t *due_ns)
{
	CHECK(m->set == SET_UNTAINTED || m->set == SET_DISCONNECTING);
	const struct allocation *a = m->allocation;
	if (m->set == SET_DISCONNECTING)
		return allocation_reschedule_due(a, r->ask->now_ns, due_ns);
	if (a->client_status == ALLOC_UNKNOWN && is_own(r, a))
		return allocation_reschedule_due(a, allocation_last_unknown_ns(a), due_ns);
	return allocation_failure_due(a, due_ns);
}

// Whether a member is replaced now, or later, when due_ns is set (row C24).
enum reschedule { RESCHEDULE_NEVER, RESCHEDULE_NOW, RESCHEDULE_LATER };

static enum reschedule reschedule_of(
	const struct reconciler *r, const struct member *m, int64_t *due_ns)
{
	const struct allocation *a = m->allocation;
	if (!may_reschedule(r, a))
		return RESCHEDULE_NEVER;
	if (a->details && is_wished(&a->details->transition.force_reschedule))
		return RESCHEDULE_NOW;
	if (!due_of(r, m, due_ns))
		return RESCHEDULE_NEVER;
	if (is_own(r, a) || *due_ns - r->ask->now_ns <= SAME_TIME_NS)
		return RESCHEDULE_NOW;
	bool is_free = uuid_is_zero(followup_of(a)) || m->set == SET_DISCONNECTING;
	return is_free ? RESCHEDULE_LATER : RESCHEDULE_NEVER;
}

void reschedule_member(struct group_pass *g, struct member *m)
{
	CHECK(!m->stopped);
	int64_t due_ns = 0;
	switch (reschedule_of(g->r, m, &due_ns)) {
	case RESCHEDULE_NOW: put_member(g, m, SET_RESCHEDULE); break;
	case RESCHEDULE_LATER:
		*APPEND(&g->later, struct due_member) = (struct due_member){due_ns, m};
		m->later = true;
		g->later_count++;
		// fallthrough
	case RESCHEDULE_NEVER: put_member(g, m, SET_UNTAINTED); break;
	}
	CHECK(m->set == SET_RESCHEDULE || m->set == SET_UNTAINTED);
}

static void filter_member(struct group_pass *g, struct member *m)
{
	CHECK(m->set == SET_UNTAINTED);
	const struct allocation *a = m->allocation;
	enum end end = g->r->ask->batch ? batch_end(a) : service_end(a);
	// Whether one was replaced is in its details, which most do without.
	if (end == END_IGNORED || (allocation_is_terminal(a) && was_replaced(a)))
		put_member(g, m, SET_NONE);
	else if (end == END_LOOKED_AT)
		reschedule_member(g, m);
}

static enum member_health health_of(const struct group_pass *g, const struct allocation *a)
{
	if (!is_of_deployment(a, g->r->deployment))
		return HEALTH_NOT_ASKED;
	const struct alloc_deployment_status *status = allocation_health(a);
	if (!status || !status->healthy.set)
		return HEALTH_UNKNOWN;
	return status->healthy.value ? HEALTH_GOOD : HEALTH_BAD;
}

static void split_member(struct group_pass *g, struct member *m)
{
	const struct reconcile_ask *ask = g->r->ask;
	const struct allocation *a = m->allocation;
	CHECK(m->client_status == a->client_status);
	g->had_version |= is_of_version(a, g->r->job);
	put_member(g, m, set_of_taint(a, allocation_taint(ask->view, a, ask->now_ns)));
	if (m->set == SET_UNTAINTED)
		filter_member(g, m);
	m->health = m->set == SET_NONE ? HEALTH_NOT_ASKED : health_of(g, a);
}

// Every evaluation of a large job goes through all that it has, which is more than the caches hold: of each record what
// is looked at, then of its node and its details, then what those refer to. As many lines as the processor waits for at
// once are what takes the time, so no others are fetched.
static void prefetch_members(const struct group_pass *g, const struct member *m)
{
	enum { AHEAD = 6 };

	if (m + 3 * AHEAD >= g->members + g->count)
		return;
	const struct allocation *far = m[3 * AHEAD].allocation, *a = m[2 * AHEAD].allocation;
	__builtin_prefetch(&far->record.deleted);
	__builtin_prefetch(&far->index);
	__builtin_prefetch(&far->details);
	__builtin_prefetch(&far->health);
	view_fetch_node(g->r->ask->view, a->node_slot, false);
	if (a->details && a->desired == ALLOC_RUN) {
		__builtin_prefetch(&a->details->transition);
		__builtin_prefetch(&a->details->deployment_status);
	}
	a = m[AHEAD].allocation;
	view_fetch_node(g->r->ask->view, a->node_slot, true);
	if (a->details && a->desired == ALLOC_RUN)
		__builtin_prefetch(a->details->deployment_status);
}

// Steps 3e and 3f, of one member after the other: neither step looks at others.
void split_by_taint(struct group_pass *g)
{
	CHECK(g->r->job);
	FOR_MEMBERS(m, g)
	{
		prefetch_members(g, m);
		if (m->set != SET_NONE)
			split_member(g, m);
	}
}
