#include "state/base/check.h"
#include "state/base/time_units.h"
#include "state/decide/command_kinds.h"
#include "state/decide/decide.h"
#include "state/records/job_traits.h"
#include "state/records/namespaces/job_namespace.h"
#include "state/tables/jobs/deployment_table.h"
#include "state/tables/jobs/evaluation_table.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/jobs/job_keep.h"
#include "state/tables/namespaces/namespace_table.h"
#include "state/tables/settings.h"
#include <stdio.h>

enum command_outcome decider_store_job(
	struct decider *d, const struct job_keep *keep, struct job **stored)
{
	struct job *job = *stored;
	struct entry e = {.kind = ENTRY_JOB_REGISTER, .job_register = {.job = job}};
	uint64_t next = d->state->index + 1;

	job->record.create_index = keep ? keep->record.create_index : next;
	job->record.modify_index = job->job_modify_index = next;
	job->version = keep ? keep->versions[0]->version + 1 : 0;
	job->submit_time_ns = d->now_ns;
	job->status = JOB_PENDING;
	if (!namespace_is_there(d->state, text_of(job->namespace_name)))
		return OUTCOME_UNKNOWN_NAMESPACE;
	if (!job_derive(job))
		return OUTCOME_BAD_DESCRIPTION;
	enum command_outcome outcome = outcome_of_error(decider_commit(d, &e));
	if (outcome == OUTCOME_DONE)
		*stored = NULL;
	return outcome;
}

// Groups that the job already has keep their present count.
static void keep_counts(struct job *job, const struct job *known)
{
	for (uint32_t i = 0; i < job->task_groups.count; i++) {
		struct task_group *group = ARRAY_AT(&job->task_groups, struct task_group, i);
		int at = job_group_index(known, text_of(group->name));
		if (at >= 0)
			group->count = ARRAY_AT(&known->task_groups, struct task_group, at)->count;
	}
}

// A job never becomes (or stops being) periodic or parameterized; clients know these words. Empty: the change is
// allowed.
static void say_what_differs(struct command_job_register *c, const struct job *known)
{
	const struct job *job = c->job;
	const char *text = "";

	if (!job->periodic != !known->periodic)
		text = known->periodic ? "cannot update periodic job to being non-periodic"
				       : "cannot update non-periodic job to being periodic";
	else if (!job->parameterized != !known->parameterized)
		text = known->parameterized
			       ? "cannot update parameterized job to being non-parameterized"
			       : "cannot update non-parameterized job to being parameterized";
	else if (job->dispatched != known->dispatched)
		text = "field 'Dispatched' is read-only";
	snprintf(c->message, sizeof c->message, "%s", text);
	if (job->type != known->type)
		snprintf(c->message, sizeof c->message,
			"cannot update job from type \"%s\" to \"%s\"", job_type_names[known->type],
			job_type_names[job->type]);
}

static enum command_outcome may_register(
	const struct decider *d, struct command_job_register *c, const struct job *known)
{
	c->message[0] = 0;
	if (c->enforce_index && c->job_modify_index != c->current_modify_index)
		return OUTCOME_CONFLICT;
	if (scheduler_config_working(d->state)->reject_job_registration)
		return OUTCOME_REJECTED;
	struct text name = text_of(c->job->namespace_name);
	if (!namespace_is_there(d->state, name))
		return OUTCOME_UNKNOWN_NAMESPACE;
	if (known)
		say_what_differs(c, known);
	if (!c->message[0])
		namespace_allows_drivers(
			namespace_working(d->state, name), c->job, c->message, sizeof c->message);
	return c->message[0] ? OUTCOME_BAD_DESCRIPTION : OUTCOME_DONE;
}

static enum command_outcome store_job(struct decider *d, struct command_job_register *c,
	const struct job_keep *keep, uint64_t *index)
{
	if (c->job->multiregion)
		c->job->multiregion->eval_priority = c->eval_priority;
	if (!keep || job_specification_differs(c->job, keep->versions[0])) {
		*index = d->state->index + 1;
		return decider_store_job(d, keep, &c->job);
	}
	job_free(c->job);
	c->job = NULL;
	*index = c->current_modify_index;
	return OUTCOME_DONE;
}

enum command_outcome decide_job_register(struct decider *d, struct command *command)
{
	struct command_job_register *c = &command->job_register;
	uint64_t *index = &command->index;
	const struct job_cell *cell = job_cell_of(d->state, c->job);
	const struct job_keep *keep = job_cell_keep(cell);
	const struct job *known = keep ? keep->versions[0] : NULL;

