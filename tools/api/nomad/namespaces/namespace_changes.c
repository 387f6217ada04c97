// Changes that an operator makes to namespaces.
#include "state/base/limits.h"
#include "state/records/namespaces/job_namespace.h"
#include "tools/api/nomad/namespaces/routes.h"
#include "tools/api/server/body.h"
#include "tools/api/server/command_text.h"
#include <stdlib.h>

static void free_namespace(struct command *command)
{
	record_free(&job_namespace_description, command->namespace.described);
}

// One that is there may have a name of older data.
static bool may_have_name(const struct request *request, struct text name)
{
	if (namespace_name_is_fit(name))
		return true;
	state_read_begin();
	bool is_there = state_has_namespace(request->api->settings.state, name);
	state_read_end();
	return is_there;
}

// What is wrong with the namespace, all of it at once.
static void check_namespace(
	const struct request *request, const struct job_namespace *n, struct json_sentences *errors)
{
	const char *name = n->name ? n->name : "";
	if (!may_have_name(request, text_of(name)))
		json_sentence(errors, "invalid name \"%s\". Must match regex ^[a-zA-Z0-9-]{1,%u}$",
			name, NAMESPACE_NAME_MAX);
	if (text_of(n->description).size > NAMESPACE_DESCRIPTION_MAX)
		json_sentence(errors, "description longer than %u", NAMESPACE_DESCRIPTION_MAX);
	if (!namespace_meta_is_fit(n))
		json_sentence(errors,
			"meta is too large: at most %u values, names of %u and values of %u bytes",
			NAMESPACE_META_MAX, ATTRIBUTE_NAME_BYTES_MAX, ATTRIBUTE_VALUE_BYTES_MAX);
	if (!namespace_drivers_are_fit(n))
		json_sentence(errors, "too many drivers: at most %u, of %u bytes",
			NAMESPACE_DRIVERS_MAX, ATTRIBUTE_VALUE_BYTES_MAX);
}

static bool reply_mistakes(
	const struct job_namespace *n, const struct json_sentences *errors, struct reply *reply)
{
	if (!errors->count)
		return false;
	char *text = json_sentences_text(errors, "error");
	reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR, "Invalid namespace \"%s\": %s",
		n->name ? n->name : "", text);
	free(text);
	return true;
}

// True when the namespace may be stored; else a reply.
static bool namespace_is_fit(const struct request *request, const struct job_namespace *n,
	struct json_report *report, struct reply *reply)
{
	const char *of_path = request->ids[0];
	if (!report->errors.count && of_path && !text_equal(text_of(n->name), text_of(of_path)))
		return reply_mistake(reply, "Namespace name does not match request path");
	check_namespace(request, n, &report->errors);
	return !reply_mistakes(n, &report->errors, reply);
}

// A member that is no part of the record: what Nomad's enterprise server has, and nobody here.
static void check_body(const json_t *body, struct json_report *report)
{
	if (body_says(body, "NodePoolConfiguration"))
		json_sentence(&report->errors,
			"invalid node pool configuration: Node Pools Governance is unlicensed.");
}

void namespace_put(struct request *request, struct reply *reply)
{
	json_t *body = body_read_some(request, reply);
	if (!body)
		return;
	struct json_report report = {0};
	struct job_namespace *n = record_create(&job_namespace_description);
	json_read_record(&job_namespace_description, n, body, "Namespace", &report);
	check_body(body, &report);
	json_decref(body);
	if (namespace_is_fit(request, n, &report, reply)) {
		struct command *command =
			submission_one(request, COMMAND_NAMESPACE, free_namespace);
		command->namespace.described = n;
	} else {
		record_free(&job_namespace_description, n);
	}
	json_report_free(&report);
}

static void reply_done(struct reply *reply, const struct command *command)
{
	reply->status = MHD_HTTP_OK;
	reply_index(reply, command->index);
}

void namespace_was_put(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	const struct job_namespace *refused = command->namespace.described;
	switch ((int)command->outcome) {
	case OUTCOME_DONE: reply_done(reply, command); break;
	case OUTCOME_UNKNOWN_QUOTA:
		reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR,
			"namespace \"%s\" using non-existent quota \"%s\"", refused->name,
			refused->quota);
		break;
	default: reply_outcome(reply, (int)command->outcome);
	}
}

void namespace_delete(struct request *request, struct reply *reply)
{
	if (!*request->ids[0]) {
		reply_mistake(reply, "Missing Namespace Name");
		return;
	}
	if (namespace_is_built_in(text_of(request->ids[0]))) {
		reply_error(
			reply, MHD_HTTP_INTERNAL_SERVER_ERROR, "can not delete default namespace");
		return;
	}
	struct command *command = submission_one(request, COMMAND_NAMESPACE_DELETE, NULL);
	command->namespace_delete.name = command_text(request, request->ids[0]);
}

static void reply_in_use(const struct request *request, struct reply *reply)
{
	struct json_report report = {0};
	json_sentence(&report.errors, "namespace \"%s\" has non-terminal jobs in regions: [%s]",
		request->ids[0], request->api->region);
	char *text = json_sentences_text(&report.errors, "error");
	reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR, "%s", text);
	free(text);
	json_report_free(&report);
}

// A namespace that was not there is as good as deleted.
void namespace_was_deleted(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	switch ((int)command->outcome) {
	case OUTCOME_DONE:
	case OUTCOME_UNKNOWN_NAMESPACE: reply_done(reply, command); break;
	case OUTCOME_CONFLICT: reply_in_use(request, reply); break;
	case OUTCOME_NOT_NOW:
		reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR,
			"namespace \"%s\" contains at least one variable. All variables in "
			"namespace "
			"must be deleted before it can be deleted",
			request->ids[0]);
		break;
	default: reply_outcome(reply, (int)command->outcome);
	}
}
