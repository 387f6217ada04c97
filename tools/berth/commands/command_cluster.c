// Commands about the cluster: its members, who leads, and how far the others are.
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/commands/commands.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TOO_MANY 429

static const char *yes_or_no(json_t *object, const char *name)
{
	return json_is_true(json_object_get(object, name)) ? "true" : "false";
}

static void put_members(json_t *members, int64_t leader_index)
{
	static const char *const headings[] = {
		"Name", "ID", "HTTP", "Wire", "Role", "Status", "Stored Index", "Behind", NULL};
	struct table t;
	size_t i;
	json_t *member;
	table_begin(&t, headings);
	json_array_foreach(members, i, member)
	{
		char id[16];
		bool leads = json_is_true(json_object_get(member, "Leader"));
		bool is_alive = json_is_true(json_object_get(member, "Alive"));
		int64_t stored = field_number(member, "StoredIndex");
		table_add(&t, field_text(member, "Name"));
		table_add(&t, field_short(field_text(member, "ID"), id));
		table_add(&t, field_text(member, "HTTP"));
		table_add(&t, field_or_dash(member, "Wire"));
		table_add(&t, leads ? "leader" : "follower");
		table_add(&t, is_alive ? "alive" : "failed");
		table_add_format(&t, "%lld", (long long)stored);
		table_add_format(
			&t, "%lld", (long long)(leader_index > stored ? leader_index - stored : 0));
	}
	table_print(&t, 0);
}

static void put_cluster(json_t *cluster)
{
	struct table t;
	json_t *leader = json_object_get(cluster, "Leader");
	int64_t contact_ms = field_number(cluster, "LastContactMs");
	table_begin_pairs(&t);
	table_pair(&t, "Cluster", "= %s", field_text(cluster, "Name"));
	table_pair(&t, "Role", "= %s", field_text(cluster, "Role"));
	table_pair(&t, "Leader", "= %s",
		json_is_object(leader) ? field_text(leader, "Name") : "none is known");
	table_pair(&t, "Term", "= %lld", (long long)field_number(cluster, "Term"));
	table_pair(&t, "Index", "= %lld", (long long)field_number(cluster, "Index"));
	table_pair(&t, "Lag", "= %lld entries", (long long)field_number(cluster, "Lag"));
	if (contact_ms >= 0)
		table_pair(&t, "Last Contact", "= %lld ms", (long long)contact_ms);
	else
		table_pair(&t, "Last Contact", "= never");
	table_pair(&t, "Takeovers", "= %lld", (long long)field_number(cluster, "Takeovers"));
	table_pair(&t, "etcd", "= %s",
		json_is_true(json_object_get(cluster, "EtcdAway")) ? "away: nothing is decided"
								   : "there");
	if (*field_text(cluster, "Trouble"))
		table_pair(&t, "Trouble", "= %s", field_text(cluster, "Trouble"));
	table_print(&t, 0);
	printf("\nMembers\n");
	put_members(json_object_get(cluster, "Members"), field_number(cluster, "LeaderIndex"));
}

enum exit_status cluster_show(struct session *session, const char **arguments, int count)
{
	return http_show(session, "/v1/berth/cluster", put_cluster);
}

static void put_peers(json_t *configuration)
{
	static const char *const headings[] = {
		"Node", "ID", "Address", "State", "Voter", "RaftProtocol", NULL};
	struct table t;
	size_t i;
	json_t *server;
	table_begin(&t, headings);
	json_array_foreach(json_object_get(configuration, "Servers"), i, server)
	{
		bool leads = json_is_true(json_object_get(server, "Leader"));
		table_add(&t, field_text(server, "Node"));
		table_add(&t, field_text(server, "ID"));
		table_add(&t, field_text(server, "Address"));
		table_add(&t, leads ? "leader" : "follower");
		table_add(&t, yes_or_no(server, "Voter"));
		table_add(&t, field_text(server, "RaftProtocol"));
	}
	table_print(&t, 0);
}

enum exit_status raft_list_peers(struct session *session, const char **arguments, int count)
{
	return http_show(session, "/v1/operator/raft/configuration", put_peers);
}

static void put_health(json_t *health)
{
	static const char *const headings[] = {"Name", "Address", "Status", "Healthy", "Leader",
		"Last Contact", "Term", "Index", NULL};
	struct table t;
	size_t i;
	json_t *server;
	printf("Healthy           = %s\nFailure Tolerance = %lld\n\n", yes_or_no(health, "Healthy"),
		(long long)field_number(health, "FailureTolerance"));
	table_begin(&t, headings);
	json_array_foreach(json_object_get(health, "Servers"), i, server)
	{
		table_add(&t, field_text(server, "Name"));
		table_add(&t, field_text(server, "Address"));
		table_add(&t, field_text(server, "SerfStatus"));
		table_add(&t, yes_or_no(server, "Healthy"));
		table_add(&t, yes_or_no(server, "Leader"));
		table_add(&t, field_or_dash(server, "LastContact"));
		table_add_format(&t, "%lld", (long long)field_number(server, "LastTerm"));
		table_add_format(&t, "%lld", (long long)field_number(server, "LastIndex"));
	}
	table_print(&t, 0);
}

// A controller that is not healthy says so with a status of its own; what it says is shown all the same.
enum exit_status autopilot_health(struct session *session, const char **arguments, int count)
{
	static const char path[] = "/v1/operator/autopilot/health";
	struct http_answer answer;
	http_quiet(session, true);
	enum exit_status result = http_get(session, path, &answer);
	http_quiet(session, false);
	json_t *health = result != STATUS_OK && answer.status == TOO_MANY && answer.size
				 ? json_loadb(answer.body, answer.size, 0, NULL)
				 : NULL;
	http_answer_free(&answer);
	if (!health)
		return http_show(session, path, put_health);
	(flag_given(&session->flags, FLAG_JSON) ? field_print : put_health)(health);
	json_decref(health);
	return STATUS_REFUSED;
}

// The daemon's program has the store's and etcd's; this one only knows its name.
static enum exit_status have_daemon_do(const char *verb, const char **arguments, int count)
{
	const char *config = count > 0 ? arguments[0] : "/etc/berth/berthd.yaml";

	fflush(NULL);
	execlp("berthd", "berthd", "cluster", verb, "--config", config, (char *)NULL);
	fprintf(stderr, "berth: cannot run berthd: %s; it has to be in PATH\n", strerror(errno));
	return STATUS_FAILURE;
}

enum exit_status cluster_init_here(struct session *session, const char **arguments, int count)
{
	return have_daemon_do("init", arguments, count);
}

enum exit_status cluster_join_here(struct session *session, const char **arguments, int count)
{
	return have_daemon_do("join", arguments, count);
}

enum exit_status cluster_leave_here(struct session *session, const char **arguments, int count)
{
	return have_daemon_do("leave", arguments, count);
}
