#include "state/base/memory.h"
#include "tools/api/allocation_json.h"
#include "tools/api/handlers.h"
#include "tools/api/id_list.h"
#include "tools/api/json_reader.h"
#include "tools/api/list_page.h"
#include "tools/api/list_stream.h"
#include "tools/api/submission.h"
#include <stdlib.h>

// Allocations looked at in one read section of a list.
#define ALLOCATIONS_PER_SECTION 256u
#define RELEASES_MAX (SUBMISSION_COMMANDS_MAX * PLACE_COUNT_MAX)

// --- One -----------------------------------------------------------------------------------------

// The allocation that a path names, or NULL. Under read lock.
static const struct allocation *allocation_of(const struct request *request)
{
	struct uuid id;
	if (!uuid_parse(request->ids[0], &id))
		return NULL;
	return state_allocation(request->api->settings.state, &id);
}

uint64_t allocation_watched(const struct request *request)
{
	const struct allocation *a = allocation_of(request);
	return a ? a->record.modify_index : 0;
}

void allocation_read(struct request *request, struct reply *reply)
{
	const struct state *state = request->api->settings.state;
	state_read_begin();
	const struct allocation *a = allocation_of(request);
	if (a) {
		allocation_json(reply_json(request, reply), state, a);
		reply_index(reply, a->record.modify_index);
	} else {
		reply_error(reply, MHD_HTTP_NOT_FOUND, "alloc not found");
		reply_index(reply, state_index(state));
	}
	state_read_end();
}

// --- All, in order of creation -------------------------------------------------------------------

struct allocation_list {
	const struct state *state;
	uint64_t cursor, end;
	struct id_prefix prefix;
	char *namespace_name; // "*" is all
	bool resources;
};

uint64_t allocations_watched(const struct request *request)
{
	return table_watched(request, STATE_ALLOCATIONS);
}

static bool is_wanted(const struct allocation_list *list, const struct allocation *a)
{
	return id_prefix_fits(&list->prefix, &a->id) &&
	       (strcmp(list->namespace_name, "*") == 0 ||
		       strcmp(list->namespace_name, a->job->namespace_name) == 0);
}

static bool produce_allocations(void *context, struct json_writer *w, size_t bytes_wanted)
{
	struct allocation_list *list = context;
	const struct allocation *a = NULL;
	state_read_begin();
	for (uint32_t i = 0; i < ALLOCATIONS_PER_SECTION && w->size < bytes_wanted; i++) {
		a = list->cursor < list->end ? state_next_allocation(list->state, &list->cursor)
					     : NULL;
		if (!a)
			break;
		if (is_wanted(list, a))
			allocation_json_stub(w, list->state, a, list->resources);
	}
	state_read_end();
	return a != NULL;
}

static bool step(void *context, uint64_t *cursor, bool *shown)
{
	struct allocation_list *list = context;
	const struct allocation *a = state_next_allocation(list->state, cursor);
	*shown = a && is_wanted(list, a);
	return a != NULL;
}

static void free_allocation_list(void *context)
{
	struct allocation_list *list = context;
	free(list->namespace_name);
	free(list);
}

void allocations_list(struct request *request, struct reply *reply)
{
	struct id_prefix prefix;
	if (!id_prefix_read(request, "alloc", &prefix, reply))
		return;
	struct allocation_list *list = memory_take(sizeof *list);
	list->state = request->api->settings.state;
	list->prefix = prefix;
	list->namespace_name = text_copy(text_of(request_namespace(request)));
	list->resources = request_flag(request, "resources");
	reply_index(reply, state_index(list->state));
	struct cursor_page page;
	if (!cursor_page_find(request, reply, step, list, &page)) {
		free_allocation_list(list);
		return;
	}
	list->cursor = page.start;
	list->end = page.end;
	reply_stream(request, reply, list, produce_allocations, free_allocation_list);
}

// --- Those of a node or a job --------------------------------------------------------------------

static bool collect_one(const struct allocation *a, void *context)
{
	id_list_add(context, &a->id, a->node_slot);
	return true;
}

static void write_one(struct id_list *list, struct json_writer *w, const struct id_item *item)
{
	const struct state *state = list->api->settings.state;
	const struct allocation *a = state_allocation(state, &item->id);
	if (!a)
		return;
	if (list->detailed)
		allocation_json(w, state, a);
	else
		allocation_json_stub(w, state, a, false);
}

