// Answers about the server itself.
#include "tools/api/nomad/agent.h"
#include "state/base/check.h"
#include "state/base/nomad_version.h"
#include "tools/api/nomad/routes.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#define HEALTH_MESSAGE_BYTES 512u

static bool is_healthy(struct api *api, char message[HEALTH_MESSAGE_BYTES])
{
	snprintf(message, HEALTH_MESSAGE_BYTES, "ok");
	return !api->settings.healthy ||
	       api->settings.healthy(api->settings.context, message, HEALTH_MESSAGE_BYTES);
}

void leader_address(const struct api *api, char text[static API_LEADER_BYTES])
{
	bool six = strchr(api->address, ':') != NULL;
	snprintf(text, API_LEADER_BYTES, six ? "[%s]:%u" : "%s:%u", api->address, api->port);
}

static void put_config(struct json_writer *w, struct api *api)
{
	json_begin_object(w);
	json_put_string(w, "Region", api->region);
	json_put_string(w, "Datacenter", api->datacenter);
	json_put_string(w, "NodeName", api->name);
	json_put_string(w, "BindAddr", api->address);
	json_open_object(w, "Ports");
	json_put_u64(w, "HTTP", api->port);
	json_end_object(w);
	json_open_object(w, "ACL");
	json_put_bool(w, "Enabled", false);
	json_end_object(w);
	json_open_object(w, "Version");
	json_put_string(w, "Version", NOMAD_VERSION);
	json_put_string(w, "VersionPrerelease", "");
	json_put_string(w, "VersionMetadata", NOMAD_VERSION_METADATA);
	json_put_string(w, "Revision", "");
	json_end_object(w);
	char *configuration = api->settings.configuration
				      ? api->settings.configuration(api->settings.context)
				      : NULL;
	json_put_raw(w, "Berth", configuration);
	free(configuration);
	json_end_object(w);
}

static void put_tags(struct json_writer *w, const struct api *api)
{
	char port[8], id[UUID_TEXT_BYTES];
	snprintf(port, sizeof port, "%u", api->port);
	json_begin_object(w);
	json_put_string(w, "id", uuid_format(&api->id, id));
	json_put_string(w, "role", "nomad");
	json_put_string(w, "region", api->region);
	json_put_string(w, "dc", api->datacenter);
	json_put_string(w, "build", NOMAD_VERSION_FULL);
	json_put_string(w, "berth", BERTH_VERSION);
	json_put_string(w, "rpc_addr", api->address);
	json_put_string(w, "port", port);
	json_put_string(w, "expect", "1");
	json_put_string(w, "bootstrap", "1");
	json_put_string(w, "raft_vsn", "2");
	json_put_string(w, "vsn", "1");
	json_put_string(w, "mvn", "1");
	json_end_object(w);
}

static void put_member(struct json_writer *w, const struct api *api)
{
	static const char *const protocols[] = {"ProtocolMin", "ProtocolMax", "ProtocolCur",
		"DelegateMin", "DelegateMax", "DelegateCur"};
	char name[300];
	snprintf(name, sizeof name, "%s.%s", api->name, api->region);
	json_begin_object(w);
	json_put_string(w, "Name", name);
	json_put_string(w, "Addr", api->address);
	json_put_u64(w, "Port", api->port);
	json_write_key(w, "Tags");
	put_tags(w, api);
	json_put_string(w, "Status", "alive");
	for (size_t i = 0; i < sizeof protocols / sizeof protocols[0]; i++)
		json_put_u64(w, protocols[i], 1);
	json_end_object(w);
}

// All values of stats are strings: clients print them as they are.
static void put_stat(struct json_writer *w, const char *name, uint64_t value)
{
	char text[24];
	snprintf(text, sizeof text, "%llu", (unsigned long long)value);
	json_put_string(w, name, text);
}

