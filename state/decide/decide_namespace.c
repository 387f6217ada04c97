// Namespaces and quotas that operators describe or take away.
#include "state/base/check.h"
#include "state/decide/command_kinds.h"
#include "state/decide/decide.h"
#include "state/records/namespaces/job_namespace.h"
#include "state/records/variable.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/namespaces/namespace_table.h"
#include "state/tables/namespaces/quota_table.h"
#include "state/tables/sequence.h"
#include "state/tables/state.h"
#include "state/tables/table.h"
#include "state/tables/tables.h"

// One that is there may have a name of older data.
enum command_outcome decide_namespace(struct decider *d, struct command *command)
{
	struct command_namespace *c = &command->namespace;

	CHECK(c->described);
	struct text name = text_of(c->described->name);
	if (!namespace_name_is_fit(name) && !namespace_is_there(d->state, name))
		return OUTCOME_BAD_DESCRIPTION;
	struct text quota = text_of(c->described->quota);
	if (quota.size > 0 && !quota_cell_find(d->state, quota))
		return OUTCOME_UNKNOWN_QUOTA;
	enum command_outcome outcome = decider_store(d, STATE_NAMESPACES, c->described);
	if (outcome == OUTCOME_DONE)
		c->described = NULL;
	return outcome;
}

static bool has_jobs(const struct state *state, struct text name)
{
	const struct job_cell *cell;
	uint64_t cursor = 0;

	while ((cell = sequence_next(&state->tables[STATE_JOBS].order, &cursor))) {
		const struct job_keep *keep = job_cell_keep(cell);
		if (keep && keep->status != JOB_DEAD &&
			text_equal(text_of(cell->namespace_name), name))
			return true;
	}
	return false;
}

static bool has_variables(const struct state *state, struct text name)
{
	const struct cell *cell;
	uint64_t cursor = 0;

	while ((cell = sequence_next(&state->tables[STATE_VARIABLES].order, &cursor))) {
		const struct variable *v = cell_is_there(cell) ? cell->working : NULL;
		if (v && text_equal(variable_namespace(v->name), name))
			return true;
	}
	return false;
}

// Dead jobs stay, and nothing is registered there any more. A variable would be there, and in nobody's sight.
enum command_outcome decide_namespace_delete(struct decider *d, struct command *command)
{
	struct text name = command->namespace_delete.name;

	CHECK(name.data);
	if (namespace_is_built_in(name))
		return OUTCOME_BAD_DESCRIPTION;
	if (!namespace_working(d->state, name))
		return OUTCOME_UNKNOWN_NAMESPACE;
	if (has_jobs(d->state, name))
		return OUTCOME_CONFLICT;
	if (has_variables(d->state, name))
		return OUTCOME_NOT_NOW;
	decider_delete(d, STATE_NAMESPACES, name);
	return OUTCOME_DONE;
}

// What is used already stays, whatever the new limits are.
enum command_outcome decide_quota(struct decider *d, struct command *command)
{
	struct command_quota *c = &command->quota;

	CHECK(c->quota);
	enum command_outcome outcome = decider_store(d, STATE_QUOTAS, c->quota);
	if (outcome == OUTCOME_DONE)
		c->quota = NULL;
	return outcome;
}

enum command_outcome decide_quota_delete(struct decider *d, struct command *command)
{
	struct text name = command->quota_delete.name;
	const struct quota_cell *cell = quota_cell_find(d->state, name);

	CHECK(name.data);
	if (!cell)
		return OUTCOME_UNKNOWN_QUOTA;
	if (cell->namespaces > 0)
		return OUTCOME_CONFLICT;
	decider_delete(d, STATE_QUOTAS, name);
	return OUTCOME_DONE;
}
