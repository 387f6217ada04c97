#include "state/base/time_units.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/views/list_tables.h"
#include <stdio.h>
#include <string.h>

static const struct list_column rule_columns[] = {
	{"Pattern", "Pattern"},
	{"Pools", "NodePools", .absent = "any"},
	{"Datacenters", "Datacenters", .absent = "any"},
	{"Classes", "NodeClasses", .absent = "any"},
	{"CPU", "CPU", LIST_NUMBER, .absent = "any"},
	{"Memory", "MemoryMB", LIST_NUMBER, .absent = "any"},
	{"Disk", "DiskMB", LIST_NUMBER, .absent = "any"},
	{"Devices", "Devices", LIST_NUMBER, .absent = "any"},
};
const struct list list_rules = {"rules", LIST_COLUMNS(rule_columns), "Pattern"};

static const struct list_column refused_columns[] = {
	{"ID", "ID"},
	{"Name", "Name"},
	{"Address", "Address"},
	{"Refused For", "Claim"},
	{"Rule", "Pattern", .absent = "-"},
	{"Time", "Time"},
};
const struct list list_refused_nodes = {
	"refused nodes", LIST_COLUMNS(refused_columns), "ID", "Refused For"};

static void put_is_revoked(json_t *sender, struct list_value *value)
{
	value->text = json_is_true(json_object_get(sender, "Revoked")) ? "yes" : "no";
}

static const struct list_column revoked_columns[] = {
	{"Sender", "Name"},
	{"Revoked", NULL, .put = put_is_revoked},
	{"Key Generation", "KeyGeneration", LIST_NUMBER},
	{"Since", "Time"},
	{"Reason", "Reason"},
};
const struct list list_revoked = {"senders", LIST_COLUMNS(revoked_columns), "Sender"};

static void put_last(json_t *sender, struct list_value *value)
{
	long long ago_s = field_number(sender, "Ago") / (long long)NS_PER_S;
	value->number = (double)ago_s;
	snprintf(value->room, sizeof value->room, "%lld s ago", ago_s);
}

static const struct list_column sender_columns[] = {
	{"Kind", "Kind"},
	{"Name", "Name"},
	{"Refused", "Refused", LIST_NUMBER},
	{"Last", NULL, LIST_NUMBER, .put = put_last},
};
const struct list list_senders = {"senders", LIST_COLUMNS(sender_columns), "Name", "Kind"};

static void put_own_status(json_t *allocation, struct list_value *value)
{
	bool is_known = json_is_true(json_object_get(allocation, "Known"));
	value->text = is_known ? field_text(allocation, "Status") : "unknown to this client";
}

static const struct list_column own_columns[] = {
	{"Allocation", "ID"},
	{"Desired", "Desired"},
	{"Status", NULL, LIST_STATUS, .put = put_own_status},
	{"Node slot", "NodeSlot", LIST_NUMBER},
	{"Modify index", "ModifyIndex", LIST_NUMBER},
};
const struct list list_own_allocations = {
	"allocations", LIST_COLUMNS(own_columns), "Allocation", "Status"};

static const struct list_column group_columns[] = {
	{"Snapshot", "Snapshot", .absent = "<none>"},
	{"Idle", "Idle", LIST_NUMBER},
	{"Busy", "Busy", LIST_NUMBER},
};
const struct list list_groups = {"snapshots", LIST_COLUMNS(group_columns), "Snapshot"};

static const struct list_column group_node_columns[] = {
	{"Snapshot", "Snapshot", .absent = "<none>"},
	{"Work", "Work"},
	{"Node", "Node", LIST_ID},
};
const struct list list_group_nodes = {"nodes", LIST_COLUMNS(group_node_columns), "Node", "Work"};
