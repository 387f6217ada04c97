#include "placement/watch/deployments/deployment_commands.h"
#include "state/base/check.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/decide/command_kinds.h"
#include "state/records/alloc_details.h"
#include "state/records/evaluation.h"
#include "state/records/job.h"
#include <inttypes.h>
#include <stdlib.h>

// Of one deployment: its promotion, and an evaluation.
#define ACTS_AT_A_LOOK 2u

struct act {
	struct uuid deployment;
	struct command command;
	struct command_deployment change;
	struct command_alloc_transitions transitions;
	struct uuid *ids;        // of the transitions
	struct evaluation *eval; // of an evaluation
};

struct acts {
	const struct watch_tools *tools;
	struct act items[ACTS_MAX];
	struct command *commands[ACTS_MAX];
	uint32_t count;
	struct uuid ids[ACT_IDS_MAX];
};

static const struct desired_transition may_be_replaced = {.reschedule = {true, true}};

struct acts *acts_create(const struct watch_tools *tools)
{
	struct acts *acts = memory_take(sizeof *acts);

	acts->tools = tools;
	return acts;
}

static void forget(struct acts *acts)
{
	for (uint32_t i = 0; i < acts->count; i++) {
		free(acts->items[i].ids);
		evaluation_free(acts->items[i].eval); // refused
	}
	acts->count = 0;
}

void acts_destroy(struct acts *acts)
{
	forget(acts);
	free(acts);
}

bool acts_are_full(const struct acts *acts)
{
	return acts->count + ACTS_AT_A_LOOK > ACTS_MAX;
}

struct uuid *acts_ids(struct acts *acts)
{
	return acts->ids;
}

// --- Gathering -----------------------------------------------------------------------------------

static struct act *add(struct acts *acts, const struct deployment *d, enum command_type type)
{
	CHECK(acts->count < ACTS_MAX);
	struct act *act = &acts->items[acts->count++];

	*act = (struct act){.deployment = d->id, .command = {.type = type}};
	return act;
}

static struct act *add_change(
	struct acts *acts, const struct deployment *d, enum deployment_action action)
{
	struct act *act = add(acts, d, COMMAND_DEPLOYMENT);

	act->command.deployment = &act->change;
	act->change = (struct command_deployment){.id = d->id, .action = action};
	return act;
}

void acts_fail(struct acts *acts, const struct deployment *d, const char *description, bool revert)
{
	struct act *act = add_change(acts, d, DEPLOYMENT_FAIL);

	act->change.description = description;
	act->change.revert = revert;
}

void acts_promote(struct acts *acts, const struct deployment *d)
{
	(void)add_change(acts, d, DEPLOYMENT_PROMOTE);
}

void acts_evaluate(struct acts *acts, const struct deployment *d)
{
	const struct job *job =
		state_job(acts->tools->state, text_of(d->namespace_name), text_of(d->job_id));

	if (!job)
		return;
	struct act *act = add(acts, d, COMMAND_EVALUATIONS);
	struct evaluation *e = evaluation_create();
	e->id = prng_uuid(acts->tools->prng);
	e->namespace_name = text_copy(text_of(d->namespace_name));
	e->job_id = text_copy(text_of(d->job_id));
	e->priority = d->eval_priority ? d->eval_priority : job->priority;
	e->type = job->type; // the first of both are the same
	e->triggered_by = TRIGGER_DEPLOYMENT_WATCHER;
	e->deployment_id = d->id;
	e->status = EVAL_PENDING;
	act->eval = e;
	act->command.evaluations =
		(struct command_evaluations){.items = &act->eval, .count = 1, .create_only = true};
}

void acts_replace(
	struct acts *acts, const struct deployment *d, const struct uuid *ids, uint32_t count)
{
	struct act *act = add(acts, d, COMMAND_ALLOC_TRANSITIONS);

	act->ids = memory_take_array(count, sizeof *ids);
	memcpy(act->ids, ids, count * sizeof *ids);
	act->command.alloc_transitions = &act->transitions;
	act->transitions = (struct command_alloc_transitions){
		.ids = act->ids,
		.count = count,
		.transition = &may_be_replaced,
		.trigger = TRIGGER_DEPLOYMENT_WATCHER,
		.eval_priority = d->eval_priority,
		.deployment = d->id,
	};
}

// --- Sending -------------------------------------------------------------------------------------

static void tell_change(const struct watch_tools *t, const struct act *act)
{
	const struct command_deployment *c = &act->change;
	char id[UUID_TEXT_BYTES], reason[128];

	if (c->action == DEPLOYMENT_PROMOTE) {
		log_info("deployment-promoted", "deployment=%s", uuid_format(&c->id, id));
		watch_count(t, &t->stats->deployments_promoted, 1);
		return;
	}
	log_info("deployment-failed", "deployment=%s reason=%s reverted=%s",
		uuid_format(&c->id, id), log_quote(c->description, reason, sizeof reason),
		c->reverted_version.set ? "true" : "false");
	watch_count(t, &t->stats->deployments_failed, 1);
	watch_count(t, &t->stats->deployments_reverted, c->reverted_version.set);
}

static void tell(const struct watch_tools *t, const struct act *act)
{
	char id[UUID_TEXT_BYTES];

	if (act->command.outcome == OUTCOME_STOPPING)
		return;
	if (act->command.outcome != OUTCOME_DONE)
		log_warn("deployment-refused", "deployment=%s command=%s outcome=%s",
			uuid_format(&act->deployment, id), command_type_name(act->command.type),
			command_outcomes[act->command.outcome].name);
	else if (act->command.type == COMMAND_DEPLOYMENT)
		tell_change(t, act);
	else if (act->command.type == COMMAND_ALLOC_TRANSITIONS)
		watch_count(t, &t->stats->allocations_flagged, act->transitions.count);
}

bool acts_run(struct acts *acts, acts_settle *settle, void *context, int64_t now_ns)
{
	uint32_t count = acts->count;

	if (count == 0)
		return false;
	for (uint32_t i = 0; i < count; i++)
		acts->commands[i] = &acts->items[i].command;
	watch_run_all(acts->tools, acts->commands, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct act *act = &acts->items[i];
		tell(acts->tools, act);
		settle(context, &act->deployment, act->command.outcome == OUTCOME_DONE, now_ns);
	}
	forget(acts);
	return true;
}
