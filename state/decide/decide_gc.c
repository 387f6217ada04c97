// Finds evaluations, allocations, jobs, deployments, nodes and tokens that are past their time (row B66), in pieces, so
// that no command waits for the whole search. Each piece that finds something commits one entry with the items that go;
// a node goes by an entry of its own.
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "state/decide/command_kinds.h"
#include "state/decide/decide.h"
#include "state/records/acl_token.h"
#include "state/records/alloc_details.h"
#include "state/records/job_traits.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/jobs/alloc_table.h"
#include "state/tables/jobs/deployment_table.h"
#include "state/tables/jobs/evaluation_table.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/sequence.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"
#include <stdlib.h>
#include <urcu-qsbr.h>

// The most items that one piece looks at, and the most nodes that it forgets: a node may have many allocations.
#define LOOK_AT_ONCE 16384u
#define NODES_AT_ONCE 256u

enum gc_phase {
	GC_ALLOCATIONS,
	GC_EVALUATIONS,
	GC_JOBS,
	GC_DEPLOYMENTS,
	GC_NODES,
	GC_ACL_TOKENS,
	GC_PHASES
};

struct piece {
	struct decider *decider;
	const struct command_gc *command;
	uint32_t looked, purged;
	struct entry_gc found;
};

// Type of a job or an evaluation: their numbers agree, and core evaluations belong to no job.
static bool is_batch(int type)
{
	return type < JOB_TYPES && job_traits[type].runs_to_end;
}

// The job has been dead so long that all of its items may go.
static bool job_is_old(const struct command_gc *c, const struct job_keep *keep)
{
	return !keep ||
	       (keep->status == JOB_DEAD && (c->force || keep->stopped_ns < c->jobs_before_ns));
}

// Whether an item of this job and type, last changed at this time, is old.
static bool is_old(
	const struct command_gc *c, const struct job_keep *keep, int type, int64_t time_ns)
{
	int64_t before_ns = c->evals_before_ns;

	if (c->force)
		return true;
	// People look longer at a batch job that ran to its end.
	if (is_batch(type) && keep && !keep->versions[0]->stop)
		before_ns = c->batch_evals_before_ns;
	if (keep && job_is_old(c, keep) && c->jobs_before_ns > before_ns)
		before_ns = c->jobs_before_ns;
	return time_ns < before_ns;
}

static bool is_live_batch(const struct job_keep *keep)
{
	return keep && is_batch(keep->versions[0]->type) && keep->status != JOB_DEAD;
}

static bool reschedules(const struct allocation *a)
{
	const struct reschedule_policy *policy = allocation_group(a)->reschedule;
	return policy && (policy->unlimited.value || policy->attempts > 0);
}

// A failed allocation that may still be replaced is needed to find its replacement.
static bool waits_for_replacement(
	const struct allocation *a, const struct job_keep *keep, int64_t now_ns)
{
	if (!keep || keep->versions[0]->stop || keep->status == JOB_DEAD ||
		a->desired != ALLOC_RUN || a->client_status != ALLOC_FAILED || !reschedules(a))
		return false;
	if (a->details && !uuid_is_zero(&a->details->next_allocation))
		return false;
	const struct reschedule_policy *policy = allocation_group(a)->reschedule;
	return policy->unlimited.value || now_ns - a->modify_time_ns < policy->interval_ns;
}

static bool allocation_may_go(const struct piece *p, const struct alloc_cell *cell)
{
	const struct allocation *a = cell->working;
	const struct job_keep *keep = job_cell_keep(cell->job_cell);
	const struct evaluation *e = cell->eval_cell ? cell->eval_cell->working : NULL;

	if (a->client_status == ALLOC_RUNNING || a->client_status == ALLOC_UNKNOWN ||
		!is_old(p->command, keep, a->job->type, a->modify_time_ns))
		return false;
	if (e && (!evaluation_is_terminal(e) ||
			 !is_old(p->command, keep, a->job->type, e->modify_time_ns)))
		return false;
	// A batch job that still runs keeps its ended allocations: it would run them again.
	if (is_live_batch(keep) && a->record.create_index >= keep->versions[0]->job_modify_index)
		return false;
	return !waits_for_replacement(a, keep, p->decider->now_ns);
}

