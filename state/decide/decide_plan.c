// COMMAND_PLAN: the part of a plan that the nodes take is committed as one entry; the rest is reported to the
// scheduler with the state index that it has to see before it tries again.
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/decide/command_kinds.h"
#include "state/decide/decide.h"
#include "state/decide/rejections.h"
#include "state/plan/plan_check.h"
#include "state/plan/plan_deployment.h"
#include "state/records/job_traits.h"
#include "state/records/metrics.h"
#include "state/records/plan.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/jobs/evaluation_table.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/namespaces/namespace_table.h"
#include "state/tables/namespaces/quota_table.h"
#include "state/tables/nodes/node_cell.h"
#include "state/tables/nodes/node_extra.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include <stdlib.h>

static bool stops_are_sound(const struct array *stops, bool are_preemptions)
{
	for (uint32_t i = 0; i < stops->count; i++) {
		uint8_t cause = ARRAY_AT(stops, struct plan_stop, i)->cause;
		if (cause >= STOP_CAUSES || (cause == STOP_PREEMPTED) != are_preemptions)
			return false;
	}
	return true;
}

static bool are_sound(const struct alloc_details *details)
{
	return !details || record_is_sound(&alloc_details_description, details);
}

static bool details_are_sound(const struct plan *plan)
{
	for (uint32_t i = 0; i < plan->placements.count; i++) {
		const struct plan_placement *p =
			ARRAY_AT(&plan->placements, struct plan_placement, i);
		if (!are_sound(p->details) || (p->report && !alloc_report_is_sound(p->report)))
			return false;
	}
	for (uint32_t i = 0; i < plan->updates.count; i++)
		if (!are_sound(ARRAY_AT(&plan->updates, struct plan_update, i)->details))
			return false;
	return true;
}

static bool metrics_are_sound(const struct plan *plan)
{
	for (uint32_t i = 0; i < plan->metrics.count; i++)
		if (!(*ARRAY_AT(&plan->metrics, struct shared_metrics *, i))->is_sound)
			return false;
	return true;
}

static bool plan_is_sound(const struct plan *plan)
{
	return stops_are_sound(&plan->stops, false) && stops_are_sound(&plan->preemptions, true) &&
	       details_are_sound(plan) && metrics_are_sound(plan);
}

static bool eval_is_there(const struct state *state, const struct uuid *id)
{
	const struct eval_cell *cell = eval_cell_find(state, id);
	return cell && eval_cell_is_there(cell);
}

static void add_rejection(struct plan_result *result, const struct uuid *node, const char *reason)
{
	struct plan_rejection *rejection = array_append(&result->rejections, sizeof *rejection);

	*rejection = (struct plan_rejection){*node, reason};
}

static void tell_rejections(
	const struct state *state, const struct plan_check *check, struct plan_result *result)
{
	for (uint32_t i = 0; i < check->missing_count; i++)
		add_rejection(result, &check->missing[i], PLAN_NODE_MISSING);
	for (uint32_t i = 0; i < check->node_count; i++)
		if (check->nodes[i].reason)
			add_rejection(result, node_cell_id(&state->cells[check->nodes[i].slot]),
				check->nodes[i].reason);
}

// Nodes that reject again and again take no more work until an operator looks at them (row B46).
static void set_rejecting_aside(struct decider *d, const struct plan_result *result)
{
	for (uint32_t i = 0; i < result->rejections.count; i++) {
		const struct uuid *id =
			&ARRAY_AT(&result->rejections, struct plan_rejection, i)->node_id;
		const struct node_cell *cell = node_cell_find(d->state, id);
		if (!cell || cell->working->eligibility != NODE_ELIGIBLE ||
			!rejections_add(d->rejections, id, d->now_ns))
			continue;
		struct entry e = {.kind = ENTRY_NODE_ELIGIBILITY,
			.node_eligibility = {cell->working->slot, cell->working->generation,
				NODE_INELIGIBLE_REJECTING}};
		CHECK(decider_commit(d, &e) == 0);
	}
}

static const char *group_name(const struct job *job, uint16_t group)
{
	return ARRAY_AT(&job->task_groups, struct task_group, group)->name;
}

