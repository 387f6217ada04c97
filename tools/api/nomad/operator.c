// Actions of operators: the schedulers' configuration, garbage collection.
#include "state/base/memory.h"
#include "state/records/scheduler_config.h"
#include "tools/api/nomad/routes.h"
#include "tools/api/server/body.h"
#include "tools/api/server/submission.h"
#include "tools/forms/eval_made_json.h"
#include "tools/json/json_record.h"
#include <stdio.h>

void scheduler_config_read(struct request *request, struct reply *reply)
{
	const struct state *state = request->api->settings.state;
	struct json_writer *w = reply_json(request, reply);
	state_read_begin();
	const struct scheduler_config *config = state_scheduler_config(state);
	// With index 0 a client that waits for a change would ask again at once.
	uint64_t index = config->record.modify_index ? config->record.modify_index : 1;
	json_begin_object(w);
	json_write_key(w, "SchedulerConfig");
	json_record(w, &scheduler_config_description, config);
	state_read_end();
	read_meta_json(w, index);
	json_end_object(w);
	reply_index(reply, index);
}

static void free_config(struct command *command)
{
	record_free(&scheduler_config_description, command->scheduler_config.config);
}

// Reads ?cas=, which asks for a change only if nobody changed the configuration meanwhile. False with a reply.
static bool read_cas(
	const struct request *request, struct command_scheduler_config *c, struct reply *reply)
{
	const char *text = request_parameter(request, "cas");
	if (!text)
		return true;
	c->cas = true;
	if (number_parse(text, UINT64_MAX, &c->modify_index))
		return true;
	return reply_mistake(reply,
		"Error parsing cas value: \"%.32s\" is no number; pass the ModifyIndex that was "
		"read",
		text);
}

// Members that the body leaves out are off, as in Nomad. NULL with a reply.
static struct scheduler_config *read_config(struct request *request, struct reply *reply)
{
	json_t *body = body_read(request, reply);
	if (!body)
		return NULL;
	struct json_report report = {0};
	struct scheduler_config *config = memory_take(sizeof *config);
	json_read_record(&scheduler_config_description, config, body, "SchedulerConfig", &report);
	json_decref(body);
	if (report.errors.count) {
		reply_mistake(reply, "%s", report.errors.texts[0]);
		record_free(&scheduler_config_description, config);
		config = NULL;
	}
	json_report_free(&report);
	return config;
}

void scheduler_config_set(struct request *request, struct reply *reply)
{
	struct command_scheduler_config wanted = {0};
	if (!read_cas(request, &wanted, reply))
		return;
	wanted.config = read_config(request, reply);
	if (!wanted.config)
		return;
	struct command *command = submission_one(request, COMMAND_SCHEDULER_CONFIG, free_config);
	command->scheduler_config = wanted;
}

void scheduler_config_was_set(struct request *request, struct reply *reply)
{
	const struct command *command;
	struct json_writer *w = done_begin(request, reply, &command);
	if (!w)
		return;
	uint64_t index =
		command->index ? command->index : state_index(request->api->settings.state);
	json_put_bool(w, "Updated", command->scheduler_config.updated);
	json_put_u64(w, "Index", index);
	json_end_object(w);
	reply_index(reply, index);
}

void system_collect(struct request *request, struct reply *reply)
{
	struct command *command = submission_one(request, COMMAND_GC, NULL);
	command->gc = (struct command_gc){.force = true};
}

static void reply_nothing(struct reply *reply)
{
	reply->status = MHD_HTTP_OK;
}

void system_collected(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	if ((int)command->outcome == OUTCOME_CONFLICT)
		reply_error(reply, MHD_HTTP_TOO_MANY_REQUESTS,
			"garbage is being collected already; try again when that is done");
	else if (command->outcome != OUTCOME_DONE)
		reply_outcome(reply, (int)command->outcome);
	else
		reply_nothing(reply);
}

// Summaries count the allocations themselves, so that there is nothing to reconcile.
void system_reconcile(struct request *request, struct reply *reply)
{
	reply_nothing(reply);
}