// Describes one server's log with the names of a replicated log.
static void put_log(struct json_writer *w, const struct api *api)
{
	uint64_t index = state_index(api->settings.state);
	json_open_object(w, "raft");
	put_stat(w, "applied_index", index);
	put_stat(w, "commit_index", index);
	put_stat(w, "last_log_index", index);
	put_stat(w, "term", state_node_table(api->settings.state)->term);
	put_stat(w, "num_peers", 0);
	put_stat(w, "last_contact", 0);
	json_put_string(w, "state", "Leader");
	json_end_object(w);
	json_open_object(w, "serf");
	put_stat(w, "members", 1);
	put_stat(w, "failed", 0);
	put_stat(w, "left", 0);
	json_put_string(w, "encrypted", "false");
	json_end_object(w);
}

static void put_stats(struct json_writer *w, struct api *api)
{
	char leader[API_LEADER_BYTES];
	leader_address(api, leader);
	struct utsname system;
	CHECK(uname(&system) == 0);
	json_begin_object(w);
	json_open_object(w, "nomad");
	json_put_string(w, "server", "true");
	json_put_string(w, "leader", "true");
	json_put_string(w, "leader_addr", leader);
	json_put_string(w, "bootstrap", "true");
	json_put_string(w, "known_regions", "1");
	json_end_object(w);
	json_open_object(w, "berth");
	json_put_string(w, "version", BERTH_VERSION);
	put_stat(w, "index", state_index(api->settings.state));
	put_stat(w, "term", state_node_table(api->settings.state)->term);
	put_stat(w, "node_slots", state_node_slots(api->settings.state));
	put_stat(w, "commands_queued", command_queue_depth(api->settings.queue));
	json_end_object(w);
	put_log(w, api);
	json_open_object(w, "runtime");
	json_put_string(w, "kernel.name", "linux");
	json_put_string(w, "kernel.version", system.release);
	json_put_string(w, "arch", system.machine);
	put_stat(w, "cpu_count", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
	json_end_object(w);
	json_end_object(w);
}

void agent_self(struct request *request, struct reply *reply)
{
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	json_write_key(w, "config");
	put_config(w, request->api);
	json_write_key(w, "member");
	put_member(w, request->api);
	json_write_key(w, "stats");
	put_stats(w, request->api);
	json_end_object(w);
}

void agent_health(struct request *request, struct reply *reply)
{
	char message[HEALTH_MESSAGE_BYTES];
	bool healthy = is_healthy(request->api, message);
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	json_open_object(w, "server");
	json_put_bool(w, "ok", healthy);
	json_put_string(w, "message", message);
	json_end_object(w);
	json_end_object(w);
	if (!healthy)
		reply->status = MHD_HTTP_INTERNAL_SERVER_ERROR;
}

void agent_members(struct request *request, struct reply *reply)
{
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	json_put_string(w, "ServerName", request->api->name);
	json_put_string(w, "ServerRegion", request->api->region);
	json_put_string(w, "ServerDC", request->api->datacenter);
	json_open_array(w, "Members");
	put_member(w, request->api);
	json_end_array(w);
	json_end_object(w);
}

void status_leader(struct request *request, struct reply *reply)
{
	char leader[API_LEADER_BYTES];
	leader_address(request->api, leader);
	json_write_string(reply_json(request, reply), leader);
}

void status_peers(struct request *request, struct reply *reply)
{
	char leader[API_LEADER_BYTES];
	leader_address(request->api, leader);
	struct json_writer *w = reply_json(request, reply);
	json_begin_array(w);
	json_write_string(w, leader);
	json_end_array(w);
}

void regions_list(struct request *request, struct reply *reply)
{
	struct json_writer *w = reply_json(request, reply);
	json_begin_array(w);
	json_write_string(w, request->api->region);
	json_end_array(w);
}

void healthz(struct request *request, struct reply *reply)
{
	char message[HEALTH_MESSAGE_BYTES];
	bool healthy = is_healthy(request->api, message);
	reply_error(reply, healthy ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE, "%s\n", message);
}
