// Answers about the server itself.
#include "state/base/check.h"
#include "state/base/nomad_version.h"
#include "tools/api/forward/forwarder.h"
#include "tools/api/nomad/members.h"
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

static void put_number_text(struct json_writer *w, const char *name, uint64_t value)
{
	char text[24];
	snprintf(text, sizeof text, "%llu", (unsigned long long)value);
	json_put_string(w, name, text);
}

static void put_tags(struct json_writer *w, const struct api *api, const struct membership *m,
	const struct cluster_member *member, const struct member_address *at)
{
	json_begin_object(w);
	json_put_string(w, "id", member->id);
	json_put_string(w, "role", "nomad");
	json_put_string(w, "region", api->region);
	json_put_string(w, "dc", api->datacenter);
	json_put_string(w, "build", NOMAD_VERSION_FULL);
	json_put_string(w, "berth", BERTH_VERSION);
	json_put_string(w, "rpc_addr", at->host);
	put_number_text(w, "port", at->port);
	put_number_text(w, "expect", m->status.member_count);
	if (!m->is_cluster)
		json_put_string(w, "bootstrap", "1");
	json_put_string(w, "raft_vsn", m->is_cluster ? "3" : "2");
	json_put_string(w, "vsn", "1");
	json_put_string(w, "mvn", "1");
	json_end_object(w);
}

static void put_member(struct json_writer *w, const struct api *api, const struct membership *m,
	const struct cluster_member *member)
{
	static const char *const protocols[] = {"ProtocolMin", "ProtocolMax", "ProtocolCur",
		"DelegateMin", "DelegateMax", "DelegateCur"};
	char name[MEMBER_ADDRESS_BYTES];
	struct member_address at = member_address_of(member->http);
	member_full_name(api, member, name);
	json_begin_object(w);
	json_put_string(w, "Name", name);
	json_put_string(w, "Addr", at.host);
	json_put_u64(w, "Port", at.port);
	json_write_key(w, "Tags");
	put_tags(w, api, m, member, &at);
	json_put_string(w, "Status", member->is_alive || member->is_self ? "alive" : "failed");
	for (size_t i = 0; i < sizeof protocols / sizeof protocols[0]; i++)
		json_put_u64(w, protocols[i], 1);
	json_end_object(w);
}

// The member that this server is. One that is not on the list, because it joins only now, is as good as nameless.
static const struct cluster_member *self_of(const struct membership *m)
{
	static const struct cluster_member unknown = {.is_self = true};
	for (uint32_t i = 0; i < m->status.member_count; i++)
		if (m->status.members[i].is_self)
			return &m->status.members[i];
	return &unknown;
}

static uint32_t failed_members(const struct cluster_status *s)
{
	uint32_t failed = 0;
	for (uint32_t i = 0; i < s->member_count; i++)
		failed += !s->members[i].is_alive && !s->members[i].is_self;
	return failed;
}

static void put_last_contact(struct json_writer *w, const struct cluster_status *s)
{
	char text[32] = "never";
	if (s->last_contact_ms > 0)
		snprintf(text, sizeof text, "%lldms", (long long)s->last_contact_ms);
	json_put_string(w, "last_contact", s->last_contact_ms == 0 ? "0" : text);
}

// Describes the log with the names of a replicated one. All values of stats are strings: clients print them as they
// are.
static void put_log(struct json_writer *w, const struct api *api, const struct membership *m)
{
	const struct cluster_status *s = &m->status;
	uint64_t index = state_index(api->settings.state);
	uint64_t end = m->is_cluster && s->leader_index > index ? s->leader_index : index;
	json_open_object(w, "raft");
	put_number_text(w, "applied_index", index);
	put_number_text(w, "commit_index", end);
	put_number_text(w, "last_log_index", end);
	put_number_text(w, "term", s->term);
	put_number_text(w, "num_peers", s->member_count ? s->member_count - 1 : 0);
	put_last_contact(w, s);
	json_put_string(w, "state", cluster_leads(s) ? "Leader" : "Follower");
	json_end_object(w);
	json_open_object(w, "serf");
	put_number_text(w, "members", s->member_count);
	put_number_text(w, "failed", failed_members(s));
	put_number_text(w, "left", 0);
	json_put_string(w, "encrypted", "false");
	json_end_object(w);
}

static void put_stats(struct json_writer *w, const struct api *api, const struct membership *m)
{
	char leader[MEMBER_ADDRESS_BYTES];
	leader_address(api, leader);
	struct utsname system;
	CHECK(uname(&system) == 0);
	json_begin_object(w);
	json_open_object(w, "nomad");
	json_put_string(w, "server", "true");
	json_put_string(w, "leader", cluster_leads(&m->status) ? "true" : "false");
	json_put_string(w, "leader_addr", leader);
	json_put_string(w, "bootstrap", m->is_cluster ? "false" : "true");
	json_put_string(w, "known_regions", "1");
	json_end_object(w);
	json_open_object(w, "berth");
	json_put_string(w, "version", BERTH_VERSION);
	put_number_text(w, "index", state_index(api->settings.state));
	put_number_text(w, "term", m->status.term);
	put_number_text(w, "node_slots", state_node_slots(api->settings.state));
	put_number_text(w, "commands_queued", command_queue_depth(api->settings.queue));
	json_end_object(w);
	put_log(w, api, m);
	json_open_object(w, "runtime");
	json_put_string(w, "kernel.name", "linux");
	json_put_string(w, "kernel.version", system.release);
	json_put_string(w, "arch", system.machine);
	put_number_text(w, "cpu_count", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
	json_end_object(w);
	json_end_object(w);
}

void agent_self(struct request *request, struct reply *reply)
{
	struct membership m;
	membership_read(request->api, &m);
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	json_write_key(w, "config");
	put_config(w, request->api);
	json_write_key(w, "member");
	put_member(w, request->api, &m, self_of(&m));
	json_write_key(w, "stats");
	put_stats(w, request->api, &m);
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
	struct membership m;
	membership_read(request->api, &m);
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	json_put_string(w, "ServerName", request->api->name);
	json_put_string(w, "ServerRegion", request->api->region);
	json_put_string(w, "ServerDC", request->api->datacenter);
	json_open_array(w, "Members");
	for (uint32_t i = 0; i < m.status.member_count; i++)
		put_member(w, request->api, &m, &m.status.members[i]);
	json_end_array(w);
	json_end_object(w);
}

void status_leader(struct request *request, struct reply *reply)
{
	char leader[MEMBER_ADDRESS_BYTES];
	leader_address(request->api, leader);
	json_write_string(reply_json(request, reply), leader);
}

void status_peers(struct request *request, struct reply *reply)
{
	struct membership m;
	membership_read(request->api, &m);
	struct json_writer *w = reply_json(request, reply);
	json_begin_array(w);
	for (uint32_t i = 0; i < m.status.member_count; i++)
		json_write_string(w, member_address_of(m.status.members[i].http).text);
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
