// Releases instances that clients placed, for an operator.
#include "state/base/memory.h"
#include "tools/api/berth/routes.h"
#include "tools/api/server/access.h"
#include "tools/api/server/request.h"
#include "tools/api/server/submission.h"
#include "tools/json/json_reader.h"
#include <stdlib.h>

#define RELEASES_MAX (SUBMISSION_COMMANDS_MAX * PLACE_COUNT_MAX)

// The body's ids, or NULL with a reply.
static json_t *read_ids(struct request *request, json_t **root, struct reply *reply)
{
	char message[512];
	*root = json_parse(request->body, request->body_size, message, sizeof message);
	json_t *ids = json_object_get(*root, "IDs");
	size_t count = json_array_size(ids);
	if (!*root)
		reply_mistake(reply, "%s", message);
	else if (count == 0 || count > RELEASES_MAX)
		reply_mistake(reply,
			"IDs: a list of 1 to %u allocation ids is expected: {\"IDs\": [\"…\"]}",
			RELEASES_MAX);
	else
		return ids;
	return NULL;
}

static bool parse_ids(json_t *ids, struct uuid *parsed, struct reply *reply)
{
	for (size_t i = 0; i < json_array_size(ids); i++) {
		const char *text = json_string_value(json_array_get(ids, i));
		if (text && uuid_parse(text, &parsed[i]))
			continue;
		return reply_mistake(reply,
			"IDs[%zu]: \"%.64s\" is no allocation id; it must be a whole UUID", i,
			text ? text : "");
	}
	return true;
}

// Whether each that is there may be stopped.
static bool may_release(const struct request *request, const struct uuid *ids, uint32_t count)
{
	const struct state *state = request->api->settings.state;
	bool may = true;
	state_read_begin();
	for (uint32_t i = 0; i < count && may; i++) {
		const struct allocation *a = state_allocation(state, &ids[i]);
		may = !a || request_may(request, a->job->namespace_name, ACL_ALLOC_LIFECYCLE);
	}
	state_read_end();
	return may;
}

static void submit_releases(struct request *request, const struct uuid *ids, uint32_t count)
{
	uint32_t commands = (count + PLACE_COUNT_MAX - 1) / PLACE_COUNT_MAX;
	struct submission *submission = submission_create(request, commands, NULL);
	for (uint32_t i = 0; i < commands; i++) {
		uint32_t first = i * PLACE_COUNT_MAX;
		uint32_t some = count - first < PLACE_COUNT_MAX ? count - first : PLACE_COUNT_MAX;
		struct command *command = submission_command(submission, i);
		command->type = COMMAND_RELEASE;
		command->release = submission_take(request, sizeof *command->release);
		command->release->any_client = true;
		command->release->count = (uint8_t)some;
		memcpy(command->release->ids, ids + first, some * sizeof *ids);
	}
}

void allocations_release(struct request *request, struct reply *reply)
{
	json_t *root;
	json_t *ids = read_ids(request, &root, reply);
	if (ids) {
		uint32_t count = (uint32_t)json_array_size(ids);
		struct uuid *parsed = memory_take_array(count, sizeof *parsed);
		if (!parse_ids(ids, parsed, reply))
			CHECK(reply->status);
		else if (may_release(request, parsed, count))
			submit_releases(request, parsed, count);
		else
			reply_denied(reply);
		free(parsed);
	}
	json_decref(root);
}

static void put_release(struct json_writer *w, const struct command *command)
{
	static const char *const result_names[] = {[RELEASE_DONE] = "released",
		[RELEASE_ALREADY] = "already-released",
		[RELEASE_UNKNOWN] = "unknown"};
	for (uint32_t i = 0; i < command->release->count; i++) {
		bool done = command->outcome == OUTCOME_DONE;
		json_begin_object(w);
		json_put_uuid(w, "ID", &command->release->ids[i]);
		json_put_string(
			w, "Result", done ? result_names[command->release->results[i]] : "refused");
		json_end_object(w);
	}
}

void allocations_released(struct request *request, struct reply *reply)
{
	struct submission *submission = request->submission;
	uint64_t index = 0;
	bool any = false;
	for (uint32_t i = 0; i < submission_count(submission); i++) {
		const struct command *command = submission_command(submission, i);
		any = any || command->outcome == OUTCOME_DONE;
		if (command->outcome == OUTCOME_DONE && command->index > index)
			index = command->index;
	}
	if (!any) {
		reply_outcome(reply, (int)submission_command(submission, 0)->outcome);
		return;
	}
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	json_put_u64(w, "Index", index);
	json_open_array(w, "Results");
	for (uint32_t i = 0; i < submission_count(submission); i++)
		put_release(w, submission_command(submission, i));
	json_end_array(w);
	json_end_object(w);
	reply_index(reply, index);
}
