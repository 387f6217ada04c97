// COMMAND_DEPLOYMENT: what operators, peers and the watcher ask of a deployment (rows C38 to C41, C52, C55).
#include "state/base/check.h"
#include "state/base/memory.h"
#include "state/decide/command_kinds.h"
#include "state/decide/decide.h"
#include "state/records/job_traits.h"
#include "state/tables/alloc_cell.h"
#include "state/tables/jobs/alloc_table.h"
#include "state/tables/jobs/deployment_table.h"
#include "state/tables/jobs/evaluation_table.h"
#include "state/tables/jobs/job_cell.h"
#include "state/tables/jobs/job_keep.h"
#include "state/tables/tables.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define DESCRIPTION_BYTES 256u

__attribute__((format(printf, 3, 4))) static enum command_outcome deployment_refuse(
	struct command_deployment *c, enum command_outcome outcome, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(c->message, sizeof c->message, format, arguments);
	va_end(arguments);
	return outcome;
}

#define IN(status) (1u << DEPLOYMENT_##status)
#define IN_ALL_ACTIVE \
	(IN(RUNNING) | IN(PAUSED) | IN(INITIALIZING) | IN(PENDING) | IN(BLOCKED) | IN(UNBLOCKING))

// Only an operator ends an operator's pause; the other regions start a deployment that waits for them.
static const struct {
	const char *verb;
	uint32_t statuses; // in which it is allowed
} actions[DEPLOYMENT_ACTIONS] = {
	[DEPLOYMENT_PAUSE] = {"pause", IN(RUNNING) | IN(PAUSED) | IN(PENDING) | IN(BLOCKED)},
	[DEPLOYMENT_RESUME] = {"resume", IN(PAUSED) | IN(RUNNING)},
	[DEPLOYMENT_FAIL] = {"fail", IN_ALL_ACTIVE},
	[DEPLOYMENT_PROMOTE] = {"promote", IN_ALL_ACTIVE},
	[DEPLOYMENT_UNBLOCK] = {"unblock", IN(BLOCKED) | IN(UNBLOCKING)},
	[DEPLOYMENT_RUN] = {"run", IN(PENDING) | IN(RUNNING)},
	[DEPLOYMENT_CANCEL] = {"cancel", IN_ALL_ACTIVE},
	[DEPLOYMENT_SET_HEALTH] = {NULL, IN_ALL_ACTIVE},
};

static enum command_outcome may_be_asked(
	const struct decider *d, struct command_deployment *c, const struct deployment *known)
{
	const char *verb = actions[c->action].verb;

	if (!deployment_is_active(known))
		return verb ? deployment_refuse(
				      c, OUTCOME_TERMINAL, "can't %s terminal deployment", verb)
			    : deployment_refuse(c, OUTCOME_TERMINAL,
				      "can't set health of allocations for a terminal deployment");
	if (!(actions[c->action].statuses >> known->status & 1))
		return deployment_refuse(c, OUTCOME_NOT_NOW, "can't %s %s deployment", verb,
			deployment_status_names[known->status]);
	if (d->store_is_full)
		return OUTCOME_STORE_FULL;
	return evaluations_have_room(d->state, 1) ? OUTCOME_DONE : OUTCOME_TABLE_FULL;
}

static void set_status(
	struct decider *d, const struct deployment_cell *cell, int status, const char *description)
{
	struct entry e = {.kind = ENTRY_DEPLOYMENT,
		.deployment = {.change = DEPLOYMENT_CHANGES_STATUS,
			.id = cell->id,
			.status = (uint8_t)status,
			.description = text_of(description)}};

	CHECK(decider_commit(d, &e) == 0);
}

// Deployments belong to service jobs; the job may be gone by now, or have become another one.
static enum command_outcome deployment_evaluate(
	struct decider *d, const struct deployment_cell *cell, struct command_deployment *c)
{
	const struct job_keep *keep = job_cell_keep(cell->job_cell);
	struct job like = {
		.namespace_name = cell->job_cell->namespace_name,
		.id = cell->job_cell->id,
		.priority = keep ? keep->versions[0]->priority : 50,
		.type = JOB_SERVICE,
	};

	if (keep && !job_has_scheduler(keep->versions[0]))
		return OUTCOME_DONE;
	struct evaluation *e =
		decider_evaluation(d, keep ? keep->versions[0] : &like, TRIGGER_DEPLOYMENT_WATCHER);
	e->deployment_id = cell->id;
	if (cell->working->eval_priority)
		e->priority = cell->working->eval_priority;
	return decider_evaluate(d, e, &c->made) ? OUTCOME_DONE : OUTCOME_TABLE_FULL;
}

