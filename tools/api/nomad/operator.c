// Actions of operators: the schedulers' configuration, garbage collection.
#include "state/base/memory.h"
#include "state/base/nomad_version.h"
#include "state/records/scheduler_config.h"
#include "tools/api/nomad/agent.h"
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

void raft_configuration(struct request *request, struct reply *reply)
{
	const struct api *api = request->api;
	char leader[API_LEADER_BYTES], name[300];
	leader_address(api, leader);
	snprintf(name, sizeof name, "%s.%s", api->name, api->region);
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	json_open_array(w, "Servers");
	json_begin_object(w);
	json_put_string(w, "ID", leader);
	json_put_string(w, "Node", name);
	json_put_string(w, "Address", leader);
	json_put_bool(w, "Leader", true);
	json_put_bool(w, "Voter", true);
	json_put_string(w, "RaftProtocol", "2");
	json_end_object(w);
	json_end_array(w);
	json_put_u64(w, "Index", 0);
	json_end_object(w);
}

// There is one server, which nobody removes from itself.
void raft_peer_remove(struct request *request, struct reply *reply)
{
	const char *id = request_parameter(request, "id");
	const char *address = request_parameter(request, "address");
	char leader[API_LEADER_BYTES];
	leader_address(request->api, leader);
	id = id && *id ? id : NULL;
	address = address && *address ? address : NULL;
	const char *named = id ? id : address;
	if (!named)
		reply_mistake(reply,
			"Must specify either ?id with the server's ID or ?address with IP:port of "
			"peer to remove");
	else if (id && address)
		reply_mistake(reply, "Must specify only one of ?id or ?address");
	else if (strcmp(named, leader) == 0)
		reply_error(reply, MHD_HTTP_NOT_IMPLEMENTED,
			"the only server cannot be removed; stop it instead");
	else
		reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR,
			"%s \"%.200s\" was not found in the Raft configuration",
			id ? "id" : "address", named);
}

void autopilot_configuration(struct request *request, struct reply *reply)
{
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	json_put_bool(w, "CleanupDeadServers", true);
	json_put_string(w, "LastContactThreshold", "200ms");
	json_put_u64(w, "MaxTrailingLogs", 250);
	json_put_u64(w, "MinQuorum", 0);
	json_put_string(w, "ServerStabilizationTime", "10s");
	json_put_bool(w, "EnableRedundancyZones", false);
	json_put_bool(w, "DisableUpgradeMigration", false);
	json_put_bool(w, "EnableCustomUpgrades", false);
	json_put_u64(w, "CreateIndex", 1);
	json_put_u64(w, "ModifyIndex", 1);
	json_end_object(w);
}

static void put_server_health(struct json_writer *w, const struct api *api, bool healthy)
{
	char leader[API_LEADER_BYTES], name[300];
	leader_address(api, leader);
	snprintf(name, sizeof name, "%s.%s", api->name, api->region);
	uint64_t up_ns = time_monotonic_ns(api->settings.time) - api->started_ns;
	json_begin_object(w);
	json_put_string(w, "ID", leader);
	json_put_string(w, "Name", name);
	json_put_string(w, "Address", leader);
	json_put_string(w, "SerfStatus", "alive");
	json_put_string(w, "Version", NOMAD_VERSION_FULL);
	json_put_bool(w, "Leader", true);
	json_put_string(w, "LastContact", "0s");
	json_put_u64(w, "LastTerm", state_node_table(api->settings.state)->term);
	json_put_u64(w, "LastIndex", state_index(api->settings.state));
	json_put_bool(w, "Healthy", healthy);
	json_put_bool(w, "Voter", true);
	json_write_key(w, "StableSince");
	json_write_time(w, (int64_t)(time_wall_ns(api->settings.time) - up_ns));
	json_end_object(w);
}

// 429 when the server is not healthy, as in Nomad.
void autopilot_health(struct request *request, struct reply *reply)
{
	struct api *api = request->api;
	char message[512] = "";
	bool healthy = !api->settings.healthy ||
		       api->settings.healthy(api->settings.context, message, sizeof message);
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	json_put_bool(w, "Healthy", healthy);
	json_put_u64(w, "FailureTolerance", 0);
	json_open_array(w, "Servers");
	put_server_health(w, api, healthy);
	json_end_array(w);
	json_end_object(w);
	if (!healthy)
		reply->status = MHD_HTTP_TOO_MANY_REQUESTS;
}
