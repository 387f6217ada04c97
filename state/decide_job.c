#include "state/base/check.h"
#include "state/base/error.h"
#include "state/decide.h"

static enum command_outcome commit_job(struct decider *d, struct command_job_register *c,
	const struct job_keep *keep, uint64_t *index)
{
	struct job *job = c->job;
	struct entry e = {.kind = ENTRY_JOB_REGISTER, .job_register = {.job = job}};
	uint64_t next = d->state->index + 1;

	job->record.create_index = keep ? keep->record.create_index : next;
	job->record.modify_index = job->job_modify_index = next;
	job->version = keep ? keep->versions[0]->version + 1 : 0;
	job->submit_time_ns = d->now_ns;
	job->status = JOB_PENDING;
	if (!job_derive(job))
		return OUTCOME_BAD_DESCRIPTION;
	int error = decider_commit(d, &e);
	if (error)
		return error == -ERROR_TABLE_FULL ? OUTCOME_TABLE_FULL : OUTCOME_BAD_DESCRIPTION;
	c->job = NULL;
	*index = next;
	return OUTCOME_DONE;
}

enum command_outcome decide_job_register(
	struct decider *d, struct command_job_register *c, uint64_t *index)
{
	const struct job_cell *cell =
		job_cell_find(d->state, text_of(c->job->namespace_name), text_of(c->job->id));
	const struct job_keep *keep = cell ? job_cell_keep(cell) : NULL;

	c->existed = keep != NULL;
	c->current_modify_index = keep ? keep->versions[0]->job_modify_index : 0;
	if (c->enforce_index && c->job_modify_index != c->current_modify_index)
		return OUTCOME_CONFLICT;
	if (keep && !job_specification_differs(c->job, keep->versions[0])) {
		job_free(c->job);
		c->job = NULL;
		*index = c->current_modify_index;
		return OUTCOME_DONE;
	}
	if (d->store_is_full)
		return OUTCOME_STORE_FULL;
	return commit_job(d, c, keep, index);
}

enum command_outcome decide_job_deregister(
	struct decider *d, const struct command_job_deregister *c)
{
	struct text namespace_name = c->namespace_name.size ? c->namespace_name : TEXT("default");
	const struct job_cell *cell = job_cell_find(d->state, namespace_name, c->id);
	const struct job_keep *keep = cell ? job_cell_keep(cell) : NULL;
	struct entry e = {
		.kind = ENTRY_JOB_DEREGISTER, .job_deregister = {namespace_name, c->id, c->purge}};

	if (!keep)
		return OUTCOME_UNKNOWN_JOB;
	if (keep->versions[0]->stop && !c->purge)
		return OUTCOME_DONE;
	CHECK(decider_commit(d, &e) == 0);
	return OUTCOME_DONE;
}

void decider_collect(struct decider *d)
{
	struct entry e = {.kind = ENTRY_COLLECT,
		.collect = {
			.ended_before_ns = d->now_ns - d->collect_after_ms * 1000000,
			.issued_before_ms = d->now_ns / 1000000 - PLACE_REMEMBER_MS,
			.limit = COLLECT_ITEMS_MAX,
		}};

	d->is_collecting = false;
	if (!collect_finds(d->state, &e.collect))
		return;
	CHECK(decider_commit(d, &e) == 0);
	d->is_collecting = collect_finds(d->state, &e.collect);
}
