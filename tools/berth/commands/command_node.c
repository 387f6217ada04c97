#include "state/base/time_units.h"
#include "state/base/uuid.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/members.h"
#include "tools/berth/cli/pages.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/commands/node_targets.h"
#include "tools/berth/views/list.h"
#include "tools/berth/views/list_tables.h"
#include <stdio.h>
#include <string.h>

enum exit_status node_list(struct session *session, const char **arguments, int count)
{
	return list_print(session, &list_nodes, "/v1/nodes");
}

static void put_resource(
	struct table *t, const char *name, json_t *node, const char *member, const char *unit)
{
	int64_t total = field_number(json_object_get(node, "Resources"), member);
	int64_t reserved = field_number(json_object_get(node, "Reserved"), member);
	json_t *used = json_object_get(json_object_get(node, "Berth"), "Used");
	table_add(t, name);
	table_add_format(t, "%lld %s", (long long)field_number(used, member), unit);
	table_add_format(t, "%lld %s", (long long)(total - reserved), unit);
	table_add_format(t, "%lld %s", (long long)reserved, unit);
}

static void put_resources(json_t *node)
{
	static const char *const headings[] = {"Resource", "Used", "Capacity", "Reserved", NULL};
	struct table t;
	table_begin(&t, headings);
	put_resource(&t, "CPU", node, "CPU", "MHz");
	put_resource(&t, "Memory", node, "MemoryMB", "MiB");
	put_resource(&t, "Disk", node, "DiskMB", "MiB");
	printf("\nResources\n");
	table_print(&t, 2);
}

static void put_devices(json_t *node)
{
	static const char *const headings[] = {"Device", "Instances", NULL};
	json_t *devices = json_object_get(json_object_get(node, "NodeResources"), "Devices");
	if (json_array_size(devices) == 0)
		return;
	struct table t;
	table_begin(&t, headings);
	for (size_t i = 0; i < json_array_size(devices); i++) {
		json_t *group = json_array_get(devices, i);
		table_add_format(&t, "%s/%s/%s", field_text(group, "Vendor"),
			field_text(group, "Type"), field_text(group, "Name"));
		table_add_format(&t, "%zu", json_array_size(json_object_get(group, "Instances")));
	}
	printf("\nDevices\n");
	table_print(&t, 2);
}

static void put_events(json_t *node)
{
	static const char *const headings[] = {"Time", "Subsystem", "Message", NULL};
	json_t *events = json_object_get(node, "Events");
	struct table t;
	if (json_array_size(events) == 0)
		return;
	table_begin(&t, headings);
	for (size_t i = json_array_size(events); i-- > 0;) {
		json_t *event = json_array_get(events, i);
		table_add(&t, field_text(event, "Timestamp"));
		table_add(&t, field_text(event, "Subsystem"));
		table_add(&t, field_text(event, "Message"));
	}
	printf("\nNode Events\n");
	table_print(&t, 2);
}

// Prints a drain's start and deadline, or how the last drain ended.
static void put_drain(struct table *t, json_t *node)
{
	json_t *strategy = json_object_get(node, "DrainStrategy");
	json_t *last = json_object_get(node, "LastDrain");
	const char *deadline = field_text(strategy, "ForceDeadline");
	bool limited = *deadline && strncmp(deadline, "0001-", 5) != 0;
	if (json_is_object(strategy))
		table_pair(t, "Drain", "= since %s%s%s%s", field_text(strategy, "StartedAt"),
			limited ? ", until " : "", limited ? deadline : "",
			json_is_true(json_object_get(strategy, "IgnoreSystemJobs"))
				? ", system jobs stay"
				: "");
	else if (json_is_object(last))
		table_pair(t, "Last drain", "= %s, %s", field_text(last, "Status"),
			field_text(last, "UpdatedAt"));
}

// Prints the node's standing, which is beside its status: why and since when.
static void put_standing(struct table *t, json_t *lifecycle)
{
	const char *since = field_text(lifecycle, "Since");
	const char *snapshot = field_text(lifecycle, "Snapshot");
	bool is_lost = json_is_true(json_object_get(lifecycle, "Lost"));
	bool is_flaky = json_is_true(json_object_get(lifecycle, "Flaky"));
	bool is_awaited = json_is_false(json_object_get(lifecycle, "Ready"));
	table_pair(t, "Standing", "= %s%s%s%s%s", field_text(lifecycle, "Standing"),
		is_lost ? ", lost since " : "", is_flaky ? ", flaky since " : "", since,
		is_awaited ? ", not ready" : "");
	if (*snapshot)
		table_pair(t, "Snapshot", "= %s", snapshot);
}

