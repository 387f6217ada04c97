// Changes of allocations by reports of their nodes and by flags that operators set for schedulers.
#include "state/apply/apply.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/memory.h"
#include "state/records/alloc_details.h"
#include "state/records/job_traits.h"
#include "state/records/reschedule.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/jobs/alloc_table.h"
#include "state/tables/jobs/deployment_table.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/jobs/job_reevaluations.h"
#include "state/tables/jobs/job_table.h"
#include "state/tables/nodes/node_cell.h"
#include "state/tables/nodes/node_record.h"
#include "state/tables/nodes/node_report.h"
#include "state/tables/nodes/node_status.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"

bool allocation_is_reported_by(const struct state *state, const struct uuid *id, uint32_t slot)
{
	const struct alloc_cell *cell = alloc_cell_find_near(state, id, slot);
	return cell && alloc_cell_is_there(cell) && cell->working->node_slot == slot;
}

bool node_may_report(const struct node *n)
{
	return n->status != NODE_DOWN && n->status != NODE_DISCONNECTED;
}

int alloc_update_check(const struct state *state, const void *body)
{
	const struct entry_alloc_update *e = body;
	const struct node *n = node_working(state, e->slot);

	if (!n || n->record.deleted || n->generation != e->generation || !node_may_report(n) ||
		e->sequence <= node_report_sequence(&state->cells[e->slot]))
		return -ERROR_CORRUPT;
	CHECK(e->count == 0 || e->items);
	for (uint32_t i = 0; i < e->count; i++)
		if (!allocation_is_reported_by(state, &e->items[i].id, e->slot) ||
			(i > 0 && uuid_compare(&e->items[i - 1].id, &e->items[i].id) >= 0))
			return -ERROR_CORRUPT;
	return 0;
}

// Why schedulers have to evaluate the job (row B58); EVAL_TRIGGERS: no need.
static enum eval_trigger trigger_of(const struct job_cell *job_cell, const struct allocation *a,
	const struct reported_alloc *item, int64_t now_ns)
{
	const struct job_keep *keep = job_cell_keep(job_cell);
	bool ends = item->client_status == ALLOC_COMPLETE || item->client_status == ALLOC_FAILED;

	CHECK(item->client_status <= ALLOC_FAILED);
	if (job_is_direct(a->job) || (!ends && a->client_status != ALLOC_UNKNOWN))
		return EVAL_TRIGGERS;
	if (!keep)
		return TRIGGER_JOB_DEREGISTER;
	if (a->client_status == ALLOC_UNKNOWN)
		return TRIGGER_RECONNECT;
	if (item->client_status == ALLOC_FAILED && a->client_status != ALLOC_FAILED &&
		allocation_may_be_rescheduled(a, keep->versions[0], now_ns))
		return TRIGGER_ALLOC_FAILURE;
	return EVAL_TRIGGERS;
}

// Takes a new verdict only. Drains wait for the verdicts of allocations without a deployment.
static void note_health(
	struct state *state, struct alloc_cell *cell, struct optional_bool healthy, int64_t time_ns)
{
	struct allocation *a = cell->working;
	const struct alloc_deployment_status *known = allocation_health(a);

	if (!healthy.set || job_is_direct(a->job) ||
		(known && known->healthy.set && known->healthy.value == healthy.value))
		return;
	struct deployment_share before = deployment_share_of(a);
	allocation_set_health(a, healthy, time_ns);
	CHECK(allocation_health(a));
	deployment_count_health(state, cell, &before);
}

// An allocation that ended at its client stays ended: its place may be taken. A lost one that is also to stop is not
// final: its node may still report how it ended.
static bool is_final(const struct allocation *a)
{
	return a->client_status == ALLOC_COMPLETE || a->client_status == ALLOC_FAILED ||
	       (a->client_status == ALLOC_LOST && a->desired == ALLOC_RUN);
}

// Whether the report ends the work. If a client released it before its node reported the end, the report ends it once
// more when it says something about the node itself.
static bool is_end_of_task(const struct allocation *a, const struct reported_alloc *item)
{
	bool ends = item->client_status == ALLOC_COMPLETE || item->client_status == ALLOC_FAILED;
	bool has_ended = a->client_status == ALLOC_COMPLETE || a->client_status == ALLOC_FAILED;

	return ends && (!has_ended || item->flaky || item->unready);
}

