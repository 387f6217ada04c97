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

// Commands for one deployment: its change, allocation transitions, an evaluation.
#define COMMANDS_AT_A_LOOK 2u

struct deployment_command {
	struct uuid deployment;
	struct command command;
	struct command_deployment change;
	struct command_alloc_transitions transitions;
	struct uuid *ids;        // for transitions
	struct evaluation *eval; // for an evaluation
};

struct deployment_commands {
	const struct watch_tools *tools;
	struct deployment_command items[DEPLOYMENT_COMMANDS_MAX];
	struct command *commands[DEPLOYMENT_COMMANDS_MAX];
	uint32_t count;
	struct uuid ids[DEPLOYMENT_COMMAND_IDS_MAX];
};

static const struct desired_transition may_be_replaced = {.reschedule = {true, true}};

struct deployment_commands *deployment_commands_create(const struct watch_tools *tools)
{
	struct deployment_commands *commands = memory_take(sizeof *commands);

	commands->tools = tools;
	return commands;
}

static void forget_commands(struct deployment_commands *commands)
{
	for (uint32_t i = 0; i < commands->count; i++) {
		free(commands->items[i].ids);
		evaluation_free(commands->items[i].eval); // refused
	}
	commands->count = 0;
}

void deployment_commands_destroy(struct deployment_commands *commands)
{
	forget_commands(commands);
	free(commands);
}

bool deployment_commands_are_full(const struct deployment_commands *commands)
{
	return commands->count + COMMANDS_AT_A_LOOK > DEPLOYMENT_COMMANDS_MAX;
}

struct uuid *deployment_commands_ids(struct deployment_commands *commands)
{
	return commands->ids;
}

static struct deployment_command *add_command(
	struct deployment_commands *commands, const struct deployment *d, enum command_type type)
{
	CHECK(commands->count < DEPLOYMENT_COMMANDS_MAX);
	struct deployment_command *act = &commands->items[commands->count++];

	*act = (struct deployment_command){.deployment = d->id, .command = {.type = type}};
	return act;
}

static struct deployment_command *add_change(struct deployment_commands *commands,
	const struct deployment *d, enum deployment_action action)
{
	struct deployment_command *act = add_command(commands, d, COMMAND_DEPLOYMENT);

	act->command.deployment = &act->change;
	act->change = (struct command_deployment){.id = d->id, .action = action};
	return act;
}

void deployment_commands_fail(struct deployment_commands *commands, const struct deployment *d,
	const char *description, bool revert)
{
	struct deployment_command *act = add_change(commands, d, DEPLOYMENT_FAIL);

	act->change.description = description;
	act->change.revert = revert;
}

void deployment_commands_promote(struct deployment_commands *commands, const struct deployment *d)
{
	(void)add_change(commands, d, DEPLOYMENT_PROMOTE);
}

void deployment_commands_evaluate(struct deployment_commands *commands, const struct deployment *d)
{
	const struct job *job =
		state_job(commands->tools->state, text_of(d->namespace_name), text_of(d->job_id));

	if (!job)
		return;
	struct deployment_command *act = add_command(commands, d, COMMAND_EVALUATIONS);
	struct evaluation *e = evaluation_create();
	e->id = prng_uuid(commands->tools->prng);
	e->namespace_name = text_copy(text_of(d->namespace_name));
	e->job_id = text_copy(text_of(d->job_id));
	e->priority = d->eval_priority ? d->eval_priority : job->priority;
	e->type = job->type; // both enums begin alike
	e->triggered_by = TRIGGER_DEPLOYMENT_WATCHER;
	e->deployment_id = d->id;
	e->status = EVAL_PENDING;
	act->eval = e;
	act->command.evaluations =
		(struct command_evaluations){.items = &act->eval, .count = 1, .create_only = true};
}

void deployment_commands_replace(struct deployment_commands *commands, const struct deployment *d,
	const struct uuid *ids, uint32_t count)
{
	struct deployment_command *act = add_command(commands, d, COMMAND_ALLOC_TRANSITIONS);

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

static void tell_change(const struct watch_tools *t, const struct deployment_command *act)
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

static void tell_settled(const struct watch_tools *t, const struct deployment_command *act)
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

bool deployment_commands_run(struct deployment_commands *commands,
	deployment_commands_settle *settle, void *context, int64_t now_ns)
{
	uint32_t count = commands->count;

	if (count == 0)
		return false;
	for (uint32_t i = 0; i < count; i++)
		commands->commands[i] = &commands->items[i].command;
	watch_run_all(commands->tools, commands->commands, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct deployment_command *act = &commands->items[i];
		tell_settled(commands->tools, act);
		settle(context, &act->deployment, act->command.outcome == OUTCOME_DONE, now_ns);
	}
	forget_commands(commands);
	return true;
}
