#include "tools/api/orchard/host_dirs.h"
#include <jansson.h>

static size_t size_without_slash(const char *path)
{
	size_t size = strlen(path);
	return size > 0 && path[size - 1] == '/' ? size - 1 : size;
}

// As Orchard compares them: the prefix is one of text, not of folders.
static bool policy_allows(const struct host_dir_policy *policy, const char *path, bool read_only)
{
	size_t size = size_without_slash(policy->path_prefix);

	return !strstr(path, "..") && (read_only || !policy->read_only) &&
	       size_without_slash(path) >= size && strncmp(path, policy->path_prefix, size) == 0;
}

static bool is_allowed(const struct array *policies, const char *path, bool read_only)
{
	for (uint32_t i = 0; i < policies->count; i++)
		if (policy_allows(ARRAY_AT(policies, struct host_dir_policy, i), path, read_only))
			return true;
	return false;
}

bool host_dirs_are_allowed(const struct request *request, const struct vm *vm, struct reply *reply)
{
	json_t *dirs = vm->host_dirs ? json_loads(vm->host_dirs, JSON_DECODE_ANY, NULL) : NULL;
	size_t i;
	json_t *dir;

	state_read_begin();
	const struct array *policies =
		&state_cluster_settings(request->api->settings.state)->host_dir_policies;
	json_array_foreach(dirs, i, dir)
	{
		const char *name = json_string_value(json_object_get(dir, "name"));
		const char *path = json_string_value(json_object_get(dir, "path"));
		bool read_only = json_is_true(json_object_get(dir, "ro"));
		if (path && is_allowed(policies, path, read_only))
			continue;
		reply_mistake(reply,
			"host directory \"%.128s:%.512s%s\" is disallowed by policy, check your "
			"cluster settings",
			name ? name : "", path ? path : "", read_only ? ":ro" : "");
		break;
	}
	state_read_end();
	json_decref(dirs);
	return !reply->status;
}
