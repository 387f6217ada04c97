// Restarts and signals of allocations, and what they use, by way of the nodes that run them.
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/commands/node_side/alloc_targets.h"
#include <stdio.h>

// Sends the body, and releases it. "" of a task is all.
static enum exit_status send_wish(
	struct session *session, const char *id, const char *what, json_t *body)
{
	char path[HTTP_PATH_BYTES];
	json_t *reply;
	snprintf(path, sizeof path, "/v1/client/allocation/%s/%s", id, what);
	enum exit_status result = http_put_json(session, path, body, &reply);
	if (result == STATUS_OK && flag_given(&session->flags, FLAG_JSON))
		field_print(reply);
	json_decref(reply);
	json_decref(body);
	return result;
}

static enum exit_status find_target(struct session *session, const char **arguments, int count,
	char id[static LOOKUP_BYTES], char task[static LOOKUP_BYTES])
{
	int used;
	enum exit_status result = alloc_target(session, arguments, count, id, &used);
	if (result == STATUS_OK)
		result = alloc_target_task(
			session, id, count > used ? arguments[used] : NULL, false, task);
	return result;
}

enum exit_status alloc_restart(struct session *session, const char **arguments, int count)
{
	char id[LOOKUP_BYTES], task[LOOKUP_BYTES];
	bool all = flag_given(&session->flags, FLAG_ALL_TASKS);
	enum exit_status result = find_target(session, arguments, count, id, task);
	if (result != STATUS_OK)
		return result;
	if (all && *task)
		return complain(STATUS_USAGE, "--all-tasks and a task do not go together");
	return send_wish(
		session, id, "restart", json_pack("{s:s s:b}", "TaskName", task, "AllTasks", all));
}

enum exit_status alloc_signal(struct session *session, const char **arguments, int count)
{
	char id[LOOKUP_BYTES], task[LOOKUP_BYTES];
	enum exit_status result = find_target(session, arguments, count, id, task);
	if (result != STATUS_OK)
		return result;
	return send_wish(session, id, "signal",
		json_pack("{s:s s:s}", "Task", task, "Signal", session->flags.values[FLAG_SIGNAL]));
}

static void add_usage(struct table *t, const char *name, json_t *usage, size_t processes)
{
	json_t *cpu = json_object_get(usage, "CpuStats"),
	       *memory = json_object_get(usage, "MemoryStats");
	table_add(t, name);
	table_add_format(t, "%.0f MHz", field_real(cpu, "TotalTicks"));
	table_add_format(t, "%.1f %%", field_real(cpu, "Percent"));
	table_add_format(t, "%.1f MiB", (double)field_number(memory, "RSS") / 1048576);
	table_add_format(t, "%.1f MiB", (double)field_number(memory, "Swap") / 1048576);
	table_add_format(t, "%zu", processes);
}

static void put_stats(json_t *stats)
{
	static const char *const headings[] = {
		"Task", "CPU", "Of a core", "Memory", "Swap", "Processes", NULL};
	struct table t;
	const char *name;
	size_t all = 0;
	json_t *task, *tasks = json_object_get(stats, "Tasks");
	table_begin(&t, headings);
	json_object_foreach(tasks, name, task)
	{
		size_t processes = json_object_size(json_object_get(task, "Pids"));
		all += processes;
		add_usage(&t, name, json_object_get(task, "ResourceUsage"), processes);
	}
	if (json_object_size(tasks) != 1)
		add_usage(&t, "all", json_object_get(stats, "ResourceUsage"), all);
	table_print(&t, 0);
}

enum exit_status alloc_stats(struct session *session, const char **arguments, int count)
{
	char id[LOOKUP_BYTES], task[LOOKUP_BYTES], escaped[3 * LOOKUP_BYTES], path[HTTP_PATH_BYTES];
	enum exit_status result = find_target(session, arguments, count, id, task);
	if (result != STATUS_OK)
		return result;
	snprintf(path, sizeof path, "/v1/client/allocation/%s/stats%s%s", id, *task ? "?task=" : "",
		http_escape(task, escaped, sizeof escaped));
	return http_show(session, path, put_stats);
}