// Counts runs of placements of one group at once.
static void tell_groups(
	const struct plan_check *check, const struct array *placements, struct plan_result *result)
{
	const struct job *job = NULL;
	uint16_t group = 0;
	int64_t count = 0;

	for (uint32_t i = 0; i < placements->count; i++) {
		const struct plan_placement *p = ARRAY_AT(placements, struct plan_placement, i);
		if (count > 0 && (check->placement_jobs[i] != job || p->group != group)) {
			count_add(&result->placed_by_group, group_name(job, group), count);
			count = 0;
		}
		job = check->placement_jobs[i];
		group = p->group;
		count++;
	}
	if (count > 0)
		count_add(&result->placed_by_group, group_name(job, group), count);
}

// The jobs that lose allocations to preemption, each once (row B46); free the items. Direct jobs are left out: no
// scheduler works for them.
static struct array preempted_jobs(const struct plan_check *check, uint32_t count)
{
	struct array jobs = {0};

	for (uint32_t i = 0; i < count; i++) {
		struct job_cell *cell = check->preemptions[i]->job_cell;
		const struct job_keep *keep = job_cell_keep(cell);
		bool is_known = !keep || job_is_direct(keep->versions[0]);
		for (uint32_t j = 0; j < jobs.count && !is_known; j++)
			is_known = *ARRAY_AT(&jobs, struct job_cell *, j) == cell;
		if (!is_known)
			*(struct job_cell **)array_append(&jobs, sizeof cell) = cell;
	}
	return jobs;
}

static void evaluate_preempted(struct decider *d, const struct array *jobs)
{
	struct eval_made made = {0};

	for (uint32_t i = 0; i < jobs->count; i++) {
		const struct job_keep *keep = job_cell_keep(*ARRAY_AT(jobs, struct job_cell *, i));
		CHECK(decider_evaluate(
			d, decider_evaluation(d, keep->versions[0], TRIGGER_PREEMPTION), &made));
	}
}

// Upper bounds of what an entry takes: a batch too large for any log would wait for ever.
#define CHANGE_BYTES_MOST 128
#define DETAILS_BYTES_MOST 1024
#define TASK_STATE_BYTES_MOST 128  // without its texts
#define DEPLOYMENT_BYTES_MOST 1024 // also of each group and each update

static int64_t report_bytes_most(const struct alloc_report *said)
{
	struct alloc_report_room room;
	const struct alloc_report *report = alloc_report_open(said, &room);
	int64_t bytes = 0;

	for (uint32_t i = 0; report && i < report->task_states.count; i++) {
		const struct task_state *s = ARRAY_AT(&report->task_states, struct task_state, i);
		bytes += TASK_STATE_BYTES_MOST + text_of(s->task).size;
		bytes += s->handle ? text_of(s->handle->driver_state).size : 0;
	}
	alloc_report_close(&room);
	return bytes;
}

static int64_t entry_bytes_most(const struct entry_plan *e)
{
	int64_t changes = (int64_t)e->stops.count + e->preemptions.count + e->updates.count +
			  e->placements.count;
	int64_t details = 0, reports = 0;

	for (uint32_t i = 0; i < e->updates.count; i++)
		details += ARRAY_AT(&e->updates, struct plan_update, i)->details != NULL;
	for (uint32_t i = 0; i < e->placements.count; i++) {
		const struct plan_placement *p = ARRAY_AT(&e->placements, struct plan_placement, i);
		details += p->details != NULL;
		reports += report_bytes_most(p->report);
	}
	int64_t deployments =
		e->deployment_updates.count + (e->deployment ? 1 + e->deployment->groups.count : 0);
	return changes * CHANGE_BYTES_MOST + details * DETAILS_BYTES_MOST + reports +
	       deployments * DEPLOYMENT_BYTES_MOST;
}

static bool store_takes(const struct decider *d, const struct entry_plan *e)
{
	return (e->placements.count == 0 && !e->deployment) ||
	       (!d->store_is_full && entry_bytes_most(e) <= d->store_room);
}

static bool cut_items(struct array *items, uint32_t *room)
{
	bool is_cut = items->count > *room;

	if (is_cut)
		items->count = *room;
	*room -= items->count;
	return is_cut;
}

