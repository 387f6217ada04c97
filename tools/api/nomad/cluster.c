// Answers about the cluster: who its servers are, and how they are.
#include "state/base/nomad_version.h"
#include "tools/api/nomad/members.h"
#include "tools/api/nomad/routes.h"
#include <stdio.h>
#include <string.h>

// What names a server where Nomad's operators name one: an id in a cluster, an address of one that stands alone.
static const char *raft_id(const struct membership *m, const struct cluster_member *member,
	const struct member_address *at)
{
	return m->is_cluster ? member->id : at->text;
}

static bool is_leading(const struct membership *m, const struct cluster_member *member)
{
	return m->status.knows_leader && strcmp(member->id, m->status.leader.id) == 0;
}

static void put_server(struct json_writer *w, const struct api *api, const struct membership *m,
	const struct cluster_member *member)
{
	char name[MEMBER_ADDRESS_BYTES];
	struct member_address at = member_address_of(member->http);
	member_full_name(api, member, name);
	json_begin_object(w);
	json_put_string(w, "ID", raft_id(m, member, &at));
	json_put_string(w, "Node", name);
	json_put_string(w, "Address", at.text);
	json_put_bool(w, "Leader", is_leading(m, member));
	json_put_bool(w, "Voter", true);
	json_put_string(w, "RaftProtocol", m->is_cluster ? "3" : "2");
	json_end_object(w);
}

void raft_configuration(struct request *request, struct reply *reply)
{
	struct membership m;
	membership_read(request->api, &m);
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	json_open_array(w, "Servers");
	for (uint32_t i = 0; i < m.status.member_count; i++)
		put_server(w, request->api, &m, &m.status.members[i]);
	json_end_array(w);
	json_put_u64(w, "Index", 0);
	json_end_object(w);
}

