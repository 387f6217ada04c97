// Commands about the cluster: its members, who leads, and how far the others are.
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/views/list.h"
#include "tools/berth/views/list_tables.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TOO_MANY 429

static void add_behind(json_t *members, int64_t leader_index)
{
	size_t i;
	json_t *member;
	json_array_foreach(members, i, member)
	{
		int64_t stored = field_number(member, "StoredIndex");
		json_object_set_new(member, "Behind",
			json_integer(leader_index > stored ? leader_index - stored : 0));
	}
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
}

// Whether the servers alone are wanted, in one of the forms of lists.
static bool wants_list(const struct flags *flags)
{
	return flag_given(flags, FLAG_OUTPUT) || flag_given(flags, FLAG_COLUMNS);
}

enum exit_status cluster_show(struct session *session, const char **arguments, int count)
{
	json_t *cluster;
	enum exit_status result = http_get_json(session, "/v1/berth/cluster", &cluster);
	if (result == STATUS_OK && flag_given(&session->flags, FLAG_JSON)) {
		field_print(cluster);
	} else if (result == STATUS_OK) {
		json_t *members = json_object_get(cluster, "Members");
		add_behind(members, field_number(cluster, "LeaderIndex"));
		if (!wants_list(&session->flags))
			put_cluster(cluster);
		result = list_print_items(session, &list_cluster_members, members);
	}
	json_decref(cluster);
	return result;
}

enum exit_status raft_list_peers(struct session *session, const char **arguments, int count)
{
	json_t *configuration;
	enum exit_status result =
		http_get_json(session, "/v1/operator/raft/configuration", &configuration);
	if (result == STATUS_OK && flag_given(&session->flags, FLAG_JSON))
		field_print(configuration);
	else if (result == STATUS_OK)
		result = list_print_items(
			session, &list_peers, json_object_get(configuration, "Servers"));
	json_decref(configuration);
	return result;
}

static enum exit_status put_health(struct session *session, json_t *health)
{
	if (flag_given(&session->flags, FLAG_JSON)) {
		field_print(health);
		return STATUS_OK;
	}
	if (!wants_list(&session->flags))
		printf("Healthy           = %s\nFailure Tolerance = %lld\n\n",
			json_is_true(json_object_get(health, "Healthy")) ? "true" : "false",
			(long long)field_number(health, "FailureTolerance"));
	return list_print_items(session, &list_server_health, json_object_get(health, "Servers"));
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
	bool is_well = !health;
	result = is_well ? http_get_json(session, path, &health) : STATUS_OK;
	if (result == STATUS_OK)
		result = put_health(session, health);
	json_decref(health);
	return result == STATUS_OK && !is_well ? STATUS_REFUSED : result;
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