// Preempted allocations stay where they are when their placement is left for later. The array before is the caller's.
static void cut_preemptions(struct entry_plan *e)
{
	struct uuid *placed = memory_take_array(e->placements.count + 1, sizeof *placed);
	struct plan_stop *kept = memory_take_array(e->preemptions.count + 1, sizeof *kept);
	uint32_t count = 0;

	for (uint32_t i = 0; i < e->placements.count; i++)
		placed[i] = ARRAY_AT(&e->placements, struct plan_placement, i)->id;
	qsort(placed, e->placements.count, sizeof *placed, uuid_order);
	for (uint32_t i = 0; i < e->preemptions.count; i++) {
		const struct plan_stop *s = ARRAY_AT(&e->preemptions, struct plan_stop, i);
		if (bsearch(&s->preempted_by, placed, e->placements.count, sizeof *placed,
			    uuid_order))
			kept[count++] = *s;
	}
	free(placed);
	e->preemptions = (struct array){kept, count};
}

// Keeps the beginning of each list of changes. Returns whether something is left; then the caller frees the
// preemptions.
static bool cut_to_turn(struct entry_plan *e, uint32_t room)
{
	bool is_cut = cut_items(&e->stops, &room);

	is_cut |= cut_items(&e->updates, &room);
	is_cut |= cut_items(&e->placements, &room);
	if (is_cut)
		cut_preemptions(e);
	return is_cut;
}

static struct entry entry_of(const struct plan *plan)
{
	return (struct entry){.kind = ENTRY_PLAN,
		.plan = {
			.eval_id = plan->eval_id,
			.stops = plan->stops,
			.preemptions = plan->preemptions,
			.updates = plan->updates,
			.placements = plan->placements,
			.metrics = plan->metrics,
			.deployment = plan->deployment,
			.deployment_updates = plan->deployment_updates,
			.is_view = true,
		}};
}

static bool changes_nothing(const struct entry_plan *e)
{
	return e->stops.count == 0 && e->preemptions.count == 0 && e->updates.count == 0 &&
	       e->placements.count == 0 && !e->deployment && e->deployment_updates.count == 0;
}

static void drop_everything(struct entry_plan *e)
{
	entry_plan_release(e);
	e->stops.count = e->preemptions.count = e->updates.count = e->placements.count = 0;
	e->deployment_updates.count = 0;
	e->deployment = NULL;
}

// Settles nodes that only waited for allocations that stop now.
static void settle_nodes(struct decider *d, const struct plan_check *check, uint32_t stops)
{
	for (uint32_t i = 0; i < stops && d->state->counts.nodes[NODE_INITIALIZING] > 0; i++) {
		uint32_t slot = check->stops[i]->working->node_slot;
		if (slot != NODE_SLOT_NONE)
			decider_settle_node(d, slot);
	}
}

static enum command_outcome plan_commit(struct decider *d, struct entry *e,
	const struct plan_check *check, struct plan_result *result)
{
	struct entry_plan *left = &e->plan;
	struct array jobs = preempted_jobs(check, left->preemptions.count);

	if (!evaluations_have_room(d->state, jobs.count) ||
		!plan_has_room(d->state, left->placements.count) ||
		!plan_deployment_has_room(d->state, left)) {
		entry_plan_release(left);
		free(jobs.items);
		return OUTCOME_TABLE_FULL;
	}
	tell_groups(check, &left->placements, result);
	result->placements_committed = left->placements.count;
	atomic_fetch_add(&d->counters->placements, result->placements_committed);
	result->stops_committed = left->stops.count + left->preemptions.count;
	result->updates_committed = left->updates.count;
	result->deployment_updates_committed = left->deployment_updates.count;
	uint32_t stops = left->stops.count;
	decider_apply(d, e);
	settle_nodes(d, check, stops);
	evaluate_preempted(d, &jobs);
	free(jobs.items);
	result->alloc_index = d->state->index;
	return OUTCOME_DONE;
}

static void count_placements(
	const struct entry_plan *e, struct job *const *jobs, struct quota_amount *change)
{
	for (uint32_t i = 0; i < e->placements.count; i++) {
		const struct plan_placement *p = ARRAY_AT(&e->placements, struct plan_placement, i);
		quota_amount_add(change, p->resources,
			ARRAY_AT(&jobs[i]->asks, struct group_ask, p->group), 1);
	}
}

