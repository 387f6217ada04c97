// Applies a plan to allocations: stops, then updates, then placements, in the planned order.
#include "state/apply/apply.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/plan/plan_check.h"
#include "state/plan/plan_deployment.h"
#include "state/records/alloc_details.h"
#include "state/records/job_traits.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/jobs/alloc_table.h"
#include "state/tables/jobs/deployment_table.h"
#include "state/tables/jobs/evaluation_table.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/jobs/job_reevaluations.h"
#include "state/tables/jobs/job_table.h"
#include "state/tables/namespaces/namespace_table.h"
#include "state/tables/nodes/node_cell.h"
#include "state/tables/nodes/node_extra.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"
#include <stdlib.h>

bool plan_has_room(const struct state *state, uint32_t placements)
{
	return state->limits.allocations - state->tables[STATE_ALLOCATIONS].order.count >=
	       placements;
}

int plan_entry_check(const struct state *state, const void *body)
{
	const struct entry_plan *e = body;

	if (!plan_check_again(plan_checker_of(state), state, e)->is_complete)
		return -ERROR_CORRUPT;
	return plan_has_room(state, e->placements.count) && plan_deployment_has_room(state, e)
		       ? 0
		       : -ERROR_TABLE_FULL;
}

static bool may_be_lost(const struct allocation *a)
{
	return a->client_status == ALLOC_PENDING || a->client_status == ALLOC_RUNNING ||
	       a->client_status == ALLOC_UNKNOWN;
}

// The time of loss decides when its client has surely stopped it (row C14), and shows that it does not come back (row
// C1).
static bool is_noted_as_lost(const struct allocation *a)
{
	CHECK(a->group < a->job->task_groups.count);
	const struct task_group *group = allocation_group(a);
	return group->stop_after_client_disconnect_ns.set || group->max_client_disconnect_ns.set;
}

static void note_lost(struct alloc_details *details, int64_t time_ns)
{
	struct alloc_state *noted = array_append(&details->states, sizeof *noted);
	noted->field = text_copy(TEXT("ClientStatus"));
	noted->value = text_copy(text_of(alloc_client_names[ALLOC_LOST]));
	noted->time_ns = time_ns;
}

static void note_why(
	struct allocation *a, const struct plan_stop *stop, bool becomes_lost, int64_t time_ns)
{
	bool noted = becomes_lost && is_noted_as_lost(a);
	if (uuid_is_zero(&stop->followup_eval) && uuid_is_zero(&stop->preempted_by) && !noted)
		return;
	struct alloc_details *details = alloc_details_copy(a->details);
	if (!uuid_is_zero(&stop->followup_eval))
		details->followup_eval = stop->followup_eval;
	if (!uuid_is_zero(&stop->preempted_by))
		details->preempted_by = stop->preempted_by;
	if (noted)
		note_lost(details, time_ns);
	allocation_set_details(a, details);
}

// An allocation that an operator stopped keeps its name until its plan is applied, so the job is evaluated once more
// to give the node another instance.
static void mark_to_replace(
	struct state *state, struct job_cell *job_cell, const struct allocation *a)
{
	CHECK(a->node_slot < state->slots_max);
	const struct node *node = state->cells[a->node_slot].working;

	if (job_traits_of(a->job)->follows_nodes && a->details &&
		a->details->transition.migrate.value && node && node_is_usable(node))
		job_mark_add(state, job_cell, a->job, TRIGGER_ALLOC_STOP, NULL);
}

static void apply_stop(
	struct state *state, struct alloc_cell *cell, const struct plan_stop *stop, int64_t time_ns)
{
	CHECK(cell && alloc_cell_is_there(cell) && stop->cause < STOP_CAUSES);
	struct allocation *a = allocation_revise(state, cell, ++state->index);
	bool becomes_lost = stop->lost && may_be_lost(a);

	a->desired = stop->cause == STOP_PREEMPTED ? ALLOC_EVICT : ALLOC_STOP;
	if (becomes_lost)
		a->client_status = ALLOC_LOST;
	allocation_describe(a, end_cause_of_stop(stop->cause), a->client_text);
	a->alloc_modify_index = state->index;
	a->modify_time_ns = time_ns;
	alloc_cell_changed(state, cell);
	CHECK(allocation_is_terminal(a));
	note_why(a, stop, becomes_lost, time_ns);
	if (stop->cause == STOP_NODE_TAINTED)
		mark_to_replace(state, cell->job_cell, a);
	job_cell_update_status(state, cell->job_cell, state->index);
}