static enum command_outcome deployment_pause(
	struct decider *d, struct deployment_cell *cell, struct command_deployment *c)
{
	if (cell->working->status != DEPLOYMENT_PAUSED)
		set_status(d, cell, DEPLOYMENT_PAUSED, DEPLOYMENT_TEXT_PAUSED);
	return OUTCOME_DONE;
}

static enum command_outcome deployment_run(
	struct decider *d, struct deployment_cell *cell, struct command_deployment *c)
{
	if (cell->working->status == DEPLOYMENT_RUNNING) // already runs
		return OUTCOME_DONE;
	set_status(d, cell, DEPLOYMENT_RUNNING, DEPLOYMENT_TEXT_RUNNING);
	return deployment_evaluate(d, cell, c);
}

static enum command_outcome deployment_unblock(
	struct decider *d, struct deployment_cell *cell, struct command_deployment *c)
{
	if (cell->working->status == DEPLOYMENT_BLOCKED)
		set_status(d, cell, DEPLOYMENT_UNBLOCKING, DEPLOYMENT_TEXT_UNBLOCKING);
	set_status(d, cell, DEPLOYMENT_SUCCESSFUL, DEPLOYMENT_TEXT_SUCCESSFUL);
	return OUTCOME_DONE;
}

static enum command_outcome deployment_cancel(
	struct decider *d, struct deployment_cell *cell, struct command_deployment *c)
{
	set_status(d, cell, DEPLOYMENT_CANCELLED,
		c->description ? c->description : DEPLOYMENT_TEXT_NEWER_JOB);
	return deployment_evaluate(d, cell, c);
}

static bool any_auto_revert(const struct deployment *known)
{
	for (uint32_t i = 0; i < known->groups.count; i++)
		if (ARRAY_AT(&known->groups, struct deployment_group, i)->auto_revert)
			return true;
	return false;
}

// The job's record while it is the deployed version, else NULL: a newer version is not taken back.
static const struct job_keep *deployed_job(const struct deployment_cell *cell)
{
	const struct job_keep *keep = job_cell_keep(cell->job_cell);

	return keep && keep->record.create_index == cell->working->job_create_index &&
			       keep->versions[0]->version == cell->working->job_version
		       ? keep
		       : NULL;
}

// Describes the failure. Returns the version to go back to, or NULL.
static const struct job *describe_failure(const struct deployment_cell *cell, const char *reason,
	bool reverts, char description[static DESCRIPTION_BYTES])
{
	const struct job_keep *keep = reverts ? deployed_job(cell) : NULL;
	const struct job *stable = keep ? job_keep_newest_stable(keep) : NULL;

	snprintf(description, DESCRIPTION_BYTES, "%s", reason);
	if (!keep)
		return NULL;
	if (!stable) {
		snprintf(description, DESCRIPTION_BYTES,
			"%s - no stable job version to auto revert to", reason);
		return NULL;
	}
	if (job_specification_differs(stable, keep->versions[0])) {
		snprintf(description, DESCRIPTION_BYTES, "%s - rolling back to job version %lu",
			reason, stable->version);
		return stable;
	}
	snprintf(description, DESCRIPTION_BYTES,
		"%s - not rolling back to stable job version %lu as current job has same "
		"specification",
		reason, stable->version);
	return NULL;
}

// All changes are one batch or none: those that may be refused come first.
static enum command_outcome fail_with(struct decider *d, struct deployment_cell *cell,
	struct command_deployment *c, const char *reason, bool reverts, struct entry *health)
{
	char description[DESCRIPTION_BYTES];
	const struct job *back = describe_failure(cell, reason, reverts, description);

	if (back) {
		uint64_t version = back->version;
		enum command_outcome outcome = decider_store_version(d, cell->job_cell, version);
		if (outcome != OUTCOME_DONE)
			return outcome;
		c->reverted_version = (struct optional_i64){true, (int64_t)version};
	}
	if (health)
		decider_apply(d, health);
	set_status(d, cell, DEPLOYMENT_FAILED, description);
	return deployment_evaluate(d, cell, c);
}

