// Leaves to later evaluations: disconnected clients, lost allocations that their client may still be stopping,
// failures whose delay has not passed (steps 3h–3j).
#include "placement/scheduler/common/allocation_facts.h"
#include "placement/scheduler/reconcile/group_pass.h"
#include "state/base/check.h"
#include "state/base/time_units.h"
#include <stdlib.h>

#define KILL_TIMEOUT_NS (5 * NS_PER_S) // the least time that a client takes to end tasks

static int64_t later_ns(int64_t now_ns, int64_t delay_ns)
{
	int64_t later;
	return __builtin_add_overflow(now_ns, delay_ns, &later) ? INT64_MAX : later;
}

static void create_timeout_later_evals(struct group_pass *g)
{
	CHECK(!is_delayed(g->r->ask));
	struct array cut_off = {0};
	FOR_MEMBERS(m, g)
	{
		if (m->set != SET_DISCONNECTING)
			continue;
		int64_t due_ns = later_ns(g->r->ask->now_ns,
			allocation_group(m->allocation)->max_client_disconnect_ns.value);
		m->unknown = true;
		*APPEND(&cut_off, struct due_member) = (struct due_member){due_ns, m};
	}
	create_follow_ups(g, &cut_off, TRIGGER_MAX_DISCONNECT_TIMEOUT,
		"created for delayed disconnect timeout");
	free(cut_off.items);
}

// Step 3h. A delayed evaluation makes no follow-ups and leaves disconnecting members to the evaluation that their node
// made.
void reconcile_disconnecting(struct group_pass *g)
{
	bool delayed = is_delayed(g->r->ask);
	if (!may_have(g, SET_DISCONNECTING))
		return;
	if (!delayed)
		create_timeout_later_evals(g);
	FOR_MEMBERS(m, g)
	{
		if (m->set != SET_DISCONNECTING)
			continue;
		if (delayed)
			put_member(g, m, SET_UNTAINTED);
		else
			reschedule_member(g, m);
	}
	CHECK(member_count_of(g, SET_DISCONNECTING) == 0);
}

static bool stops_on_its_own(const struct allocation *a)
{
	const struct optional_i64 *after = &allocation_group(a)->stop_after_client_disconnect_ns;
	return after->set && after->value > 0;
}

// When the allocation's client has surely ended its tasks.
static int64_t surely_ended_ns(const struct allocation *a, int64_t lost_ns)
{
	const struct task_group *group = allocation_group(a);
	int64_t kill_ns = KILL_TIMEOUT_NS;
	for (uint32_t i = 0; i < group->tasks.count; i++) {
		const struct task *task = ARRAY_AT(&group->tasks, struct task, i);
		if (task->kill_timeout_ns > kill_ns)
			kill_ns = task->kill_timeout_ns;
	}
	return later_ns(lost_ns, later_ns(group->stop_after_client_disconnect_ns.value, kill_ns));
}

static bool is_own_followup(const struct group_pass *g, const struct allocation *a)
{
	return uuid_equal(followup_of(a), &g->r->ask->eval->id);
}

// True when an earlier pass stopped the allocation as lost and its follow-up is still to come.
static bool waits_for_followup(const struct group_pass *g, const struct member *m)
{
	const struct allocation *a = m->allocation;
	int64_t lost_ns = m->client_status == ALLOC_LOST ? allocation_first_lost_ns(a) : 0;
	return lost_ns && !was_replaced(a) && stops_on_its_own(a) &&
	       !uuid_is_zero(followup_of(a)) && !is_own_followup(g, a) &&
	       surely_ended_ns(a, lost_ns) > g->r->ask->now_ns;
}

// Returns whether the pass has to wait for the member, and until when.
static bool defer_lost(const struct group_pass *g, const struct member *m, int64_t *due_ns)
{
	const struct allocation *a = m->allocation;
	int64_t now_ns = g->r->ask->now_ns;
	if (m->set != SET_LOST || !stops_on_its_own(a))
		return false;
	int64_t lost_ns = allocation_first_lost_ns(a);
	*due_ns = surely_ended_ns(a, lost_ns ? lost_ns : now_ns);
	return *due_ns > now_ns;
}

// Step 3i. A delayed evaluation makes no follow-ups and leaves lost members to the evaluation that their node made.
void create_lost_later_evals(struct group_pass *g)
{
	bool delayed = is_delayed(g->r->ask);
	struct array lost = {0};
	FOR_MEMBERS(m, g)
	{
		int64_t due_ns;
		if (waits_for_followup(g, m))
			g->waits = true;
		if (!defer_lost(g, m, &due_ns))
			continue;
		g->waits = true;
		if (delayed)
			put_member(g, m, SET_NONE);
		else
			*APPEND(&lost, struct due_member) = (struct due_member){due_ns, m};
	}
	create_follow_ups(g, &lost, TRIGGER_ALLOC_FAILURE, "created for delayed rescheduling");
	free(lost.items);
}

// Step 3j. The follow-ups that allocations wait for are noted at the end, when it is known which allocations become
// unknown.
void create_reschedule_later_evals(struct group_pass *g)
{
	CHECK(g->later_count <= g->count);
	if (g->later_count == 0 || is_delayed(g->r->ask))
		return;
	struct array later = {0};
	for (uint32_t i = 0; i < g->later.count; i++) {
		const struct due_member *due = ARRAY_AT(&g->later, struct due_member, i);
		if (due->member->later && due->member->set == SET_UNTAINTED)
			*APPEND(&later, struct due_member) = *due;
	}
	create_follow_ups(g, &later, TRIGGER_ALLOC_FAILURE, "created for delayed rescheduling");
	free(later.items);
}

// An allocation that an update replaces may stay: if the update finds no room, the follow-up is all that looks at the
// allocation again (row C23).
void note_follow_ups(struct group_pass *g)
{
	CHECK(g->group);
	struct reconciliation *result = g->r->result;
	if (g->later.count == 0 && !may_have(g, SET_DISCONNECTING))
		return;
	FOR_MEMBERS(m, g)
	{
		struct uuid followup = member_followup(g->r, m);
		struct array *list = m->unknown ? &result->disconnects
				     : m->later ? &result->attribute_updates
						: NULL;
		bool stays = !m->stopped || m->destructive;
		if (list && stays && (m->unknown || !uuid_is_zero(&followup)))
			*APPEND(list, struct reconcile_update) =
				(struct reconcile_update){m->allocation, followup};
	}
}
