#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/lookup.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/views/list.h"
#include "tools/berth/views/list_tables.h"
#include "tools/berth/views/monitor.h"
#include <stdio.h>
#include <string.h>

// The list that the flags ask for.
static enum exit_status list_path(struct session *session, char path[HTTP_PATH_BYTES])
{
	const struct flags *flags = &session->flags;
	char escaped[400], namespace_name[400], id[LOOKUP_BYTES];
	http_escape(flags->values[FLAG_NAMESPACE], namespace_name, sizeof namespace_name);
	if (flag_given(flags, FLAG_NODE)) {
		enum exit_status result = lookup(session, &kind_node, flags->values[FLAG_NODE], id);
		snprintf(path, HTTP_PATH_BYTES, "/v1/node/%s/allocations", id);
		return result;
	}
	if (flag_given(flags, FLAG_JOB)) {
		enum exit_status result = lookup(session, &kind_job, flags->values[FLAG_JOB], id);
		snprintf(path, HTTP_PATH_BYTES, "/v1/job/%s/allocations?namespace=%s",
			http_escape(id, escaped, sizeof escaped), namespace_name);
		return result;
	}
	snprintf(path, HTTP_PATH_BYTES, "/v1/allocations?namespace=%s", namespace_name);
	return STATUS_OK;
}

enum exit_status alloc_list(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	const struct flags *flags = &session->flags;
	if (flag_given(flags, FLAG_NODE) && flag_given(flags, FLAG_JOB))
		return complain(STATUS_USAGE, "--node and --job do not go together");
	enum exit_status result = list_path(session, path);
	return result == STATUS_OK ? list_print(session, &list_allocations, path) : result;
}

static void put_ports(json_t *shared)
{
	static const char *const headings[] = {"Label", "Address", "To", NULL};
	json_t *ports = json_object_get(shared, "Ports"), *port;
	struct table t;
	size_t i;
	if (json_array_size(ports) == 0)
		return;
	table_begin(&t, headings);
	json_array_foreach(ports, i, port)
	{
		table_add(&t, field_text(port, "Label"));
		table_add_format(&t, "%s:%lld", field_text(port, "HostIP"),
			(long long)field_number(port, "Value"));
		table_add_format(&t, "%lld", (long long)field_number(port, "To"));
	}
	printf("\nPorts\n");
	table_print(&t, 2);
}

static void put_task_events(json_t *events)
{
	static const char *const headings[] = {"Time", "Type", "Description", NULL};
	struct table t;
	if (json_array_size(events) == 0)
		return;
	table_begin(&t, headings);
	for (size_t i = json_array_size(events); i-- > 0;) {
		char time[32];
		json_t *event = json_array_get(events, i);
		table_add(&t, field_time(field_number(event, "Time"), time));
		table_add(&t, field_text(event, "Type"));
		table_add(&t, field_text(event, "DisplayMessage"));
	}
	table_print(&t, 2);
}

static void put_tasks(json_t *states)
{
	const char *name;
	json_t *state;
	json_object_foreach(states, name, state)
	{
		bool failed = json_is_true(json_object_get(state, "Failed"));
		printf("\nTask \"%s\" is \"%s\"%s, restarts: %lld\n", name,
			field_text(state, "State"), failed ? " and failed" : "",
			(long long)field_number(state, "Restarts"));
		put_task_events(json_object_get(state, "Events"));
	}
}

static void put_allocation(json_t *a)
{
	char time[32], age[32];
	json_t *resources = json_object_get(a, "Resources");
	json_t *berth = json_object_get(a, "Berth"), *metrics = json_object_get(a, "Metrics");
	int64_t created = field_number(a, "CreateTime"), modified = field_number(a, "ModifyTime");
	const char *client = field_text(berth, "Client"), *evaluation = field_text(a, "EvalID");
	const char *replacement = field_text(a, "NextAllocation");
	struct table t;
	table_begin_pairs(&t);
	table_pair(&t, "ID", "= %s", field_text(a, "ID"));
	table_pair(&t, "Name", "= %s", field_text(a, "Name"));
	table_pair(&t, "Job", "= %s, version %lld", field_text(a, "JobID"),
		(long long)field_number(json_object_get(a, "Job"), "Version"));
	table_pair(&t, "Node", "= %s %s", field_text(a, "NodeID"), field_text(a, "NodeName"));
	table_pair(&t, "Desired", "= %s%s%s", field_text(a, "DesiredStatus"),
		*field_text(a, "DesiredDescription") ? ": " : "",
		field_text(a, "DesiredDescription"));
	table_pair(&t, "Status", "= %s%s%s", field_text(a, "ClientStatus"),
		*field_text(a, "ClientDescription") ? ": " : "",
		field_text(a, "ClientDescription"));
	table_pair(&t, "Created", "= %s (%s)", field_time(created, time), field_age(created, age));
	table_pair(
		&t, "Modified", "= %s (%s)", field_time(modified, time), field_age(modified, age));
	table_pair(&t, "Placed by", "= %s%s", *evaluation ? "evaluation " : "",
		*evaluation ? evaluation
		: *client   ? client
			    : "-");
	if (*replacement)
		table_pair(&t, "Replacement Alloc ID", "= %s", replacement);
	table_pair(&t, "Resources", "= %lld MHz, %lld MiB memory, %lld MiB disk",
		(long long)field_number(resources, "CPU"),
		(long long)field_number(resources, "MemoryMB"),
		(long long)field_number(resources, "DiskMB"));
	if (*evaluation)
		table_pair(&t, "Score", "= %.4f, %lld nodes evaluated", field_real(berth, "Score"),
			(long long)field_number(metrics, "NodesEvaluated"));
	else
		table_pair(&t, "Score", "= %.4f, best of %lld feasible nodes of %lld",
			field_real(berth, "Score"),
			(long long)field_number(metrics, "NodesFeasible"),
			(long long)field_number(metrics, "NodesEvaluated"));
	table_print(&t, 0);
	put_ports(json_object_get(json_object_get(a, "AllocatedResources"), "Shared"));
	put_tasks(json_object_get(a, "TaskStates"));
}

enum exit_status alloc_status(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	const char *id = arguments[0];
	snprintf(path, sizeof path, "/v1/allocation/%s", id);
	return http_show(session, path, put_allocation);
}

enum exit_status alloc_stop(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	json_t *reply;
	const char *id = arguments[0];
	snprintf(path, sizeof path, "/v1/allocation/%s/stop%s", id,
		flag_given(&session->flags, FLAG_NO_SHUTDOWN_DELAY) ? "?no_shutdown_delay=true"
								    : "");
	enum exit_status result = http_put_json(session, path, NULL, &reply);
	const char *evaluation = field_text(reply, "EvalID");
	if (result == STATUS_OK && flag_given(&session->flags, FLAG_JSON))
		field_print(reply);
	else if (result == STATUS_OK && flag_given(&session->flags, FLAG_DETACH))
		printf("%s\n", evaluation);
	else if (result == STATUS_OK && *evaluation)
		result = monitor_evaluation(session, evaluation);
	json_decref(reply);
	return result;
}
