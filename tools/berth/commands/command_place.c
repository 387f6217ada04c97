// Places and releases allocations and asks for their state, over the wire.
#include "state/base/memory.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/cli/wire_session.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/views/refusal_report.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Reads "MS:NUMBER", as an earlier placement printed it.
static bool read_request(const char *text, struct wire_place *ask)
{
	unsigned long long issued, request;
	char rest;
	if (sscanf(text, "%llu:%llu%c", &issued, &request, &rest) != 2 || !issued || !request)
		return false;
	ask->issued_ms = issued;
	ask->request = request;
	return true;
}

// A job's group if it has only one, else NULL. Caller frees.
static char *only_group(struct session *session, const char *job)
{
	json_t *groups = json_object_get(refusal_report_job(session, job), "TaskGroups");
	if (json_array_size(groups) != 1)
		return NULL;
	return text_copy(text_of(field_text(json_array_get(groups, 0), "Name")));
}

static enum exit_status read_ask(struct session *session, struct wire_place *ask, char **own_group)
{
	const struct flags *flags = &session->flags;
	char message[256];
	uint64_t count = 1;
	const char *job = flags->values[FLAG_JOB], *group = flags->values[FLAG_GROUP];
	const char *namespace_name = flags->values[FLAG_NAMESPACE];
	if (!job)
		return complain(
			STATUS_USAGE, "--job ID is needed: the job whose instances are placed");
	if (!flag_number(flags, FLAG_COUNT, 1, PLACE_COUNT_MAX, &count, message, sizeof message))
		return complain(STATUS_USAGE, "%s", message);
	if (flags->values[FLAG_REQUEST] && !read_request(flags->values[FLAG_REQUEST], ask))
		return complain(STATUS_USAGE,
			"--request must be MS:NUMBER, as an earlier placement printed it");
	if (!group)
		group = *own_group = only_group(session, job);
	if (!group)
		return complain(STATUS_USAGE, "--group NAME is needed: the job has several groups, "
					      "or could not be looked up");
	ask->count = (uint8_t)count;
	ask->namespace_name = text_of(strcmp(namespace_name, "default") == 0 ? "" : namespace_name);
	ask->job = text_of(job);
	ask->group = text_of(group);
	return STATUS_OK;
}

static void print_placed(const struct wire_place *ask, const struct wire_placed *placed)
{
	static const char *const headings[] = {"Allocation", "Node", "Score", NULL};
	struct table t;
	char id[UUID_TEXT_BYTES];
	table_begin(&t, headings);
	for (uint32_t i = 0; i < placed->count; i++) {
		table_add(&t, uuid_format(&placed->items[i].allocation, id));
		table_add(&t, uuid_format(&placed->items[i].node, id));
		table_add_format(&t, "%.6f", placed->items[i].score);
	}
	table_print(&t, 0);
	printf("Placed %u of %u at index %llu; %u nodes could take the last one. Request "
	       "%llu:%llu.\n",
		placed->count, ask->count, (unsigned long long)placed->index,
		placed->nodes_feasible, (unsigned long long)ask->issued_ms,
		(unsigned long long)ask->request);
}

static void print_placed_json(const struct wire_place *ask, const struct wire_placed *placed)
{
	char id[UUID_TEXT_BYTES], request[64];
	json_t *items = json_array();
	for (uint32_t i = 0; i < placed->count; i++) {
		json_t *item = json_object();
		json_object_set_new(item, "Allocation",
			json_string(uuid_format(&placed->items[i].allocation, id)));
		json_object_set_new(
			item, "Node", json_string(uuid_format(&placed->items[i].node, id)));
		json_object_set_new(item, "Score", json_real(placed->items[i].score));
		json_array_append_new(items, item);
	}
	snprintf(request, sizeof request, "%llu:%llu", (unsigned long long)ask->issued_ms,
		(unsigned long long)ask->request);
	json_t *root = json_pack("{s:I,s:i,s:i,s:I,s:s,s:o}", "Index", (json_int_t)placed->index,
		"Requested", (int)ask->count, "Placed", (int)placed->count, "NodesFeasible",
		(json_int_t)placed->nodes_feasible, "Request", request, "Items", items);
	field_print(root);
	json_decref(root);
}

static enum exit_status place_with(
	struct session *session, struct client *client, struct wire_place *ask)
{
	struct wire_placed placed;
	struct wire_refused refused;
	bool json = flag_given(&session->flags, FLAG_JSON);
	int result = client_place(client, ask, &placed, &refused);
	if (result == CLIENT_REFUSED && refused.reason == WIRE_REFUSED_NO_NODE)
		return json ? refusal_report_json(&refused)
			    : refusal_report(session, ask, &refused);
	if (result != CLIENT_DONE)
		return wire_problem(session, result, &refused);
	if (json)
		print_placed_json(ask, &placed);
	else
		print_placed(ask, &placed);
	if (placed.count == ask->count)
		return STATUS_OK;
	return complain(STATUS_REFUSED,
		"only %u of %u could be placed; place one more to see what the fleet lacks",
		placed.count, ask->count);
}