static void stream_collected(
	struct id_list *list, uint64_t index, struct request *request, struct reply *reply)
{
	list->write = write_one;
	id_list_sort(list);
	if (!id_list_page(list, request, reply)) {
		id_list_free(list);
		return;
	}
	reply_index(reply, index);
	id_list_stream(list, request, reply);
}

uint64_t node_allocations_watched(const struct request *request)
{
	const struct state *state = request->api->settings.state;
	const struct node *node = node_named(request);
	if (!node)
		return 0;
	const struct node_line *line =
		node_table_line(state_node_table((struct state *)state), node->slot);
	uint64_t index = line ? atomic_load_explicit(&line->alloc_index, memory_order_relaxed) : 0;
	return index > node->record.create_index ? index : node->record.create_index;
}

void node_allocations(struct request *request, struct reply *reply)
{
	const struct state *state = request->api->settings.state;
	struct id_list *list = id_list_create(request->api);
	list->detailed = true;
	uint64_t index = state_index(state);
	state_read_begin();
	const struct node *node = node_named(request);
	if (node)
		state_node_allocations(state, node->slot, collect_one, list);
	state_read_end();
	if (node) {
		stream_collected(list, index, request, reply);
		return;
	}
	id_list_free(list);
	reply_error(reply, MHD_HTTP_NOT_FOUND, "node not found");
	reply_index(reply, index);
}

uint64_t job_allocations_watched(const struct request *request)
{
	const struct state *state = request->api->settings.state;
	struct text namespace_name = text_of(request_namespace(request));
	struct text id = text_of(request->ids[0]);
	uint64_t job = state_job_index(state, namespace_name, id);
	uint64_t allocations = state_job_allocations_index(state, namespace_name, id);
	if (!job)
		return 0;
	// What changed before the server started is no older than that.
	if (!allocations)
		allocations = request->api->first_index;
	return job > allocations ? job : allocations;
}

void job_allocations(struct request *request, struct reply *reply)
{
	const struct state *state = request->api->settings.state;
	struct id_list *list = id_list_create(request->api);
	state_read_begin();
	uint64_t index = job_allocations_watched(request);
	if (index)
		state_job_allocations(state, text_of(request_namespace(request)),
			text_of(request->ids[0]), collect_one, list);
	state_read_end();
	// Nomad answers an unknown job with an empty list.
	stream_collected(list, index ? index : state_index(state), request, reply);
}

// --- An operator's release -----------------------------------------------------------------------

static void free_release(struct command *command)
{
	free(command->release);
}

// The ids of the body, or NULL with a reply.
static json_t *read_ids(struct request *request, json_t **root, struct reply *reply)
{
	char message[512];
	*root = json_parse(request->body, request->body_size, message, sizeof message);
	json_t *ids = json_object_get(*root, "IDs");
	size_t count = json_array_size(ids);
	if (!*root)
		reply_error(reply, MHD_HTTP_BAD_REQUEST, "%s", message);
	else if (count == 0 || count > RELEASES_MAX)
		reply_error(reply, MHD_HTTP_BAD_REQUEST,
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
		reply_error(reply, MHD_HTTP_BAD_REQUEST,
			"IDs[%zu]: \"%.64s\" is no allocation id; it must be a whole UUID", i,
			text ? text : "");
		return false;
	}
	return true;
}

static void submit_releases(struct request *request, const struct uuid *ids, uint32_t count)
{
	uint32_t commands = (count + PLACE_COUNT_MAX - 1) / PLACE_COUNT_MAX;
	struct submission *submission = submission_create(request, commands, free_release);
	for (uint32_t i = 0; i < commands; i++) {
		uint32_t first = i * PLACE_COUNT_MAX;
		uint32_t some = count - first < PLACE_COUNT_MAX ? count - first : PLACE_COUNT_MAX;
		struct command *command = submission_command(submission, i);
		command->type = COMMAND_RELEASE;
		command->release = memory_take(sizeof *command->release);
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
		if (parse_ids(ids, parsed, reply))
			submit_releases(request, parsed, count);
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
	json_write_key(w, "Results");
	json_begin_array(w);
	for (uint32_t i = 0; i < submission_count(submission); i++)
		put_release(w, submission_command(submission, i));
	json_end_array(w);
	json_end_object(w);
	reply_index(reply, index);
}
