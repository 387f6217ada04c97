// berth node pool: shows, describes and takes away node pools.
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/file.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/name_path.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/views/list.h"
#include "tools/berth/views/list_tables.h"
#include <stdio.h>
#include <stdlib.h>

#define FOLDER "/v1/node/pool"
static const char list_path[] = "/v1/node/pools";

enum exit_status node_pool_list(struct session *session, const char **arguments, int count)
{
	return list_print(session, &list_pools, list_path);
}

static const char *as_configured(json_t *value)
{
	if (json_is_boolean(value))
		return json_is_true(value) ? "true" : "false";
	const char *text = json_string_value(value);
	return text && *text ? text : "as configured for all";
}

static void put_pool(json_t *pool)
{
	json_t *scheduler = json_object_get(pool, "SchedulerConfiguration"), *value;
	struct table t;
	const char *name;
	table_begin_pairs(&t);
	table_pair(&t, "Name", "= %s", field_text(pool, "Name"));
	table_pair(&t, "Description", "= %s", field_or_dash(pool, "Description"));
	table_pair(&t, "Scheduler Algorithm", "= %s",
		as_configured(json_object_get(scheduler, "SchedulerAlgorithm")));
	table_pair(&t, "Memory Oversubscription", "= %s",
		as_configured(json_object_get(scheduler, "MemoryOversubscriptionEnabled")));
	json_object_foreach(json_object_get(pool, "Meta"), name, value)
	{
		char label[256];
		snprintf(label, sizeof label, "Meta %s", name);
		table_pair(&t, label, "= %s", json_string_value(value));
	}
	table_print(&t, 0);
}

enum exit_status node_pool_info(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	return http_show(session, name_path(FOLDER, arguments[0], "", path), put_pool);
}

enum exit_status node_pool_apply(struct session *session, const char **arguments, int count)
{
	json_t *pool, *reply = NULL;
	enum exit_status result = file_read_object(arguments[0], &pool);
	if (result != STATUS_OK)
		return result;
	result = http_put_json(session, list_path, pool, &reply);
	if (result == STATUS_OK)
		printf("Node pool \"%s\" is described\n", field_text(pool, "Name"));
	json_decref(reply);
	json_decref(pool);
	return result;
}

enum exit_status node_pool_delete(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	struct http_answer answer;
	enum exit_status result =
		http_delete(session, name_path(FOLDER, arguments[0], "", path), &answer);
	http_answer_free(&answer);
	if (result == STATUS_OK)
		printf("Node pool \"%s\" is deleted\n", arguments[0]);
	return result;
}
