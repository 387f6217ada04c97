// Quotas: what they limit, and what is used of it.
#include "state/base/limits.h"
#include "state/records/namespaces/job_namespace.h"
#include "tools/api/lists/name_set.h"
#include "tools/api/nomad/namespaces/quota_json.h"
#include "tools/api/nomad/namespaces/routes.h"
#include "tools/api/server/blocking_query.h"
#include "tools/api/server/body.h"
#include "tools/api/server/command_text.h"
#include <stdlib.h>
#include <string.h>

#define REGION_ANY "global"

static void put_quota(struct json_writer *w, const struct request *request, const char *name)
{
	const struct quota *q = state_quota(request->api->settings.state, text_of(name));
	if (q)
		quota_json(w, q);
}

static void put_usage(struct json_writer *w, const struct request *request, const char *name)
{
	const struct state *state = request->api->settings.state;
	const struct quota *q = state_quota(state, text_of(name));
	struct quota_amount used;
	if (!q)
		return;
	state_quota_used(state, text_of(name), &used);
	quota_usage_json(w, q, &used);
	quota_amount_free(&used);
}

static void quotas_answer(struct request *request, struct reply *reply, name_set_put *put)
{
	const struct state *state = request->api->settings.state;
	const struct quota *q;
	struct name_set names = {0};
	uint64_t index = table_index(request, STATE_QUOTAS), cursor = 0;
	state_read_begin();
	while ((q = state_next(state, STATE_QUOTAS, &cursor)))
		name_set_add(&names, q->name);
	state_read_end();
	if (name_set_answer(&names, request, reply, put))
		reply_index(reply, index);
	name_set_free(&names);
}

uint64_t quotas_watched(const struct request *request)
{
	return table_index(request, STATE_QUOTAS);
}

void quotas_list(struct request *request, struct reply *reply)
{
	quotas_answer(request, reply, put_quota);
}

void quota_usages(struct request *request, struct reply *reply)
{
	quotas_answer(request, reply, put_usage);
}

static void quota_answer(struct request *request, struct reply *reply, name_set_put *put)
{
	const char *name = request->ids[0];
	state_read_begin();
	if (state_quota(request->api->settings.state, text_of(name)))
		put(reply_json(request, reply), request, name);
	else
		reply_error(reply, MHD_HTTP_NOT_FOUND, "quota not found");
	reply_index(reply, quotas_watched(request));
	state_read_end();
}

void quota_read(struct request *request, struct reply *reply)
{
	quota_answer(request, reply, put_quota);
}

void quota_usage(struct request *request, struct reply *reply)
{
	quota_answer(request, reply, put_usage);
}

static void free_quota(struct command *command)
{
	record_free(&quota_description, command->quota.quota);
}

static bool is_of_this_region(const struct request *request, const struct quota *q)
{
	for (uint32_t i = 0; i < q->limits.count; i++) {
		const char *region = ARRAY_AT(&q->limits, struct quota_limit, i)->region;
		if (text_of(region).size && strcmp(region, REGION_ANY) != 0 &&
			strcmp(region, request->api->region) != 0)
			return false;
	}
	return true;
}

// What is wrong with the quota, all of it at once.
static void check_quota(
	const struct request *request, const struct quota *q, struct json_sentences *errors)
{
	uint32_t before = errors->count;
	if (!namespace_name_is_fit(text_of(q->name)))
		json_sentence(errors, "invalid name \"%s\". Must match regex ^[a-zA-Z0-9-]{1,%u}$",
			q->name ? q->name : "", NAMESPACE_NAME_MAX);
	if (text_of(q->description).size > NAMESPACE_DESCRIPTION_MAX)
		json_sentence(errors, "description longer than %u", NAMESPACE_DESCRIPTION_MAX);
	if (q->limits.count > 1)
		json_sentence(errors, "more than one limit: a controller has one region");
	if (!is_of_this_region(request, q))
		json_sentence(errors, "limit of another region than \"%s\"", request->api->region);
	if (errors->count == before && !quota_is_fit(q))
		json_sentence(errors,
			"a limit is too large, or there are more than %u devices, or one without a "
			"name",
			QUOTA_DEVICES_MAX);
}

// True when the quota may be stored; else a reply.
static bool quota_may_be_put(const struct request *request, const struct quota *q,
	struct json_sentences *errors, struct reply *reply)
{
	const char *of_path = request->ids[0];
	if (!errors->count && of_path && !text_equal(text_of(q->name), text_of(of_path)))
		return reply_mistake(reply, "Quota name does not match request path");
	check_quota(request, q, errors);
	if (!errors->count)
		return true;
	char *text = json_sentences_text(errors, "error");
	reply_mistake(reply, "Invalid quota \"%s\": %s", q->name ? q->name : "", text);
	free(text);
	return false;
}

void quota_put(struct request *request, struct reply *reply)
{
	json_t *body = body_read_some(request, reply);
	if (!body)
		return;
	struct json_report report = {0};
	struct quota *q = record_create(&quota_description);
	json_read_record(&quota_description, q, body, "Quota", &report);
	json_decref(body);
	if (quota_may_be_put(request, q, &report.errors, reply)) {
		struct command *command = submission_one(request, COMMAND_QUOTA, free_quota);
		command->quota.quota = q;
	} else {
		record_free(&quota_description, q);
	}
	json_report_free(&report);
}

void quota_delete(struct request *request, struct reply *reply)
{
	struct command *command = submission_one(request, COMMAND_QUOTA_DELETE, NULL);
	command->quota_delete.name = command_text(request, request->ids[0]);
}

// A quota that was not there is as good as deleted.
void quota_was_changed(struct request *request, struct reply *reply)
{
	const struct command *command = submission_command(request->submission, 0);
	switch ((int)command->outcome) {
	case OUTCOME_DONE:
	case OUTCOME_UNKNOWN_QUOTA:
		reply->status = MHD_HTTP_OK;
		reply_index(reply, command->index);
		break;
	case OUTCOME_CONFLICT:
		reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR,
			"quota \"%s\" is used by a namespace", request->ids[0]);
		break;
	default: reply_outcome(reply, (int)command->outcome);
	}
}
