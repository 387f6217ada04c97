#include "tools/berth/cli/field.h"
#include "tools/berth/views/list_tables.h"
#include <stdio.h>
#include <string.h>

static void put_tags(json_t *member, struct list_value *value)
{
	size_t used = 0;
	const char *name;
	json_t *tag;
	json_object_foreach(json_object_get(member, "Tags"), name, tag)
	{
		int size = snprintf(value->room + used, sizeof value->room - used, "%s%s=%s",
			used ? "," : "", name, json_string_value(tag));
		used += size > 0 && (size_t)size < sizeof value->room - used ? (size_t)size : 0;
	}
}

static const struct list_column server_columns[] = {
	{"Name", "Name"},
	{"Address", "Addr"},
	{"Port", "Port", LIST_NUMBER},
	{"Status", "Status", LIST_STATUS},
	{"Leader", "Leader", LIST_SWITCH},
	{"Protocol", "ProtocolCur", LIST_NUMBER},
	{"Build", "Tags.build"},
	{"Datacenter", "Tags.dc"},
	{"Region", "Tags.region"},
	{"Tags", NULL, .is_wide = true, .put = put_tags},
};
const struct list list_servers = {"servers", LIST_COLUMNS(server_columns), "Name", "Status"};

static void put_role(json_t *member, struct list_value *value)
{
	value->text = json_is_true(json_object_get(member, "Leader")) ? "leader" : "follower";
}

static void put_member_status(json_t *member, struct list_value *value)
{
	value->text = json_is_true(json_object_get(member, "Alive")) ? "alive" : "failed";
}

static const struct list_column member_columns[] = {
	{"Name", "Name"},
	{"ID", "ID", LIST_ID},
	{"HTTP", "HTTP"},
	{"Wire", "Wire", .absent = "-"},
	{"Role", NULL, .put = put_role},
	{"Status", NULL, LIST_STATUS, .put = put_member_status},
	{"Stored Index", "StoredIndex", LIST_NUMBER},
	{"Behind", "Behind", LIST_NUMBER},
};
const struct list list_cluster_members = {
	"members", LIST_COLUMNS(member_columns), "Name", "Status"};

static const struct list_column peer_columns[] = {
	{"Node", "Node"},
	{"ID", "ID"},
	{"Address", "Address"},
	{"State", NULL, .put = put_role},
	{"Voter", "Voter", LIST_SWITCH},
	{"RaftProtocol", "RaftProtocol"},
};
const struct list list_peers = {"servers", LIST_COLUMNS(peer_columns), "Node", "State"};

static const struct list_column health_columns[] = {
	{"Name", "Name"},
	{"Address", "Address"},
	{"Status", "SerfStatus", LIST_STATUS},
	{"Healthy", "Healthy", LIST_SWITCH},
	{"Leader", "Leader", LIST_SWITCH},
	{"Last Contact", "LastContact", .absent = "-"},
	{"Term", "LastTerm", LIST_NUMBER},
	{"Index", "LastIndex", LIST_NUMBER},
};
const struct list list_server_health = {"servers", LIST_COLUMNS(health_columns), "Name", "Status"};