static void put_clone(struct table *t, json_t *clone)
{
	if (json_is_object(clone))
		table_pair(t, "Clone", "= at %s, refused since %s; the node is at %s",
			field_text(clone, "Address"), field_text(clone, "Since"),
			field_text(clone, "Beside"));
}

static void put_node(json_t *node)
{
	char time[32], age[32];
	json_t *berth = json_object_get(node, "Berth");
	int64_t updated_ns = field_number(node, "StatusUpdatedAt") * NS_PER_S;
	struct table t;
	table_begin_pairs(&t);
	table_pair(&t, "ID", "= %s", field_text(node, "ID"));
	table_pair(&t, "Name", "= %s", field_text(node, "Name"));
	table_pair(&t, "Status", "= %s%s%s", field_text(node, "Status"),
		*field_text(node, "StatusDescription") ? ": " : "",
		field_text(node, "StatusDescription"));
	table_pair(
		&t, "Since", "= %s (%s)", field_time(updated_ns, time), field_age(updated_ns, age));
	put_standing(&t, json_object_get(berth, "Lifecycle"));
	put_clone(&t, json_object_get(berth, "Clone"));
	put_drain(&t, node);
	table_pair(&t, "Eligibility", "= %s", field_text(node, "SchedulingEligibility"));
	table_pair(&t, "Datacenter", "= %s", field_text(node, "Datacenter"));
	table_pair(&t, "Class", "= %s", field_text(node, "NodeClass"));
	table_pair(&t, "Pool", "= %s", field_text(node, "NodePool"));
	table_pair(&t, "Address", "= %s", field_text(node, "HTTPAddr"));
	table_pair(&t, "Agent", "= %s", field_text(berth, "AgentVersion"));
	table_pair(&t, "Registered", "= %s", field_text(berth, "RegisteredAt"));
	table_pair(&t, "Slot", "= %lld, generation %lld", (long long)field_number(berth, "Slot"),
		(long long)field_number(berth, "Generation"));
	table_print(&t, 0);
	put_resources(node);
	put_devices(node);
	put_events(node);
	members_print_texts("Attributes", json_object_get(node, "Attributes"));
	members_print_texts("Meta", json_object_get(node, "Meta"));
}

struct eligibility {
	bool enable, is_one;
};

static enum exit_status set_eligibility(struct session *session, const char *id, void *context)
{
	char path[HTTP_PATH_BYTES];
	const struct eligibility *e = context;
	json_t *reply, *body = json_pack("{s:s,s:s}", "NodeID", id, "Eligibility",
			       e->enable ? "eligible" : "ineligible");
	snprintf(path, sizeof path, "/v1/node/%s/eligibility", id);
	enum exit_status result = http_put_json(session, path, body, &reply);
	if (result == STATUS_OK && flag_given(&session->flags, FLAG_JSON))
		field_print(reply);
	else if (result == STATUS_OK && e->is_one)
		printf("Node \"%s\" scheduling eligibility set: %s for scheduling\n", id,
			e->enable ? "eligible" : "ineligible");
	json_decref(reply);
	json_decref(body);
	return result;
}

enum exit_status node_eligibility(struct session *session, const char **arguments, int count)
{
	struct eligibility e = {.enable = flag_given(&session->flags, FLAG_ENABLE)};
	json_t *ids;
	if (e.enable == flag_given(&session->flags, FLAG_DISABLE))
		return complain(STATUS_USAGE, "one of --enable and --disable is needed");
	enum exit_status result = node_targets(session, arguments, count, &ids);
	if (result != STATUS_OK)
		return result;
	e.is_one = json_array_size(ids) == 1;
	result = node_targets_each(session, ids,
		e.enable ? "eligible for scheduling" : "ineligible for scheduling", set_eligibility,
		&e);
	json_decref(ids);
	return result;
}

enum exit_status node_status(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	if (count == 0)
		return node_list(session, arguments, count);
	const char *id = arguments[0];
	snprintf(path, sizeof path, "/v1/node/%s", id);
	json_t *node;
	enum exit_status result = http_get_json(session, path, &node);
	if (result != STATUS_OK)
		return result;
	if (flag_given(&session->flags, FLAG_JSON)) {
		field_print(node);
	} else {
		put_node(node);
		snprintf(path, sizeof path, "/v1/node/%s/allocations", id);
		result = list_part(session, &list_allocations, NULL, path, "\nAllocations\n", 2);
	}
	json_decref(node);
	return result;
}