enum exit_status place_instances(struct session *session, const char **arguments, int count)
{
	struct wire_place ask = {0};
	struct client *client;
	char *own_group = NULL;
	enum exit_status result = read_ask(session, &ask, &own_group);
	if (result == STATUS_OK)
		result = wire_open(session, &client);
	if (result == STATUS_OK) {
		result = place_with(session, client, &ask);
		client_close(client);
	}
	free(own_group);
	refusal_report_forget();
	return result;
}

static enum exit_status read_ids(const char **arguments, int count, struct uuid *ids)
{
	for (int i = 0; i < count; i++)
		if (!uuid_parse(arguments[i], &ids[i]))
			return complain(STATUS_USAGE,
				"\"%s\" is no allocation id; a whole UUID is needed here",
				arguments[i]);
	return STATUS_OK;
}

static const char *const result_names[] = {[WIRE_RELEASE_DONE] = "released",
	[WIRE_RELEASE_ALREADY] = "already-released",
	[WIRE_RELEASE_UNKNOWN] = "unknown"};

static enum exit_status release_some(struct session *session, struct client *client,
	const struct uuid *ids, int count, json_t *all)
{
	struct wire_ids ask = {.count = (uint8_t)count};
	struct wire_released released;
	struct wire_refused refused;
	memcpy(ask.ids, ids, (size_t)count * sizeof *ids);
	int result = client_release(client, &ask, &released, &refused);
	if (result != CLIENT_DONE)
		return wire_problem(session, result, &refused);
	for (int i = 0; i < released.count; i++) {
		char id[UUID_TEXT_BYTES];
		uint8_t code = released.results[i];
		const char *name = code <= WIRE_RELEASE_UNKNOWN ? result_names[code] : "?";
		json_array_append_new(all,
			json_pack("{s:s,s:s}", "ID", uuid_format(&ids[i], id), "Result", name));
	}
	return STATUS_OK;
}

static enum exit_status release_over_wire(
	struct session *session, const struct uuid *ids, int count, json_t *all)
{
	struct client *client;
	enum exit_status result = wire_open(session, &client);
	if (result != STATUS_OK)
		return result;
	for (int first = 0; first < count && result == STATUS_OK; first += (int)PLACE_COUNT_MAX) {
		int some =
			count - first < (int)PLACE_COUNT_MAX ? count - first : (int)PLACE_COUNT_MAX;
		result = release_some(session, client, ids + first, some, all);
	}
	client_close(client);
	return result;
}

static enum exit_status release_over_http(
	struct session *session, const struct uuid *ids, int count, json_t *all)
{
	json_t *list = json_array();
	for (int i = 0; i < count; i++) {
		char id[UUID_TEXT_BYTES];
		json_array_append_new(list, json_string(uuid_format(&ids[i], id)));
	}
	json_t *body = json_pack("{s:o}", "IDs", list);
	char *text = json_dumps(body, JSON_COMPACT);
	struct http_answer answer;
	enum exit_status result =
		http_put(session, "/v1/berth/release", text, strlen(text), &answer);
	json_t *root = result == STATUS_OK ? json_loadb(answer.body, answer.size, 0, NULL) : NULL;
	json_array_extend(all, json_object_get(root, "Results"));
	json_decref(root);
	http_answer_free(&answer);
	free(text);
	json_decref(body);
	return result;
}

static enum exit_status print_released(struct session *session, json_t *all)
{
	static const char *const headings[] = {"Allocation", "Result", NULL};
	struct table t;
	size_t i;
	json_t *one;
	bool unknown = false;
	table_begin(&t, headings);
	json_array_foreach(all, i, one)
	{
		table_add(&t, field_text(one, "ID"));
		table_add(&t, field_text(one, "Result"));
		unknown = unknown || strcmp(field_text(one, "Result"), "unknown") == 0;
	}
	if (flag_given(&session->flags, FLAG_JSON)) {
		field_print(all);
		table_free(&t);
	} else {
		table_print(&t, 0);
	}
	return unknown ? STATUS_NOT_FOUND : STATUS_OK;
}

enum exit_status release_allocations(struct session *session, const char **arguments, int count)
{
	struct uuid *ids = memory_take_array((size_t)count, sizeof *ids);
	json_t *all = json_array();
	enum exit_status result = read_ids(arguments, count, ids);
	if (result == STATUS_OK)
		result = flag_given(&session->flags, FLAG_OPERATOR)
				 ? release_over_http(session, ids, count, all)
				 : release_over_wire(session, ids, count, all);
	if (result == STATUS_OK)
		result = print_released(session, all);
	json_decref(all);
	free(ids);
	return result;
}
