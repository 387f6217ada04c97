#include "tests/state/properties/work_model.h"
#include "state/records/plan.h"
#include "state/records/scheduler_config.h"
#include "state/tables/jobs/job_reevaluations.h"
#include "state/tables/state.h"
#include "state/tables/tables.h"
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

const char *const work_jobs[WORK_JOBS] = {"sys", "once", "svc", "agents"};
const enum job_type work_types[WORK_JOBS] = {JOB_SYSTEM, JOB_SYSBATCH, JOB_SERVICE, JOB_SYSTEM};

static struct work_eval *add_eval(
	struct work *w, const struct uuid *id, uint32_t job, int triggered_by, int status)
{
	struct work_eval *e = &w->evals[w->eval_count++];

	assert_true(w->eval_count < WORK_EVALS);
	*e = (struct work_eval){
		.id = *id, .job = job, .triggered_by = triggered_by, .status = status};
	if (w->jobs[job].exists)
		w->jobs[job].had_work = true;
	return e;
}

// One that a command made; it settles the mark of its job.
static void add_made(struct work *w, const struct eval_made *made, uint32_t job, int triggered_by)
{
	assert_int_equal(made->count, 1);
	add_eval(w, &made->id, job, triggered_by, EVAL_PENDING);
	w->jobs[job].marked_ms = 0;
}

static void expect_eval(struct work *w, uint32_t job, int triggered_by)
{
	assert_true(w->expected_count < WORK_EXPECTED);
	w->expected[w->expected_count++] = (struct expected_eval){job, triggered_by};
	w->jobs[job].marked_ms = 0;
}

static bool is_terminal(int status)
{
	return status >= EVAL_COMPLETE;
}

void work_store(struct work *w, uint32_t eval, uint32_t job, const struct uuid *id, int status,
	bool leaves_failed, const struct command *command)
{
	struct work_eval *e = &w->evals[eval];

	assert_int_equal(command->outcome, OUTCOME_DONE);
	if (eval == w->eval_count)
		e = add_eval(w, id, job, TRIGGER_JOB_REGISTER, status);
	e->status = status;
	e->leaves_failed = leaves_failed;
	if (status != EVAL_COMPLETE || leaves_failed)
		return;
	for (uint32_t i = 0; i < w->eval_count; i++)
		if (!w->evals[i].is_gone && w->evals[i].job == e->job &&
			w->evals[i].status == EVAL_BLOCKED)
			w->evals[i].status = EVAL_CANCELED;
}

void work_config(struct work *w, bool rejects_jobs, const struct command *command)
{
	assert_int_equal(command->outcome, OUTCOME_DONE);
	assert_true(command->scheduler_config.updated);
	w->rejects_jobs = rejects_jobs;
}

void work_job_register(
	struct work *w, uint32_t job, int64_t priority, const struct command *command)
{
	struct work_job *j = &w->jobs[job];
	const struct command_job_register *c = &command->job_register;

	assert_int_equal(c->existed, j->exists);
	if (w->rejects_jobs) {
		assert_int_equal(command->outcome, OUTCOME_REJECTED);
		return;
	}
	assert_int_equal(command->outcome, OUTCOME_DONE);
	bool is_same = j->exists && !j->is_stopped && j->priority == priority;
	if (!j->exists) {
		*j = (struct work_job){.exists = true,
			.incarnation = j->incarnation + 1,
			.marked_ms = j->marked_ms};
	} else if (!is_same) {
		j->version++;
	}
	j->is_stopped = false;
	j->priority = priority;
	if (is_same)
		assert_int_equal(command->index, j->modify_index);
	j->modify_index = command->index;
	add_made(w, &c->made, job, TRIGGER_JOB_REGISTER);
}

void work_job_stop(struct work *w, uint32_t job, const struct command *command)
{
	struct work_job *j = &w->jobs[job];
	const struct command_job_deregister *c = &command->job_deregister;

	assert_int_equal(command->outcome, j->exists ? OUTCOME_DONE : OUTCOME_UNKNOWN_JOB);
	if (!j->exists)
		return;
	if (!j->is_stopped && !c->purge) {
		j->version++;
		j->modify_index = command->index;
	}
	j->is_stopped = true;
	j->exists = !c->purge;
	add_made(w, &c->made, job, TRIGGER_JOB_DEREGISTER);
}

void work_job_evaluate(struct work *w, uint32_t job, const struct command *command)
{
	assert_int_equal(
		command->outcome, w->jobs[job].exists ? OUTCOME_DONE : OUTCOME_UNKNOWN_JOB);
	if (w->jobs[job].exists)
		add_made(w, &command->job_evaluate.made, job, TRIGGER_JOB_REGISTER);
}

