// berth node purge: forgets nodes.
#include "tools/berth/cli/http.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/commands/node_targets.h"
#include <stdio.h>

static enum exit_status purge(struct session *session, const char *id, void *context)
{
	char path[HTTP_PATH_BYTES];
	json_t *reply;
	snprintf(path, sizeof path, "/v1/node/%s/purge", id);
	enum exit_status result = http_put_json(session, path, NULL, &reply);
	if (result == STATUS_OK && *(const bool *)context)
		printf("Purged node \"%s\"\n", id);
	json_decref(reply);
	return result;
}

enum exit_status node_purge(struct session *session, const char **arguments, int count)
{
	json_t *ids;
	enum exit_status result = node_targets(session, arguments, count, &ids);
	if (result != STATUS_OK)
		return result;
	bool is_one = json_array_size(ids) == 1;
	result = node_targets_each(session, ids, "purged", purge, &is_one);
	json_decref(ids);
	return result;
}