static void apply_stops(struct state *state, const struct array *stops,
	struct alloc_cell *const *cells, int64_t time_ns)
{
	CHECK(stops->count == 0 || cells);
	for (uint32_t i = 0; i < stops->count; i++)
		apply_stop(state, cells[i], ARRAY_AT(stops, struct plan_stop, i), time_ns);
}

static struct shared_metrics *metrics_of(const struct entry_plan *e, uint32_t metrics)
{
	CHECK(metrics == PLAN_NO_METRICS || metrics < e->metrics.count);
	return metrics == PLAN_NO_METRICS ? NULL
					  : shared_metrics_share(*ARRAY_AT(
						    &e->metrics, struct shared_metrics *, metrics));
}

// Takes the planned notes. Keeps what others wrote meanwhile: flags for schedulers, health that the node reported,
// the replacement.
static struct alloc_details *noted(const struct alloc_details *known, const struct plan_update *u)
{
	struct alloc_details *details = alloc_details_copy(known);
	struct alloc_details *planned = alloc_details_copy(u->details);
	struct array states = details->states;

	details->followup_eval = planned->followup_eval;
	details->states = planned->states;
	planned->states = states;
	alloc_details_release(planned);
	return details;
}

// Health is that in the deployment: what the plan says of it counts when the allocation joins another one.
static void merge_health(struct allocation *a, struct alloc_details *planned)
{
	const struct alloc_deployment_status *known = allocation_health(a);
	struct uuid deployment = deployment_share_of(a).deployment;

	if (!uuid_equal(&planned->deployment_id, &deployment)) {
		a->health = (struct alloc_deployment_status){0};
		return;
	}
	free(planned->deployment_status);
	planned->deployment_status = NULL;
	if (!known)
		return;
	a->health = *known;
	a->health.is_there = true;
}

static struct alloc_details *merged(struct allocation *a, const struct plan_update *u)
{
	static const struct alloc_details none;
	const struct alloc_details *known = a->details ? a->details : &none;

	if (!u->details || (!a->details && !a->health.is_there))
		return alloc_details_share(u->details);
	struct alloc_details *details = alloc_details_copy(u->details);
	details->next_allocation = known->next_allocation;
	details->transition = known->transition;
	merge_health(a, details);
	return details;
}

static void apply_note(
	struct state *state, struct alloc_cell *cell, const struct plan_update *u, int64_t time_ns)
{
	CHECK(alloc_cell_is_there(cell));
	struct allocation *a = allocation_revise(state, cell, ++state->index);

	if (u->details)
		allocation_set_details(a, noted(a->details, u));
	a->alloc_modify_index = state->index;
	a->modify_time_ns = time_ns;
	alloc_cell_changed(state, cell);
}

static void apply_update(
	struct state *state, const struct entry_plan *e, uint32_t i, int64_t time_ns)
{
	const struct plan_check *check = plan_checked(plan_checker_of(state));
	const struct plan_update *u = ARRAY_AT(&e->updates, struct plan_update, i);
	struct alloc_cell *cell = check->updates[i];

	CHECK(cell && alloc_cell_is_there(cell));
	if (plan_update_is_note(u, cell->working)) {
		apply_note(state, cell, u, time_ns);
		return;
	}
	struct allocation *a = allocation_revise(state, cell, ++state->index);
	struct deployment_share before = deployment_share_of(a);
	namespace_use(cell->job_cell->space, a, -1);
	allocation_set_job(state, a, check->update_jobs[i]);
	a->group = check->update_groups[i];
	CHECK(a->group < a->job->task_groups.count);
	alloc_cell_resize(state, cell, a, u->resources, &u->devices, merged(a, u));
	namespace_use(cell->job_cell->space, a, 1);
	if (u->metrics != PLAN_NO_METRICS)
		allocation_set_metrics(a, metrics_of(e, u->metrics));
	if (u->client_status == ALLOC_UNKNOWN) {
		a->client_status = ALLOC_UNKNOWN;
		allocation_describe(a, END_NONE, CLIENT_TEXT_DISCONNECTED);
	}
	if (u->job_version)
		a->eval_id = e->eval_id;
	a->alloc_modify_index = state->index;
	a->modify_time_ns = time_ns;
	alloc_cell_changed(state, cell);
	deployment_count_health(state, cell, &before);
}