static void mark(struct work *w, const struct model *m, uint32_t job, int triggered_by)
{
	struct work_job *j = &w->jobs[job];

	bool is_urgent = triggered_by != TRIGGER_NODE_UPDATE;

	if (j->marked_ms == 0 || (is_urgent && j->mark_trigger == TRIGGER_NODE_UPDATE)) {
		j->marked_ms = m->now_ms;
		j->mark_trigger = triggered_by;
	}
	j->marked_last_ms = m->now_ms;
}

static bool runs_on(const struct work *w, uint32_t job, uint32_t node)
{
	for (uint32_t i = 0; i < w->allocation_count; i++)
		if (!w->allocations[i].is_gone && !w->allocations[i].is_off_node &&
			w->allocations[i].job == job && w->allocations[i].node == node)
			return true;
	return false;
}

static bool wants_nodes(const struct work *w, uint32_t job)
{
	return work_types[job] == JOB_SYSTEM && w->jobs[job].exists && !w->jobs[job].is_stopped;
}

static void mark_node(struct work *w, const struct model *m, uint32_t node, bool is_usable)
{
	for (uint32_t job = 0; job < WORK_JOBS; job++)
		if (runs_on(w, job, node) || (is_usable && wants_nodes(w, job)))
			mark(w, m, job, TRIGGER_NODE_UPDATE);
}

static bool takes_work(const struct model_node *n)
{
	return n->is_ready && !n->is_ineligible;
}

static bool mark_is_due(const struct work_job *j, int64_t now_ms)
{
	if (j->marked_ms == 0)
		return false;
	if (j->mark_trigger != TRIGGER_NODE_UPDATE)
		return now_ms - j->marked_ms >= MARK_REPORT_NS / NS_PER_MS;
	return now_ms - j->marked_last_ms >= MARK_QUIET_NS / NS_PER_MS ||
	       now_ms - j->marked_ms >= MARK_OLDEST_NS / NS_PER_MS;
}

void work_begin(struct work *w, const struct model *m)
{
	for (uint32_t job = 0; job < WORK_JOBS; job++) {
		if (mark_is_due(&w->jobs[job], m->now_ms))
			expect_eval(w, job, w->jobs[job].mark_trigger);
	}
}

// The device groups and metadata that random nodes have or have not.
static uint32_t kind_of(const struct node_registration *c)
{
	uint32_t kind = c->pair_count;

	for (uint32_t i = 0; i < c->device_group_count; i++)
		kind = kind * 1000 + c->device_groups[i].instances * 10 +
		       (c->device_groups[i].type.data[0] == 'g');
	return kind;
}

void work_node_registered(struct work *w, const struct model *m, uint32_t node,
	const struct command *command, bool was_known)
{
	uint32_t kind = kind_of(command->node_register);
	uint32_t before = w->node_kinds[node];

	w->node_kinds[node] = kind;
	if (!was_known || kind != before)
		mark_node(w, m, node, takes_work(&m->nodes[node]));
}

void work_node_status(struct work *w, const struct model *m, uint32_t node,
	const struct command *command, bool was_ready)
{
	if (command->outcome == OUTCOME_DONE && m->nodes[node].is_ready != was_ready)
		mark_node(w, m, node, takes_work(&m->nodes[node]));
}

void work_eligibility(struct work *w, const struct model *m, uint32_t node, bool was_ineligible)
{
	if (was_ineligible && !m->nodes[node].is_ineligible)
		mark_node(w, m, node, takes_work(&m->nodes[node]));
}

void work_purge(struct work *w, const struct model *m, uint32_t node, bool was_usable)
{
	mark_node(w, m, node, was_usable);
	for (uint32_t i = 0; i < w->allocation_count; i++)
		if (w->allocations[i].node == node)
			w->allocations[i].is_off_node = true;
}

void work_node_evaluate(
	struct work *w, const struct model *m, uint32_t node, const struct command *command)
{
	const struct eval_made *made = &command->node_named.made;
	uint32_t expected = 0;

	if (!m->nodes[node].is_known) {
		assert_int_equal(command->outcome, OUTCOME_UNKNOWN_NODE);
		return;
	}
	assert_int_equal(command->outcome, OUTCOME_DONE);
	for (uint32_t job = 0; job < WORK_JOBS; job++) {
		if (!runs_on(w, job, node) && !wants_nodes(w, job))
			continue;
		expect_eval(w, job, TRIGGER_NODE_UPDATE);
		expected++;
	}
	assert_int_equal(made->count, expected);
}

static void give_back(struct model *m, const struct work_allocation *a)
{
	struct model_node *n = &m->nodes[a->node];
	n->used = resources_minus(n->used, WORK_ASK);
}