// A server that stands alone is not removed from itself, and a member leaves by its own word.
void raft_peer_remove(struct request *request, struct reply *reply)
{
	const char *id = request_parameter(request, "id");
	const char *address = request_parameter(request, "address");
	struct membership m;
	membership_read(request->api, &m);
	id = id && *id ? id : NULL;
	address = address && *address ? address : NULL;
	if (!id && !address)
		reply_mistake(reply,
			"Must specify either ?id with the server's ID or ?address with IP:port of "
			"peer to remove");
	else if (id && address)
		reply_mistake(reply, "Must specify only one of ?id or ?address");
	else if (!member_find(&m, id, address))
		reply_error(reply, MHD_HTTP_INTERNAL_SERVER_ERROR,
			"%s \"%.200s\" was not found in the Raft configuration",
			id ? "id" : "address", id ? id : address);
	else
		reply_error(reply, MHD_HTTP_NOT_IMPLEMENTED, "%s",
			m.is_cluster ? "a member is not removed over HTTP: use berth operator "
				       "cluster leave"
				     : "the only server cannot be removed; stop it instead");
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

// How long ago this server heard of the leader. Of other members it knows only whether they are alive.
static void put_contact(struct json_writer *w, const struct cluster_status *s,
	const struct cluster_member *member, bool leads)
{
	char text[32] = "";
	if (leads || (member->is_self && s->last_contact_ms == 0))
		snprintf(text, sizeof text, "0s");
	else if (member->is_self && s->last_contact_ms > 0)
		snprintf(text, sizeof text, "%lldms", (long long)s->last_contact_ms);
	json_put_string(w, "LastContact", text);
}

static void put_server_health(struct json_writer *w, const struct api *api,
	const struct membership *m, const struct cluster_member *member, bool is_healthy)
{
	char name[MEMBER_ADDRESS_BYTES];
	struct member_address at = member_address_of(member->http);
	bool leads = is_leading(m, member);
	uint64_t up_ns = time_monotonic_ns(api->settings.time) - api->started_ns;
	member_full_name(api, member, name);
	json_begin_object(w);
	json_put_string(w, "ID", raft_id(m, member, &at));
	json_put_string(w, "Name", name);
	json_put_string(w, "Address", at.text);
	json_put_string(w, "SerfStatus", member->is_alive || member->is_self ? "alive" : "failed");
	json_put_string(w, "Version", NOMAD_VERSION_FULL);
	json_put_bool(w, "Leader", leads);
	put_contact(w, &m->status, member, leads);
	json_put_u64(w, "LastTerm", m->status.term);
	json_put_u64(w, "LastIndex", member->is_self ? m->status.index : member->stored_index);
	json_put_bool(w, "Healthy", is_healthy);
	json_put_bool(w, "Voter", true);
	if (member->is_self) {
		json_write_key(w, "StableSince");
		json_write_time(w, (int64_t)(time_wall_ns(api->settings.time) - up_ns));
	}
	json_end_object(w);
}

static bool this_server_is_healthy(const struct api *api, const struct cluster_status *s)
{
	char message[512] = "";
	const struct api_settings *settings = &api->settings;
	return !s->etcd_is_away && s->knows_leader &&
	       (!settings->healthy ||
		       settings->healthy(settings->context, message, sizeof message));
}

// 429 when a server is not healthy, as in Nomad. Each living member can lead alone: the log is not theirs.
void autopilot_health(struct request *request, struct reply *reply)
{
	struct api *api = request->api;
	struct membership m;
	membership_read(api, &m);
	const struct cluster_status *s = &m.status;
	bool self_is_healthy = this_server_is_healthy(api, s);
	uint32_t healthy = 0;
	for (uint32_t i = 0; i < s->member_count; i++)
		healthy += s->members[i].is_self ? self_is_healthy : s->members[i].is_alive;
	bool all_are = self_is_healthy && healthy == s->member_count;
	struct json_writer *w = reply_json(request, reply);
	json_begin_object(w);
	json_put_bool(w, "Healthy", all_are);
	json_put_u64(w, "FailureTolerance", healthy && !s->etcd_is_away ? healthy - 1 : 0);
	json_open_array(w, "Servers");
	for (uint32_t i = 0; i < s->member_count; i++)
		put_server_health(w, api, &m, &s->members[i],
			s->members[i].is_self ? self_is_healthy : s->members[i].is_alive);
	json_end_array(w);
	json_end_object(w);
	if (!all_are)
		reply->status = MHD_HTTP_TOO_MANY_REQUESTS;
}

static void put_cluster_member(struct json_writer *w, const struct cluster_member *m)
{
	json_begin_object(w);
	json_put_string(w, "ID", m->id);
	json_put_string(w, "Name", m->name);
	json_put_string(w, "HTTP", m->http);
	json_put_string(w, "Wire", m->wire);
	json_put_u64(w, "StoredIndex", m->stored_index);
	json_put_bool(w, "Alive", m->is_alive);
	json_put_bool(w, "Leader", m->is_leader);
	json_put_bool(w, "Self", m->is_self);
	json_end_object(w);
}

static void put_cluster(struct json_writer *w, const struct cluster_status *s)
{
	json_begin_object(w);
	json_put_string(w, "Name", s->name);
	json_put_string(w, "Role", s->role == CLUSTER_LEADER ? "leader" : "follower");
	json_put_bool(w, "KnownLeader", s->knows_leader);
	json_write_key(w, "Leader");
	if (s->knows_leader)
		put_cluster_member(w, &s->leader);
	else
		json_write_null(w);
	json_put_u64(w, "Term", s->term);
	json_put_u64(w, "Index", s->index);
	json_put_u64(w, "LeaderIndex", s->leader_index);
	json_put_u64(w, "Lag", s->leader_index > s->index ? s->leader_index - s->index : 0);
	json_put_i64(w, "LastContactMs", s->last_contact_ms);
	json_put_u64(w, "Takeovers", s->takeovers);
	json_put_u64(w, "BatchesUnderWay", s->batches_under_way);
	json_put_bool(w, "EtcdAway", s->etcd_is_away);
	json_put_string(w, "Trouble", s->trouble);
	json_open_array(w, "Members");
	for (uint32_t i = 0; i < s->member_count; i++)
		put_cluster_member(w, &s->members[i]);
	json_end_array(w);
	json_end_object(w);
}

void cluster_read(struct request *request, struct reply *reply)
{
	struct membership m;
	membership_read(request->api, &m);
	if (m.is_cluster)
		put_cluster(reply_json(request, reply), &m.status);
	else
		reply_error(reply, MHD_HTTP_NOT_FOUND,
			"this server is of no cluster (setting cluster): it keeps its log itself");
}
