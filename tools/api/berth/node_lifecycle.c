// Standings of nodes, beside their status: reads them, sets them for an operator, and groups nodes by their last
// snapshot.
#include "state/base/memory.h"
#include "state/base/schema.h"
#include "tools/api/berth/routes.h"
#include "tools/api/nomad/nodes/nodes.h"
#include "tools/api/server/background_answers.h"
#include "tools/api/server/command_text.h"
#include "tools/api/server/one_record.h"
#include "tools/forms/node_json.h"
#include <stdlib.h>
#include <string.h>

// Slots that one read section visits.
#define SLOTS_PER_SECTION 8192u

static void write_standing(struct json_writer *w, const struct request *request, const void *record)
{
	const struct node *node = record;
	json_begin_object(w);
	json_put_uuid(w, "ID", &node->id);
	json_put_string(w, "Name", node->name);
	json_put_string(w, "Status", node_status_names[node->status]);
	node_json_standing(w, request->api->settings.state, node);
	node_json_clone(w, request->api->settings.state, node);
	json_end_object(w);
}

const struct one_record node_standing_by_id = {
	.noun = "node", .table = STATE_NODES, .write = write_standing};

static void submit_standing(
	struct request *request, struct reply *reply, enum standing_action action)
{
	struct command *command = submission_one(request, COMMAND_NODE_STANDING, NULL);
	struct uuid *id = submission_take(request, sizeof *id);
	command->standing = submission_take(request, sizeof *command->standing);
	*command->standing =
		(struct command_node_standing){.action = action, .nodes = id, .count = 1};
	(void)path_uuid(request, "node", id, reply);
}

void node_offline(struct request *request, struct reply *reply)
{
	submit_standing(request, reply, STANDING_OFFLINE);
}

void node_online(struct request *request, struct reply *reply)
{
	submit_standing(request, reply, STANDING_ONLINE);
}

void node_standing_set(struct request *request, struct reply *reply)
{
	struct state *state = request->api->settings.state;
	const struct command *command = submission_command(request->submission, 0);
	struct json_writer *w = done_begin_or_say(
		request, reply, &command, command->standing->message, MHD_HTTP_CONFLICT);
	if (!w)
		return;
	json_put_uuid(w, "NodeID", &command->standing->nodes[0]);
	json_put_bool(w, "Changed", command->standing->changed > 0);
	state_read_begin();
	const struct node *node = node_named(request);
	if (node)
		node_json_standing(w, state, node);
	state_read_end();
	json_put_u64(w, "Index", command->index);
	done_end(w, reply, command);
}

struct snapshot_group { // has the layout of schema.h's maps
	char *snapshot;
	struct array idle, busy; // struct uuid
};

static void group_add(struct array *groups, const struct state *state, const struct node *node)
{
	struct snapshot_group *group = map_item(groups, sizeof *group, node->snapshot);
	bool is_busy = state_node_use(state, node->slot).living > 0;
	struct array *ids = is_busy ? &group->busy : &group->idle;
	*(struct uuid *)array_append(ids, sizeof(struct uuid)) = node->id;
}

// Collects the nodes of one snapshot, or of all when it is NULL, except forgotten nodes.
static void groups_collect(struct array *groups, const struct state *state, const char *snapshot)
{
	for (uint32_t slot = 0; slot < state_node_slots(state);) {
		state_read_begin();
		uint32_t slots = state_node_slots(state);
		for (uint32_t i = 0; i < SLOTS_PER_SECTION && slot < slots; i++, slot++) {
			state_node_prefetch(state, slot);
			const struct node *node = state_node_at(state, slot);
			if (node && standing_of(&node->standing) != NODE_FORGOTTEN &&
				(!snapshot || strcmp(snapshot, node->snapshot) == 0))
				group_add(groups, state, node);
		}
		state_read_end();
	}
}

static void put_ids(struct json_writer *w, const char *name, struct array *ids)
{
	json_open_array(w, name);
	if (ids->count)
		qsort(ids->items, ids->count, sizeof(struct uuid), uuid_order);
	for (uint32_t i = 0; i < ids->count; i++)
		json_write_uuid(w, ARRAY_AT(ids, struct uuid, i));
	json_end_array(w);
	free(ids->items);
}

// Frees the groups, too.
static void put_groups(struct json_writer *w, struct array *groups)
{
	json_begin_object(w);
	for (uint32_t i = 0; i < groups->count; i++) {
		struct snapshot_group *group = ARRAY_AT(groups, struct snapshot_group, i);
		json_open_object(w, group->snapshot);
		put_ids(w, "Idle", &group->idle);
		put_ids(w, "Busy", &group->busy);
		json_end_object(w);
		free(group->snapshot);
	}
	json_end_object(w);
	free(groups->items);
}

static void work_out(struct request *request, struct reply *reply)
{
	const struct state *state = request->api->settings.state;
	const char *snapshot = request_parameter(request, "snapshot");
	struct array groups = {0};
	uint64_t index = state_index(state);
	// The group without a snapshot always exists; with ?snapshot= the named group does.
	(void)map_item(&groups, sizeof(struct snapshot_group), snapshot ? snapshot : "");
	groups_collect(&groups, state, snapshot);
	put_groups(reply_json(request, reply), &groups);
	reply_index(reply, index);
}

void node_groups_read(struct request *request, struct reply *reply)
{
	answer_in_background(request, reply, BACKGROUND_WORK, work_out);
}