void work_placed(struct work *w, struct model *m, uint32_t job, uint32_t incarnation, uint32_t node,
	uint32_t eval, const struct uuid *id, const struct command *command)
{
	struct model_node *n = &m->nodes[node];
	const struct plan_result *result = command->plan.result;
	bool fits = w->jobs[job].exists && w->jobs[job].incarnation == incarnation && n->is_known &&
		    takes_work(n) && resources_fit(WORK_ASK, resources_minus(n->total, n->used));

	assert_int_equal(command->outcome, OUTCOME_DONE);
	assert_int_equal(result->placements_committed, fits);
	assert_int_equal(result->rejections.count, !fits);
	assert_int_equal(result->refresh_index != 0, !fits);
	if (!fits)
		return;
	struct work_allocation *a = &w->allocations[w->allocation_count++];
	assert_true(w->allocation_count < WORK_ALLOCATIONS);
	*a = (struct work_allocation){.id = *id,
		.job = job,
		.node = node,
		.eval = eval,
		.create_index = result->alloc_index,
		.desired = ALLOC_RUN,
		.client_status = ALLOC_PENDING};
	n->used = resources_plus(n->used, WORK_ASK);
}

void work_stopped(struct work *w, uint32_t allocation, const struct command *command)
{
	struct work_allocation *a = &w->allocations[allocation];

	assert_int_equal(command->outcome, OUTCOME_DONE);
	if (command->plan.result->stops_committed == 0) {
		assert_false(work_is_living(a));
		return;
	}
	a->desired = ALLOC_STOP;
}

void work_reported(
	struct work *w, struct model *m, uint32_t allocation, const struct command *command)
{
	struct work_allocation *a = &w->allocations[allocation];
	const struct model_node *n = &m->nodes[a->node];
	uint8_t status = command->alloc_update->items[0].client_status;
	bool was_held = work_is_held(a);

	if (!n->is_known) // its slot may be another's by now
		return;
	if (n->generation != command->alloc_update->generation) {
		assert_int_equal(command->outcome, OUTCOME_STALE_GENERATION);
		return;
	}
	if (!n->is_ready && !n->is_new) {
		assert_int_equal(command->outcome, OUTCOME_NODE_NOT_ALLOWED);
		return;
	}
	assert_int_equal(command->outcome, OUTCOME_DONE);
	assert_int_equal(command->alloc_update->items[0].known, !a->is_off_node);
	if (a->is_off_node)
		return;
	bool is_end = status == ALLOC_COMPLETE || status == ALLOC_FAILED;
	if (a->client_status != ALLOC_COMPLETE && a->client_status != ALLOC_FAILED)
		a->client_status = status;
	if (is_end && !w->jobs[a->job].exists) {
		a->desired = ALLOC_STOP;
		mark(w, m, a->job, TRIGGER_JOB_DEREGISTER);
	}
	if (was_held && !work_is_held(a))
		give_back(m, a);
}

static int status_of(const struct work *w, uint32_t job)
{
	const struct work_job *j = &w->jobs[job];

	if (work_types[job] == JOB_SYSTEM)
		return j->is_stopped ? JOB_DEAD : JOB_RUNNING;
	for (uint32_t i = 0; i < w->allocation_count; i++)
		if (w->allocations[i].job == job && work_is_living(&w->allocations[i]))
			return JOB_RUNNING;
	for (uint32_t i = 0; i < w->eval_count; i++)
		if (w->evals[i].job == job && !w->evals[i].is_gone &&
			!is_terminal(w->evals[i].status))
			return JOB_PENDING;
	return j->had_work ? JOB_DEAD : JOB_PENDING;
}

static bool allocation_goes(const struct work *w, const struct work_allocation *a)
{
	const struct work_job *j = &w->jobs[a->job];

	if (a->is_gone || work_is_living(a) || a->client_status == ALLOC_RUNNING ||
		!is_terminal(w->evals[a->eval].status))
		return false;
	return !(j->exists && work_types[a->job] == JOB_SYSBATCH &&
		 status_of(w, a->job) != JOB_DEAD && a->create_index >= j->modify_index);
}

static bool has_something(const struct work *w, uint32_t job)
{
	for (uint32_t i = 0; i < w->allocation_count; i++)
		if (w->allocations[i].job == job && !w->allocations[i].is_gone)
			return true;
	for (uint32_t i = 0; i < w->eval_count; i++)
		if (w->evals[i].job == job && !w->evals[i].is_gone)
			return true;
	return false;
}

static bool is_used(const struct work *w, uint32_t eval)
{
	for (uint32_t i = 0; i < w->allocation_count; i++)
		if (w->allocations[i].eval == eval && !w->allocations[i].is_gone)
			return true;
	return false;
}

// A job that somebody may want to run again stays until it is stopped.
static bool is_over(const struct work *w, uint32_t job)
{
	return w->jobs[job].is_stopped || work_types[job] == JOB_SYSBATCH;
}