static struct allocation *planned_build(const struct state *state, const struct entry_plan *e,
	const struct plan_placement *p, struct job *job, int64_t time_ns)
{
	CHECK(job && p->group < job->task_groups.count && p->slot < state->slots_max);
	struct allocation *a = allocation_create();

	a->record.create_index = a->record.modify_index = a->alloc_modify_index = state->index;
	a->id = p->id;
	a->node_id = *node_cell_id(&state->cells[p->slot]);
	a->node_slot = p->slot;
	a->client = CLIENT_NONE;
	a->job = job;
	a->group = p->group;
	a->desired = ALLOC_RUN;
	a->client_status = ALLOC_PENDING;
	a->index = p->name_index;
	a->resources = p->resources;
	allocation_set_devices(a, &p->devices);
	a->score = p->score;
	a->create_time_ns = a->modify_time_ns = time_ns;
	a->eval_id = e->eval_id;
	a->details = alloc_details_share(p->details);
	a->report = alloc_report_share(p->report);
	a->metrics = metrics_of(e, p->metrics);
	allocation_describe(a, END_NONE, CLIENT_TEXT_NONE);
	return a;
}

// Links the replaced allocation to its replacement. Its node need not know.
static void link_previous(struct state *state, const struct plan_placement *p, int64_t time_ns)
{
	struct alloc_cell *cell = alloc_cell_find(state, &p->details->previous_allocation);
	if (!cell || !alloc_cell_is_there(cell))
		return;
	struct allocation *a = allocation_revise(state, cell, ++state->index);
	struct alloc_details *details = alloc_details_copy(a->details);
	details->next_allocation = p->id;
	allocation_set_details(a, details);
	a->modify_time_ns = time_ns; // ended allocations are ordered by it
	alloc_cell_changed(state, cell);
}

// Instances that a plan places mostly have the same details, which are kept once.
static void apply_placement(struct state *state, const struct entry_plan *e, uint32_t i,
	struct job_cell *job_cell, int64_t time_ns)
{
	struct plan_placement *p = ARRAY_AT(&e->placements, struct plan_placement, i);
	struct job *job = plan_checked(plan_checker_of(state))->placement_jobs[i];

	state->index++;
	if (i > 0)
		p->details = alloc_details_unite(p->details, (p - 1)->details);
	struct allocation *a = planned_build(state, e, p, job, time_ns);
	struct alloc_cell *cell = alloc_cell_add(state, job_cell, a);
	CHECK(cell->working == a && cell->job_cell == job_cell);
	change_add(state->changes, STATE_ALLOCATIONS, cell, &a->record);
	alloc_cell_changed(state, cell);
	node_task_scheduled(
		state, p->slot, ARRAY_AT(&job->task_groups, struct task_group, p->group));
	deployment_count_health(state, cell, NULL);
	if (p->details && !uuid_is_zero(&p->details->previous_allocation))
		link_previous(state, p, time_ns);
}

static void prefetch_placement(const struct state *state, const struct entry_plan *e, uint32_t i)
{
	if (i >= e->placements.count)
		return;
	const struct plan_placement *p = ARRAY_AT(&e->placements, struct plan_placement, i);
	node_cell_prefetch(state, p->slot);
	__builtin_prefetch(p->details, 1);
}

static void touch_evaluation(struct state *state, const struct uuid *id, int64_t time_ns)
{
	struct eval_cell *cell = eval_cell_find(state, id);
	if (!cell || !eval_cell_is_there(cell))
		return;
	struct evaluation *e = cell_revise(state, &cell->cell, state->index);
	e->modify_time_ns = time_ns > e->create_time_ns ? time_ns : e->create_time_ns + 1;
	cell_follow(state, &cell->cell);
}

void plan_apply(struct state *state, void *body, int64_t time_ns)
{
	struct entry_plan *e = body;
	const struct plan_check *check = plan_checked(plan_checker_of(state));

	CHECK(e->placements.count == 0 || (check->job_cell && job_cell_keep(check->job_cell)));
	touch_evaluation(state, &e->eval_id, time_ns);
	plan_deployments_apply(state, e);
	apply_stops(state, &e->stops, check->stops, time_ns);
	apply_stops(state, &e->preemptions, check->preemptions, time_ns);
	for (uint32_t i = 0; i < e->updates.count; i++)
		apply_update(state, e, i, time_ns);
	for (uint32_t i = 0; i < e->placements.count; i++) {
		prefetch_placement(state, e, i + PLAN_NODES_AHEAD);
		apply_placement(state, e, i, check->job_cell, time_ns);
	}
	if (check->job_cell)
		job_cell_update_status(state, check->job_cell, state->index);
	for (uint32_t i = 0; i < check->node_count; i++)
		if (!check->nodes[i].reason)
			state_node_changed(state, check->nodes[i].slot);
}
