// `berth status`: shows the object that an id belongs to.
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/lookup.h"
#include "tools/berth/commands/commands.h"
#include <stdio.h>
#include <string.h>

static const struct {
	const char *context, *noun;
	command_run *run;
} kinds[] = {
	{"jobs", "job", job_status},
	{"nodes", "node", node_status},
	{"allocs", "allocation", alloc_status},
	{"evals", "evaluation", eval_status},
	{"deployment", "deployment", deployment_status},
};
#define KINDS (sizeof kinds / sizeof kinds[0])

// The match of a kind: the one that equals the text, else the only one. NULL for no match or several.
static const char *match_of(json_t *matches, const char *id)
{
	size_t i;
	json_t *match;
	json_array_foreach(matches, i, match)
	{
		if (strcmp(json_string_value(match), id) == 0)
			return json_string_value(match);
	}
	return json_array_size(matches) == 1 ? json_string_value(json_array_get(matches, 0)) : NULL;
}

static enum exit_status show_match(struct session *session, const char *id, json_t *matches)
{
	size_t found = 0, kind = 0;
	char node[LOOKUP_BYTES];
	const char *named = node;
	for (size_t i = 0; i < KINDS; i++) {
		json_t *of_kind = json_object_get(matches, kinds[i].context);
		const char *match = match_of(of_kind, id);
		// A job with exactly this name goes before ids that begin like it.
		if (match && i == 0 && strcmp(match, id) == 0)
			return kinds[0].run(session, &match, 1);
		if (json_array_size(of_kind)) {
			found += json_array_size(of_kind);
			kind = i;
		}
	}
	if (found == 0 && lookup_name(session, &kind_node, id, node))
		return node_status(session, &named, 1);
	if (found == 0)
		return complain(STATUS_NOT_FOUND,
			"no job, node, allocation, evaluation or deployment begins with \"%s\"",
			id);
	if (found > 1)
		return complain(STATUS_NOT_FOUND,
			"several things begin with \"%s\"; give more of the id, or use berth job "
			"status, node status, alloc status, eval status or deployment status",
			id);
	const char *match =
		json_string_value(json_array_get(json_object_get(matches, kinds[kind].context), 0));
	return kinds[kind].run(session, &match, 1);
}

enum exit_status find_status(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES], namespace_name[400];
	json_t *reply;
	if (count == 0)
		return job_list(session, arguments, count);
	snprintf(path, sizeof path, "/v1/search?namespace=%s",
		http_escape(session->flags.values[FLAG_NAMESPACE], namespace_name,
			sizeof namespace_name));
	json_t *body = json_pack("{s:s,s:s}", "Prefix", arguments[0], "Context", "all");
	enum exit_status result = http_put_json(session, path, body, &reply);
	if (result == STATUS_OK)
		result = show_match(session, arguments[0], json_object_get(reply, "Matches"));
	json_decref(reply);
	json_decref(body);
	return result;
}