// Whatever its age.
void work_collected(struct work *w, struct model *m, const struct command *command)
{
	assert_int_equal(command->outcome, OUTCOME_DONE);
	for (uint32_t i = 0; i < w->allocation_count; i++) {
		if (!allocation_goes(w, &w->allocations[i]))
			continue;
		if (work_is_held(&w->allocations[i]))
			give_back(m, &w->allocations[i]);
		w->allocations[i].is_gone = true;
	}
	for (uint32_t i = 0; i < w->eval_count; i++)
		w->evals[i].is_gone |= is_terminal(w->evals[i].status) && !is_used(w, i);
	for (uint32_t job = 0; job < WORK_JOBS; job++)
		if (w->jobs[job].exists && is_over(w, job) && status_of(w, job) == JOB_DEAD &&
			!has_something(w, job))
			w->jobs[job].exists = false;
}

static bool is_known(const struct work *w, const struct uuid *id)
{
	for (uint32_t i = w->eval_count; i > 0; i--)
		if (uuid_equal(&w->evals[i - 1].id, id))
			return true;
	return false;
}

static void learn(struct work *w, const struct evaluation *e)
{
	for (uint32_t i = 0; i < w->expected_count; i++) {
		struct expected_eval *expected = &w->expected[i];
		if (strcmp(work_jobs[expected->job], e->job_id) != 0 ||
			e->triggered_by != expected->triggered_by)
			continue;
		add_eval(w, &e->id, expected->job, e->triggered_by, e->status);
		*expected = w->expected[--w->expected_count];
		return;
	}
	fail_msg("an evaluation of %s that nobody called for", e->job_id);
}

void work_learn(struct work *w, const struct state *state)
{
	const struct evaluation *e;
	uint64_t cursor = 0;

	state_read_begin();
	while ((e = state_next(state, STATE_EVALUATIONS, &cursor)))
		if (!is_known(w, &e->id))
			learn(w, e);
	state_read_end();
	assert_int_equal(w->expected_count, 0);
}

static void compare_evals(const struct work *w, const struct state *state)
{
	uint32_t present = 0, found = 0;
	uint64_t cursor = 0;

	for (uint32_t i = 0; i < w->eval_count; i++) {
		const struct work_eval *known = &w->evals[i];
		const struct evaluation *e = state_evaluation(state, &known->id);
		assert_int_equal(e == NULL, known->is_gone);
		if (!e)
			continue;
		assert_int_equal(e->status, known->status);
		assert_int_equal(e->triggered_by, known->triggered_by);
		assert_string_equal(e->job_id, work_jobs[known->job]);
		present++;
	}
	while (state_next(state, STATE_EVALUATIONS, &cursor))
		found++;
	assert_int_equal(found, present);
}

static void compare_summary(const struct work *w, uint32_t job, const struct state *state)
{
	struct task_group_summary group;
	uint32_t count = 1, starting = 0, running = 0;

	assert_true(
		state_job_summary(state, TEXT("default"), text_of(work_jobs[job]), &group, &count));
	for (uint32_t i = 0; i < w->allocation_count; i++) {
		const struct work_allocation *a = &w->allocations[i];
		if (a->is_gone || a->job != job)
			continue;
		starting += a->client_status == ALLOC_PENDING;
		running += a->client_status == ALLOC_RUNNING;
	}
	assert_int_equal(group.starting, starting);
	assert_int_equal(group.running, running);
}

static void compare_job(const struct work *w, uint32_t job, const struct state *state)
{
	const struct work_job *j = &w->jobs[job];
	const struct job *record = state_job(state, TEXT("default"), text_of(work_jobs[job]));

	assert_int_equal(record != NULL, j->exists);
	if (!record)
		return;
	assert_int_equal(record->version, j->version);
	assert_int_equal(record->stop, j->is_stopped);
	assert_int_equal(record->priority, j->priority);
	assert_int_equal(record->status, status_of(w, job));
	compare_summary(w, job, state);
}

void work_compare(const struct work *w, const struct model *m, const struct state *state)
{
	state_read_begin();
	compare_evals(w, state);
	for (uint32_t job = 0; job < WORK_JOBS; job++)
		compare_job(w, job, state);
	for (uint32_t i = 0; i < w->allocation_count; i++) {
		const struct work_allocation *known = &w->allocations[i];
		const struct allocation *a = state_allocation(state, &known->id);
		assert_int_equal(a == NULL, known->is_gone);
		if (!a)
			continue;
		assert_int_equal(a->desired, known->desired);
		assert_int_equal(a->client_status, known->client_status);
		assert_int_equal(a->node_slot,
			known->is_off_node ? NODE_SLOT_NONE : m->nodes[known->node].slot);
	}
	assert_int_equal(state_scheduler_config(state)->reject_job_registration, w->rejects_jobs);
	state_read_end();
}
