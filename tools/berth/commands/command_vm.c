// berth vm: shows virtual machines.
#include "state/base/time_units.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/members.h"
#include "tools/berth/cli/name_path.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/views/list.h"
#include "tools/berth/views/list_tables.h"
#include <stdio.h>

enum exit_status machine_list(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES] = "/v1/vms", worker[400];
	if (flag_given(&session->flags, FLAG_WORKER))
		snprintf(path, sizeof path, "/v1/vms?worker=%s",
			http_escape(session->flags.values[FLAG_WORKER], worker, sizeof worker));
	return list_print(session, &list_machines, path);
}

static void put_limit(struct table *t, json_t *vm, const char *shown, const char *asked,
	const char *assigned, const char *unit)
{
	int64_t wish = field_number(vm, asked), given = field_number(vm, assigned);
	if (wish)
		table_pair(t, shown, "= %lld%s, assigned %lld", (long long)wish, unit,
			(long long)given);
	else
		table_pair(t, shown, "= its worker's default, assigned %lld%s", (long long)given,
			unit);
}

static void put_conditions(struct table *t, json_t *vm)
{
	char line[256] = "";
	size_t i, at = 0;
	json_t *condition;
	json_array_foreach(json_object_get(vm, "conditions"), i, condition)
	{
		at += (size_t)snprintf(line + at, sizeof line - at, "%s%s=%s", i ? ", " : "",
			field_text(condition, "type"), field_text(condition, "state"));
		if (at >= sizeof line)
			break;
	}
	table_pair(t, "Conditions", "= %s", line);
}

static void put_vm(json_t *vm)
{
	const char *message = field_text(vm, "status_message");
	struct table t;
	table_begin_pairs(&t);
	table_pair(&t, "Name", "= %s", field_text(vm, "name"));
	table_pair(&t, "UID", "= %s", field_text(vm, "uid"));
	table_pair(&t, "Image", "= %s", field_text(vm, "image"));
	table_pair(
		&t, "Status", "= %s%s%s", field_text(vm, "status"), *message ? ": " : "", message);
	table_pair(&t, "Power", "= %s", field_text(vm, "powerState"));
	table_pair(&t, "Worker", "= %s", field_or_dash(vm, "worker"));
	put_limit(&t, vm, "CPU", "cpu", "assignedCPU", "");
	put_limit(&t, vm, "Memory", "memory", "assignedMemory", " MiB");
	put_conditions(&t, vm);
	table_pair(&t, "Restarts", "= %lld, policy %s",
		(long long)field_number(vm, "restart_count"), field_text(vm, "restart_policy"));
	table_pair(&t, "Created", "= %s", field_text(vm, "createdAt"));
	table_pair(&t, "Scheduled", "= %s", field_or_dash(vm, "scheduled_at"));
	table_pair(&t, "Started", "= %s", field_or_dash(vm, "started_at"));
	table_print(&t, 0);
	members_print_counts("Resources", json_object_get(vm, "resources"), NULL);
	members_print_texts("Labels", json_object_get(vm, "labels"));
}

enum exit_status machine_get(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	return http_show(session, name_path("/v1/vms", arguments[0], "", path), put_vm);
}

enum exit_status machine_events(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	json_t *events;
	enum exit_status result = http_get_json(
		session, name_path("/v1/vms", arguments[0], "/events", path), &events);
	if (result == STATUS_OK)
		result = list_print_items(session, &list_machine_events, events);
	json_decref(events);
	return result;
}
