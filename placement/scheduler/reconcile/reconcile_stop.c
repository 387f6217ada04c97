// Stops whole groups, lost allocations, and allocations beyond the count (steps 1, 3a, 3l).
#include "placement/scheduler/common/allocation_facts.h"
#include "placement/scheduler/common/taint.h"
#include "placement/scheduler/reconcile/group_pass.h"
#include "state/base/check.h"

// True when the node will never report the end of the stopped allocation: the scheduler plans its loss.
static bool is_unheard(const struct group_pass *g, const struct allocation *a)
{
	bool may_run = a->client_status == ALLOC_PENDING || a->client_status == ALLOC_RUNNING;
	return a->desired != ALLOC_RUN && may_run &&
	       node_is_lost(allocation_node(g->r->ask->view, a));
}

// All of a group that was removed from its job is stopped, also what has ended: nothing else will look at it.
static bool is_left(const struct group_pass *g, const struct allocation *a)
{
	bool job_is_stopped = !g->r->job || g->r->job->stop;
	return job_is_stopped ? !allocation_is_terminal(a) : !is_unheard(g, a);
}

void filter_and_stop_all(struct group_pass *g)
{
	CHECK(!g->group);
	const struct reconcile_ask *ask = g->r->ask;
	FOR_MEMBERS(m, g)
	{
		if (!is_left(g, m->allocation))
			continue;
		g->desired->stop++;
		bool lost = allocation_taint(ask->view, m->allocation, ask->now_ns) == TAINT_LOST;
		stop_member(g, m, lost ? STOP_LOST : STOP_NOT_NEEDED);
	}
}

struct surplus {
	struct group_pass *g;
	bool canarying;
	int64_t remove; // allocations left to stop
};

static bool counts(const struct surplus *s, const struct member *m)
{
	if (m->set == SET_MIGRATE)
		return true;
	return m->set == SET_UNTAINTED && !is_unknown(m) && !(s->canarying && m->canary);
}

// Unknown allocations may come back, and ended ones need no stop.
static bool may_go(const struct surplus *s, const struct member *m)
{
	return m->set == SET_UNTAINTED && counts(s, m) && !allocation_is_terminal(m->allocation);
}

static void remove_member(struct surplus *s, struct member *m)
{
	CHECK(s->remove > 0 && !m->stopped);
	stop_member(s->g, m, STOP_NOT_NEEDED);
	s->g->desired->stop++;
	s->remove--;
}

// Stops allocations whose place a promoted canary took.
static void remove_namesakes_of_canaries(struct surplus *s)
{
	CHECK(!s->canarying);
	struct number_set names;
	number_set_init(&names, s->g->names.taken.size);
	FOR_MEMBERS(m, s->g)
	if (m->canary)
		number_set_add(&names, m->index);
	FOR_MEMBERS(m, s->g)
	if (s->remove > 0 && !m->canary && may_go(s, m) && number_set_has(&names, m->index))
		remove_member(s, m);
	number_set_release(&names);
}

static void remove_migrating(struct surplus *s)
{
	CHECK(s->remove >= 0);
	struct number_set migrating, highest;
	if (s->remove == 0 || member_count_of(s->g, SET_MIGRATE) == 0)
		return;
	number_set_init(&migrating, s->g->names.taken.size);
	number_set_init(&highest, s->g->names.taken.size);
	FOR_MEMBERS(m, s->g)
	if (m->set == SET_MIGRATE)
		number_set_add(&migrating, m->index);
	number_set_move_highest(&migrating, &highest, s->remove);
	FOR_MEMBERS(m, s->g)
	if (s->remove > 0 && m->set == SET_MIGRATE && number_set_has(&highest, m->index)) {
		name_index_free(&s->g->names, m->index);
		remove_member(s, m);
	}
	number_set_release(&migrating);
	number_set_release(&highest);
}

static void remove_highest(struct surplus *s)
{
	CHECK(s->remove >= 0);
	struct number_set highest;
	if (s->remove == 0)
		return;
	number_set_init(&highest, s->g->names.taken.size);
	number_set_move_highest(&s->g->names.taken, &highest, s->remove);
	FOR_MEMBERS(m, s->g)
	if (s->remove > 0 && may_go(s, m) && number_set_has(&highest, m->index))
		remove_member(s, m);
	number_set_release(&highest);
}

static void remove_any(struct surplus *s)
{
	CHECK(s->remove >= 0);
	FOR_MEMBERS(m, s->g)
	if (s->remove > 0 && may_go(s, m))
		remove_member(s, m);
}

static void lose_all(struct group_pass *g)
{
	if (!may_have(g, SET_LOST))
		return;
	FOR_MEMBERS(m, g)
	{
		if (m->set != SET_LOST)
			continue;
		note_stop(g, m, STOP_LOST);
		g->desired->stop++;
	}
}

// Step 3l.
void compute_stop(struct group_pass *g)
{
	CHECK(g->group && g->dstate);
	struct surplus s = {g, is_canarying(g), 0};
	lose_all(g);
	FOR_MEMBERS(m, g)
	s.remove += counts(&s, m);
	s.remove -= g->group->count;
	if (s.remove <= 0)
		return;
	if (!s.canarying && g->has_canaries)
		remove_namesakes_of_canaries(&s);
	remove_migrating(&s);
	remove_highest(&s);
	remove_any(&s);
	CHECK(s.remove >= 0);
}