static bool evaluation_may_go(const struct piece *p, const struct eval_cell *cell)
{
	const struct evaluation *e = cell->working;
	const struct job_keep *keep = job_cell_keep(cell->job_cell);
	int type = keep ? keep->versions[0]->type : e->type;

	return !e->record.deleted && evaluation_is_terminal(e) && cell->allocations == 0 &&
	       is_old(p->command, keep, type, e->modify_time_ns);
}

// A job that somebody may want to run again stays until it is stopped; a batch job is not run again.
static bool is_over(const struct job *job)
{
	return job->stop || is_batch(job->type);
}

static bool job_may_go(const struct piece *p, const struct job_cell *cell)
{
	const struct job_keep *keep = job_cell_keep(cell);

	return keep && is_over(keep->versions[0]) && cell->present_count == 0 &&
	       cell->evaluations_present == 0 && job_is_old(p->command, keep);
}

// The deployment has ended and no living allocation belongs to it.
static bool deployment_may_go(const struct piece *p, const struct deployment_cell *cell)
{
	const struct deployment *d = cell->working;

	return !d->record.deleted && !deployment_is_active(d) && cell->living == 0 &&
	       (p->command->force || d->modify_time_ns < p->command->deployments_before_ns);
}

static bool node_may_go(const struct piece *p, const struct node_cell *node)
{
	if (!node->working || node->working->record.deleted || node->working->status != NODE_DOWN)
		return false;
	int64_t down_ns = node->working->status_updated_at_s * NS_PER_S;
	if (!p->command->force && down_ns >= p->command->nodes_before_ns)
		return false;
	return node->living == 0;
}

static bool is_full(const struct piece *p)
{
	return p->looked == LOOK_AT_ONCE || p->found.count == GC_ITEMS_MAX;
}

// Where the last piece ended: behind the allocation that it kept. If that one changed since, it is at the end of the
// list, and so is the search; if it is gone, the list begins again.
static struct cds_list_head *after_kept(const struct state *state, const struct uuid *kept)
{
	struct alloc_cell *cell = uuid_is_zero(kept) ? NULL : alloc_cell_find(state, kept);

	if (!cell || !alloc_cell_is_there(cell) || !cell->is_ended)
		return state->planned_terminal.next;
	return cell->terminal.next;
}

// Ended allocations are in the order of their last change. Returns whether the list is done.
static bool look_at_allocations(struct piece *p)
{
	struct gc_run *run = &p->decider->gc;
	struct state *state = p->decider->state;
	struct cds_list_head *at = after_kept(state, &run->kept);

	for (; at != &state->planned_terminal; at = at->next) {
		struct alloc_cell *cell = cds_list_entry(at, struct alloc_cell, terminal);
		if (is_full(p))
			return false;
		p->looked++;
		if (allocation_may_go(p, cell))
			p->found.ids[p->found.count++] = *alloc_cell_id(cell);
		else
			run->kept = *alloc_cell_id(cell);
	}
	return true;
}

typedef void look_at_cell(struct piece *, const void *cell);

// Looks at the cells of a table in the order of their creation. Returns whether the table is done.
static bool look_at_table(struct piece *p, enum state_table table, look_at_cell *look)
{
	uint64_t *cursor = &p->decider->gc.cursor;

	while (!is_full(p)) {
		const void *cell = sequence_next(&p->decider->state->tables[table].order, cursor);
		if (!cell)
			return true;
		p->looked++;
		look(p, cell);
	}
	return false;
}

static void look_at_evaluation(struct piece *p, const void *which)
{
	const struct eval_cell *cell = which;

	if (evaluation_may_go(p, cell))
		p->found.ids[p->found.count++] = cell->id;
}

static void look_at_job(struct piece *p, const void *which)
{
	const struct job_cell *cell = which;

	if (job_may_go(p, cell))
		p->found.job_index[p->found.count++] =
			job_cell_keep(cell)->versions[0]->record.modify_index;
}

static void look_at_deployment(struct piece *p, const void *which)
{
	const struct deployment_cell *cell = which;

	if (deployment_may_go(p, cell))
		p->found.ids[p->found.count++] = cell->id;
}

// An expired token opens nothing, forced or not.
static void look_at_acl_token(struct piece *p, const void *which)
{
	const struct cell *cell = which;
	const struct acl_token *token = cell->working;
	int64_t before_ns =
		p->command->force ? p->decider->now_ns : p->command->acl_tokens_before_ns;

	if (cell_is_there(cell) && acl_token_is_expired(token, before_ns))
		p->found.ids[p->found.count++] = token->accessor;
}