// Returns whether work of the node ended.
static bool apply_reported(
	struct state *state, struct reported_alloc *item, const struct node *n, int64_t time_ns)
{
	struct alloc_cell *cell = alloc_cell_find_near(state, &item->id, n->slot);

	CHECK(cell && alloc_cell_is_there(cell) && cell->working->node_slot == n->slot);
	bool is_end = is_end_of_task(cell->working, item);
	enum eval_trigger trigger = trigger_of(cell->job_cell, cell->working, item, time_ns);
	struct allocation *a = allocation_revise(state, cell, ++state->index);

	if (!is_final(a)) {
		a->client_status = item->client_status;
		allocation_describe(a, a->end_cause, CLIENT_TEXT_NONE);
	}
	if (item->report)
		allocation_set_report(a, item->report);
	item->report = NULL;
	a->modify_time_ns = time_ns;
	note_health(state, cell, item->healthy, time_ns);
	if (trigger == TRIGGER_JOB_DEREGISTER && a->desired == ALLOC_RUN) {
		a->desired = ALLOC_STOP;
		a->alloc_modify_index = state->index;
		allocation_describe(a, END_JOB_STOPPED, CLIENT_TEXT_NONE);
	}
	alloc_cell_changed(state, cell);
	job_cell_update_status(state, cell->job_cell, state->index);
	if (trigger != EVAL_TRIGGERS)
		job_mark_add(state, cell->job_cell, a->job, trigger, n);
	CHECK(cell->working == a && a->modify_time_ns == time_ns);
	return is_end;
}

// A report about virtual machines alone tells nothing of the allocations: the node stays awaited.
static void note_report(
	struct state *state, struct node_cell *cell, const struct entry_alloc_update *e)
{
	bool is_awaited = cell->working->missed_heartbeat_index != 0 && !node_is_settled(cell);

	node_report_note(state, cell, e->sequence, state->index);
	CHECK(node_report_sequence(cell) == e->sequence);
	if (e->count == 0 && is_awaited)
		node_revise(state, cell, state->index)->missed_heartbeat_index = state->index;
}

void alloc_update_apply(struct state *state, void *body, int64_t time_ns)
{
	struct entry_alloc_update *e = body;
	struct node_cell *cell = &state->cells[e->slot];

	CHECK(e->slot < state_node_slots(state) && cell->working);
	CHECK(cell->working->generation == e->generation && node_may_report(cell->working));
	note_report(state, cell, e);
	for (uint32_t i = 0; i < e->count; i++) {
		struct task_end end = {e->items[i].flaky, e->items[i].unready, e->readiness};
		if (apply_reported(state, &e->items[i], cell->working, time_ns))
			node_task_ended(state, cell, &end, time_ns);
	}
	state_node_changed(state, e->slot);
}

int alloc_transition_check(const struct state *state, const void *body)
{
	const struct entry_alloc_transition *e = body;

	CHECK(e->count > 0 && e->items);
	for (uint32_t i = 0; i < e->count; i++) {
		const struct alloc_cell *cell = alloc_cell_find(state, &e->items[i].id);
		if (!cell || !alloc_cell_is_there(cell) ||
			(i > 0 && uuid_compare(&e->items[i - 1].id, &e->items[i].id) >= 0))
			return -ERROR_CORRUPT;
	}
	return 0;
}

static void transition_set(struct optional_bool *to, struct optional_bool from)
{
	if (from.set)
		*to = from;
}

void alloc_transition_apply(struct state *state, void *body, int64_t time_ns)
{
	struct entry_alloc_transition *e = body;

	for (uint32_t i = 0; i < e->count; i++) {
		const struct desired_transition *t = &e->items[i].transition;
		struct alloc_cell *cell = alloc_cell_find(state, &e->items[i].id);
		CHECK(cell && alloc_cell_is_there(cell));
		struct allocation *a = allocation_revise(state, cell, ++state->index);
		struct alloc_details *details = alloc_details_copy(a->details);
		transition_set(&details->transition.migrate, t->migrate);
		transition_set(&details->transition.reschedule, t->reschedule);
		transition_set(&details->transition.force_reschedule, t->force_reschedule);
		transition_set(&details->transition.no_shutdown_delay, t->no_shutdown_delay);
		allocation_set_details(a, details);
		a->alloc_modify_index = state->index;
		a->modify_time_ns = time_ns;
		alloc_cell_changed(state, cell);
	}
}