static enum command_outcome deployment_fail(
	struct decider *d, struct deployment_cell *cell, struct command_deployment *c)
{
	return fail_with(d, cell, c,
		c->description ? c->description : DEPLOYMENT_TEXT_FAILED_BY_USER,
		c->revert && any_auto_revert(cell->working), NULL);
}

static uint32_t healthy_canaries(
	const struct state *state, const struct uuid *deployment, const struct deployment_group *g)
{
	uint32_t healthy = 0;

	for (uint32_t i = 0; i < g->placed_canaries.count; i++)
		healthy += canary_is_healthy(
			alloc_cell_find(state, ARRAY_AT(&g->placed_canaries, struct uuid, i)),
			deployment);
	return healthy;
}

// Names the groups that lack healthy canaries, as many as fit.
static void add_lacking(
	struct command_deployment *c, const struct deployment_group *g, uint32_t healthy)
{
	size_t used = strlen(c->message);

	snprintf(c->message + used, sizeof c->message - used,
		"%sTask group \"%s\" has %u/%ld healthy allocations", used ? "; " : "", g->group,
		healthy, g->desired_canaries);
}

static enum command_outcome may_promote(const struct state *state, struct command_deployment *c,
	const struct deployment *known, const struct entry_deployment *e)
{
	for (uint32_t i = 0; i < e->count; i++) {
		const struct deployment_group *g = deployment_group_of(known, e->groups[i]);
		if (!g)
			return deployment_refuse(c, OUTCOME_NOT_NOW,
				"task group \"%.*s\" is not part of the deployment",
				(int)e->groups[i].size, e->groups[i].data);
		uint32_t healthy = healthy_canaries(state, &known->id, g);
		if (g->desired_canaries > healthy)
			add_lacking(c, g, healthy);
	}
	return c->message[0] ? OUTCOME_NOT_NOW : OUTCOME_DONE;
}

static bool is_named_before(const struct text *groups, uint32_t i)
{
	for (uint32_t j = 0; j < i; j++)
		if (text_equal(groups[i], groups[j]))
			return true;
	return false;
}

// The groups that the command names, each once; all of the deployment's when it names none.
static void take_groups(struct entry_deployment *e, const struct command_deployment *c,
	const struct deployment *known)
{
	uint32_t room = c->group_count + known->groups.count;

	e->groups = memory_take_array(room + 1, sizeof e->groups[0]);
	for (uint32_t i = 0; i < c->group_count; i++)
		if (!is_named_before(c->groups, i))
			e->groups[e->count++] = c->groups[i];
	for (uint32_t i = 0; i < known->groups.count && c->group_count == 0; i++)
		e->groups[e->count++] =
			text_of(ARRAY_AT(&known->groups, struct deployment_group, i)->group);
}

static enum command_outcome deployment_promote(
	struct decider *d, struct deployment_cell *cell, struct command_deployment *c)
{
	struct entry e = {.kind = ENTRY_DEPLOYMENT,
		.deployment = {.change = DEPLOYMENT_IS_PROMOTED, .id = cell->id}};

	take_groups(&e.deployment, c, cell->working);
	enum command_outcome outcome = may_promote(d->state, c, cell->working, &e.deployment);
	if (outcome != OUTCOME_DONE) {
		entry_release(&e);
		return outcome;
	}
	CHECK(decider_commit(d, &e) == 0);
	return deployment_evaluate(d, cell, c);
}

static int by_id(const void *left, const void *right)
{
	const struct alloc_health *a = left, *b = right;
	int order = uuid_compare(&a->id, &b->id);

	return order ? order : a->healthy - b->healthy; // unhealthy counts where both are said
}

static void add_ids(
	struct entry_deployment *e, const struct uuid *ids, uint32_t count, bool healthy)
{
	for (uint32_t i = 0; i < count; i++)
		e->items[e->count++] = (struct alloc_health){ids[i], healthy};
}

static void take_health(struct entry_deployment *e, const struct command_deployment *c)
{
	uint32_t kept = 0;

	e->items = memory_take_array(c->healthy_count + c->unhealthy_count + 1, sizeof e->items[0]);
	add_ids(e, c->healthy, c->healthy_count, true);
	add_ids(e, c->unhealthy, c->unhealthy_count, false);
	qsort(e->items, e->count, sizeof e->items[0], by_id);
	for (uint32_t i = 0; i < e->count; i++)
		if (kept == 0 || !uuid_equal(&e->items[kept - 1].id, &e->items[i].id))
			e->items[kept++] = e->items[i];
	e->count = kept;
}

