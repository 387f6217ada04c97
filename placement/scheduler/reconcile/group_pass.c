#include "placement/scheduler/reconcile/group_pass.h"
#include "placement/scheduler/common/allocation_facts.h"
#include "state/base/check.h"

uint32_t member_count_of(const struct group_pass *g, enum member_set set)
{
	uint32_t count = 0;
	if (!may_have(g, set))
		return 0;
	FOR_MEMBERS(m, g)
	count += m->set == set;
	CHECK(count <= g->count);
	return count;
}

bool is_place_ready(const struct group_pass *g)
{
	CHECK(g->dstate);
	return !g->r->paused && !g->r->failed && !is_canarying(g);
}

bool allocation_is_over(const struct group_pass *g, const struct allocation *a)
{
	bool may_run = a->client_status == ALLOC_PENDING || a->client_status == ALLOC_RUNNING;
	return a->desired != ALLOC_RUN &&
	       !(may_run && !node_is_lost(allocation_node(g->r->ask->view, a)));
}

void note_stop(struct group_pass *g, struct member *m, enum stop_cause cause)
{
	CHECK(cause < STOP_CAUSES);
	CHECK(!m->stopped);
	*APPEND(&g->r->result->stops, struct reconcile_stop) =
		(struct reconcile_stop){.allocation = m->allocation,
			.cause = cause,
			.lost = cause == STOP_LOST,
			.failed = cause == STOP_RESCHEDULED && m->set == SET_RECONNECTING,
			.followup_eval = member_followup(g->r, m)};
	m->stopped = true;
}

void stop_member(struct group_pass *g, struct member *m, enum stop_cause cause)
{
	note_stop(g, m, cause);
	put_member(g, m, SET_NONE);
}