static void count_updates(
	const struct entry_plan *e, const struct plan_check *check, struct quota_amount *change)
{
	for (uint32_t i = 0; i < e->updates.count; i++) {
		const struct plan_update *u = ARRAY_AT(&e->updates, struct plan_update, i);
		const struct allocation *a = check->updates[i]->working;
		const struct array *before = &a->job->asks, *after = &check->update_jobs[i]->asks;
		if (plan_update_is_note(u, a))
			continue;
		quota_amount_add(
			change, a->resources, ARRAY_AT(before, struct group_ask, a->group), -1);
		quota_amount_add(change, u->resources,
			ARRAY_AT(after, struct group_ask, check->update_groups[i]), 1);
	}
}

static void count_stops(struct alloc_cell *const *cells, uint32_t count,
	const struct quota_cell *quota, struct quota_amount *change)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct allocation *a = cells[i]->working;
		if (!cells[i]->is_ended && cells[i]->job_cell->space->quota == quota)
			quota_amount_add(change, a->resources,
				ARRAY_AT(&a->job->asks, struct group_ask, a->group), -1);
	}
}

// Whether what is left of the plan, which passed its check, is more than the quota of its namespace has room for (row
// B45).
static bool is_over_quota(const struct entry_plan *e, const struct plan_check *check)
{
	const struct job_cell *job = e->placements.count ? check->job_cell
				     : e->updates.count  ? check->updates[0]->job_cell
							 : NULL;
	struct quota_amount change = {0};

	if (!job || !job->space->quota)
		return false;
	count_placements(e, check->placement_jobs, &change);
	count_updates(e, check, &change);
	count_stops(check->stops, e->stops.count, job->space->quota, &change);
	count_stops(check->preemptions, e->preemptions.count, job->space->quota, &change);
	bool is_over = namespace_lacks(job->space, &change);
	quota_amount_free(&change);
	return is_over;
}

// e: the whole plan or its beginning, as views.
static enum command_outcome decide_part(
	struct decider *d, const struct plan *plan, struct entry *e, struct plan_result *result)
{
	const struct plan_check *check = plan_check(plan_checker_of(d->state), d->state, &e->plan);

	tell_rejections(d->state, check, result);
	if (!check->is_complete)
		plan_check_filter(plan_checker_of(d->state), d->state, &e->plan);
	result->is_over_quota = !check->is_stale && is_over_quota(&e->plan, check);
	if (check->is_stale || result->is_over_quota ||
		(plan->all_at_once && result->rejections.count > 0))
		drop_everything(&e->plan);
	if (!changes_nothing(&e->plan))
		return plan_commit(d, e, check, result);
	entry_plan_release(&e->plan);
	return OUTCOME_DONE;
}

static enum command_outcome decide_turn(struct decider *d, const struct plan *plan, struct entry *e,
	bool is_cut, struct plan_result *result)
{
	if (is_cut && plan->all_at_once)
		return OUTCOME_BAD_DESCRIPTION;
	if (!store_takes(d, &e->plan))
		return OUTCOME_STORE_FULL;
	return decide_part(d, plan, e, result);
}

// An update left out without a rejection would not be planned with the present state, so the scheduler has to see it.
static bool must_come_again(const struct plan *plan, const struct plan_result *result, bool is_cut)
{
	return is_cut || result->is_over_quota || result->rejections.count > 0 ||
	       result->updates_committed < plan->updates.count ||
	       result->deployment_updates_committed < plan->deployment_updates.count ||
	       (plan->deployment && result->alloc_index == 0);
}

enum command_outcome decide_plan(struct decider *d, struct command *command)
{
	struct command_plan *c = &command->plan;
	const struct plan *plan = c->plan;
	struct plan_result *result = c->result;
	struct entry e = entry_of(plan);

	*result = (struct plan_result){.placements_planned = plan->placements.count};
	if (!plan_is_sound(plan) || !eval_is_there(d->state, &plan->eval_id))
		return OUTCOME_BAD_DESCRIPTION;
	bool is_cut = cut_to_turn(&e.plan, d->plan_changes_max);
	void *own = is_cut ? e.plan.preemptions.items : NULL;
	enum command_outcome outcome = decide_turn(d, plan, &e, is_cut, result);
	free(own);
	if (outcome != OUTCOME_DONE || !must_come_again(plan, result, is_cut))
		return outcome;
	set_rejecting_aside(d, result);
	result->refresh_index = d->state->index;
	return OUTCOME_DONE;
}
