// berth worker: the nodes that run virtual machines.
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/members.h"
#include "tools/berth/cli/name_path.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/views/list.h"
#include "tools/berth/views/list_tables.h"
#include <stdio.h>

static const char *paused_text(json_t *worker)
{
	return json_is_true(json_object_get(worker, "scheduling_paused")) ? "paused" : "open";
}

enum exit_status worker_list(struct session *session, const char **arguments, int count)
{
	return list_print(session, &list_workers, "/v1/workers");
}

static void put_worker(json_t *worker)
{
	struct table t;
	table_begin_pairs(&t);
	table_pair(&t, "Name", "= %s", field_text(worker, "name"));
	table_pair(&t, "Machine ID", "= %s", field_text(worker, "machine_id"));
	table_pair(&t, "Status", "= %s", field_text(worker, "status"));
	table_pair(&t, "Scheduling", "= %s", paused_text(worker));
	table_pair(&t, "Last Seen", "= %s", field_text(worker, "last_seen"));
	table_pair(&t, "Node", "= %s", field_text(worker, "node"));
	table_print(&t, 0);
	members_print_counts(
		"Resources", json_object_get(worker, "resources"), json_object_get(worker, "used"));
	members_print_texts("Labels", json_object_get(worker, "labels"));
}

static enum exit_status put_machines(struct session *session, const char *name)
{
	char path[HTTP_PATH_BYTES];
	char escaped[400];
	http_escape(name, escaped, sizeof escaped);
	snprintf(path, sizeof path, "/v1/vms?worker=%s", escaped);
	printf("\nVirtual Machines\n");
	return list_part(session, &list_machines, NULL, path, NULL, 2);
}

enum exit_status worker_get(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	json_t *worker;
	enum exit_status result =
		http_get_json(session, name_path("/v1/workers", arguments[0], "", path), &worker);
	if (result != STATUS_OK)
		return result;
	if (flag_given(&session->flags, FLAG_JSON)) {
		field_print(worker);
	} else {
		put_worker(worker);
		result = put_machines(session, arguments[0]);
	}
	json_decref(worker);
	return result;
}

static enum exit_status set_paused(struct session *session, const char *name, bool paused)
{
	char path[HTTP_PATH_BYTES];
	json_t *reply, *body = json_pack("{s:b}", "scheduling_paused", paused);
	enum exit_status result =
		http_put_json(session, name_path("/v1/workers", name, "", path), body, &reply);
	if (result == STATUS_OK && flag_given(&session->flags, FLAG_JSON))
		field_print(reply);
	else if (result == STATUS_OK)
		printf("Worker \"%s\" takes %s\n", name,
			paused ? "no new machines" : "machines again");
	json_decref(reply);
	json_decref(body);
	return result;
}

enum exit_status worker_pause(struct session *session, const char **arguments, int count)
{
	return set_paused(session, arguments[0], true);
}

enum exit_status worker_resume(struct session *session, const char **arguments, int count)
{
	return set_paused(session, arguments[0], false);
}

enum exit_status worker_delete(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	struct http_answer answer;
	enum exit_status result =
		http_delete(session, name_path("/v1/workers", arguments[0], "", path), &answer);
	http_answer_free(&answer);
	if (result == STATUS_OK && flag_given(&session->flags, FLAG_JSON))
		puts("{}");
	else if (result == STATUS_OK)
		printf("Deleted worker \"%s\"\n", arguments[0]);
	return result;
}