	c->made = (struct eval_made){0};
	c->existed = known != NULL;
	c->current_modify_index = known ? known->job_modify_index : 0;
	enum command_outcome outcome = may_register(d, c, known);
	if (outcome != OUTCOME_DONE)
		return outcome;
	if (known && c->preserve_counts)
		keep_counts(c->job, known);
	if (!state_can_hold(d->state, c->job, c->message, sizeof c->message))
		return OUTCOME_BAD_DESCRIPTION;
	bool is_evaluated = job_has_scheduler(c->job);
	bool is_new = !known || job_specification_differs(c->job, known);
	bool changes = is_evaluated || is_new;
	if (changes && d->store_is_full)
		return OUTCOME_STORE_FULL;
	bool is_rollout = is_new && job_begins_rollout(c->job);
	if ((is_evaluated && !evaluations_have_room(d->state, 1)) ||
		(is_rollout && !deployments_have_room(d->state, 1)))
		return OUTCOME_TABLE_FULL;
	outcome = store_job(d, c, keep, index);
	if (outcome != OUTCOME_DONE || !is_evaluated)
		return outcome;
	const struct job *job = job_version_find(d->state, *index);
	if (is_rollout)
		decider_begin_rollout(d, job_cell_of(d->state, job), c->eval_priority);
	return decider_evaluate_job(d, job, TRIGGER_JOB_REGISTER, c->eval_priority, &c->made);
}

// A scheduler has to stop the job, whatever its type: the generic one does that for all (row B62).
static enum command_outcome evaluate_deregistered(struct decider *d,
	struct command_job_deregister *c, struct evaluation *e, uint64_t job_modify_index)
{
	e->type = EVAL_SERVICE;
	if (c->eval_priority)
		e->priority = c->eval_priority;
	e->job_modify_index = job_modify_index;
	return decider_evaluate(d, e, &c->made) ? OUTCOME_DONE : OUTCOME_TABLE_FULL;
}

static enum command_outcome stop_job(struct decider *d, struct command_job_deregister *c,
	const struct job *job, struct entry *entry, uint64_t *index)
{
	struct evaluation *e = NULL;

	if (job_has_scheduler(job)) {
		if (!evaluations_have_room(d->state, 1))
			return OUTCOME_TABLE_FULL;
		e = decider_evaluation(d, job, TRIGGER_JOB_DEREGISTER);
	}
	*index = job->job_modify_index;
	if (!job->stop || c->purge || entry->job_deregister.everywhere != STOP_HERE) {
		*index = d->state->index + 1;
		CHECK(decider_commit(d, entry) == 0);
	}
	return e ? evaluate_deregistered(d, c, e, *index) : OUTCOME_DONE;
}

enum command_outcome decide_job_deregister(struct decider *d, struct command *command)
{
	struct command_job_deregister *c = &command->job_deregister;
	uint64_t *index = &command->index;
	const struct job_cell *cell = decider_find_job(d, c->namespace_name, c->id);

	c->made = (struct eval_made){0};
	if (!cell)
		return OUTCOME_UNKNOWN_JOB;
	const struct job *job = job_cell_keep(cell)->versions[0];
	// The command comes from another region: it may be late or repeated.
	bool is_old = job->submit_time_ns > c->before_ns || (job->stop && !c->purge);
	if (c->before_ns && is_old) {
		*index = job->job_modify_index;
		return OUTCOME_DONE;
	}
	// A job of this region alone has no other region to tell.
	bool everywhere = c->everywhere && job->multiregion;
	uint8_t whom = !everywhere ? STOP_HERE : c->purge ? PURGE_EVERYWHERE : STOP_EVERYWHERE;
	struct entry e = {.kind = ENTRY_JOB_DEREGISTER,
		.job_deregister = {text_of(cell->namespace_name), c->id, c->purge && !everywhere,
			whom, everywhere ? c->eval_priority : 0}};
	return stop_job(d, c, job, &e, index);
}

void decider_collect(struct decider *d)
{
	struct entry e = {.kind = ENTRY_COLLECT,
		.collect = {
			.ended_before_ns = d->now_ns - d->collect_after_ms * NS_PER_MS,
			.issued_before_ms = d->now_ns / NS_PER_MS - PLACE_REMEMBER_MS,
			.limit = COLLECT_ITEMS_MAX,
		}};

	d->is_collecting = false;
	if (!collect_finds(d->state, &e.collect))
		return;
	CHECK(decider_commit(d, &e) == 0);
	d->is_collecting = collect_finds(d->state, &e.collect);
}

enum command_outcome decide_collect(struct decider *d, struct command *command)
{
	decider_collect(d);
	return OUTCOME_DONE;
}