static bool look_at_nodes(struct piece *p)
{
	struct decider *d = p->decider;
	uint32_t slots = state_node_slots(d->state);

	for (; d->gc.cursor < slots; d->gc.cursor++) {
		const struct node_cell *cell = &d->state->cells[d->gc.cursor];
		if (p->looked == LOOK_AT_ONCE || p->purged == NODES_AT_ONCE)
			return false;
		p->looked++;
		if (!node_may_go(p, cell))
			continue;
		decider_purge_node(d, cell);
		p->purged++;
	}
	return true;
}

static const struct {
	enum gc_kind kind;
	bool (*look)(struct piece *);
	enum state_table table; // without look: whose cells are looked at one by one
	look_at_cell *look_at;
} phases[GC_PHASES] = {
	[GC_ALLOCATIONS] = {GC_ALLOCATION, look_at_allocations},
	[GC_EVALUATIONS] = {GC_EVALUATION, NULL, STATE_EVALUATIONS, look_at_evaluation},
	[GC_JOBS] = {GC_JOB, NULL, STATE_JOBS, look_at_job},
	[GC_DEPLOYMENTS] = {GC_DEPLOYMENT, NULL, STATE_DEPLOYMENTS, look_at_deployment},
	[GC_NODES] = {GC_KINDS, look_at_nodes},
	[GC_ACL_TOKENS] = {GC_ACL_TOKEN, NULL, STATE_ACL_TOKENS, look_at_acl_token},
};

static bool look_at_phase(struct piece *p, uint8_t phase)
{
	return phases[phase].look ? phases[phase].look(p)
				  : look_at_table(p, phases[phase].table, phases[phase].look_at);
}

static int by_index(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
	return (a > b) - (a < b);
}

static void take_room(struct entry_gc *found)
{
	if (found->kind == GC_KINDS)
		return;
	if (found->kind == GC_JOB)
		found->job_index = memory_take_array(GC_ITEMS_MAX, sizeof found->job_index[0]);
	else
		found->ids = memory_take_array(GC_ITEMS_MAX, sizeof found->ids[0]);
}

static void piece_commit(struct decider *d, struct entry_gc *found)
{
	struct entry e = {.kind = ENTRY_GC};

	if (found->count == 0) {
		entry_gc_release(found);
		return;
	}
	if (found->kind == GC_JOB)
		qsort(found->job_index, found->count, sizeof found->job_index[0], by_index);
	else
		qsort(found->ids, found->count, sizeof found->ids[0], uuid_order);
	e.gc = *found;
	CHECK(decider_commit(d, &e) == 0);
}

static void next_phase(struct gc_run *run)
{
	run->phase++;
	run->cursor = 0;
	run->kept = (struct uuid){0};
}

static struct command *run_finish(struct gc_run *run)
{
	struct command *finished = run->commands[0];

	run->count--;
	for (uint32_t i = 0; i < run->count; i++)
		run->commands[i] = run->commands[i + 1];
	run->phase = GC_ALLOCATIONS;
	finished->outcome = OUTCOME_DONE;
	return finished;
}

struct command *gc_continue(struct decider *d)
{
	struct gc_run *run = &d->gc;
	struct piece piece = {.decider = d, .command = &run->commands[0]->gc};

	piece.found.kind = phases[run->phase].kind;
	take_room(&piece.found);
	bool is_over = look_at_phase(&piece, run->phase);
	run->commands[0]->gc.collected += piece.found.count + piece.purged;
	piece_commit(d, &piece.found);
	if (is_over)
		next_phase(run);
	if (run->phase < GC_PHASES)
		return NULL;
	run->commands[0]->index = d->state->index;
	return run_finish(run);
}

// A GC command that may not wait: too many wait already.
enum command_outcome decide_gc(struct decider *d, struct command *command)
{
	return OUTCOME_CONFLICT;
}

bool gc_begin(struct decider *d, struct command *c)
{
	if (d->gc.count == GC_COMMANDS_MAX)
		return false;
	c->gc.collected = 0;
	d->gc.commands[d->gc.count++] = c;
	return true;
}

struct command *gc_abandon(struct decider *d)
{
	return d->gc.count > 0 ? d->gc.commands[--d->gc.count] : NULL;
}