static enum command_outcome are_its_own(
	const struct state *state, struct command_deployment *c, const struct entry_deployment *e)
{
	char id[UUID_TEXT_BYTES], deployment[UUID_TEXT_BYTES];

	for (uint32_t i = 0; i < e->count; i++) {
		const struct alloc_cell *cell = alloc_cell_find(state, &e->items[i].id);
		uuid_format(&e->items[i].id, id);
		if (!cell || !alloc_cell_is_there(cell))
			return deployment_refuse(
				c, OUTCOME_UNKNOWN_ALLOCATION, "unknown alloc \"%s\"", id);
		if (!allocation_is_of_deployment(state, &e->items[i].id, &e->id))
			return deployment_refuse(c, OUTCOME_NOT_NOW,
				"alloc \"%s\" is not part of deployment \"%s\"", id,
				uuid_format(&e->id, deployment));
	}
	return OUTCOME_DONE;
}

// Whether the group of an unhealthy allocation asks to be reverted.
static bool unhealthy_revert(
	const struct state *state, const struct deployment *known, const struct entry_deployment *e)
{
	for (uint32_t i = 0; i < e->count; i++) {
		const struct allocation *a = alloc_cell_find(state, &e->items[i].id)->working;
		const struct deployment_group *g =
			deployment_group_of(known, text_of(allocation_group(a)->name));
		if (!e->items[i].healthy && g && g->auto_revert)
			return true;
	}
	return false;
}

// An unhealthy allocation fails the deployment.
static enum command_outcome apply_health(struct decider *d, struct deployment_cell *cell,
	struct command_deployment *c, struct entry *e)
{
	enum command_outcome outcome = are_its_own(d->state, c, &e->deployment);

	if (outcome != OUTCOME_DONE)
		return outcome;
	if (c->unhealthy_count > 0)
		return fail_with(d, cell, c, DEPLOYMENT_TEXT_UNHEALTHY,
			unhealthy_revert(d->state, cell->working, &e->deployment), e);
	decider_apply(d, e);
	return deployment_evaluate(d, cell, c);
}

static enum command_outcome set_health(
	struct decider *d, struct deployment_cell *cell, struct command_deployment *c)
{
	struct entry e = {.kind = ENTRY_DEPLOYMENT,
		.deployment = {.change = DEPLOYMENT_HEALTH_IS_SET, .id = cell->id}};
	uint64_t count = (uint64_t)c->healthy_count + c->unhealthy_count;

	if (count == 0 || count > DEPLOYMENT_HEALTH_MAX)
		return deployment_refuse(c, OUTCOME_BAD_DESCRIPTION,
			"%lu allocations: between 1 and %u at once", count, DEPLOYMENT_HEALTH_MAX);
	take_health(&e.deployment, c);
	enum command_outcome outcome = apply_health(d, cell, c, &e);
	entry_release(&e);
	return outcome;
}

static enum command_outcome (*const does[DEPLOYMENT_ACTIONS])(
	struct decider *, struct deployment_cell *, struct command_deployment *) = {
	[DEPLOYMENT_PAUSE] = deployment_pause,
	[DEPLOYMENT_RESUME] = deployment_run,
	[DEPLOYMENT_FAIL] = deployment_fail,
	[DEPLOYMENT_PROMOTE] = deployment_promote,
	[DEPLOYMENT_UNBLOCK] = deployment_unblock,
	[DEPLOYMENT_RUN] = deployment_run,
	[DEPLOYMENT_CANCEL] = deployment_cancel,
	[DEPLOYMENT_SET_HEALTH] = set_health,
};

enum command_outcome decide_deployment(struct decider *d, struct command *command)
{
	struct command_deployment *c = command->deployment;
	struct deployment_cell *cell = deployment_cell_find(d->state, &c->id);

	c->made = (struct eval_made){0};
	c->reverted_version = (struct optional_i64){0};
	c->message[0] = 0;
	c->modify_index = 0;
	if (!cell || !deployment_cell_is_there(cell))
		return OUTCOME_UNKNOWN_DEPLOYMENT;
	if (c->action >= DEPLOYMENT_ACTIONS)
		return OUTCOME_BAD_DESCRIPTION;
	enum command_outcome outcome = may_be_asked(d, c, cell->working);
	if (outcome == OUTCOME_DONE)
		outcome = does[c->action](d, cell, c);
	c->modify_index = cell->working->record.modify_index;
	return outcome;
}
