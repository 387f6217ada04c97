// berth settings: shows and sets how virtual machines are placed.
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/commands/commands.h"
#include <string.h>

static const char path[] = "/v1/cluster-settings";

// Puts what the flags say into the settings. False: a flag's value is no such value.
static bool change_settings(const struct flags *flags, json_t *settings)
{
	if (flag_given(flags, FLAG_PROFILE) &&
		json_object_set_new(settings, "schedulerProfile",
			json_string(flags->values[FLAG_PROFILE])) != 0) {
		complain(STATUS_USAGE, "--profile is no UTF-8 text");
		return false;
	}
	if (!flag_given(flags, FLAG_COUNT_ASSIGNED))
		return true;
	const char *counts = flags->values[FLAG_COUNT_ASSIGNED];
	bool is_true = strcmp(counts, "true") == 0;
	if (!is_true && strcmp(counts, "false") != 0) {
		complain(STATUS_USAGE, "--count-assigned must be true or false");
		return false;
	}
	json_object_set_new(settings, "countAssigned", json_boolean(is_true));
	return true;
}

static enum exit_status set_settings(struct session *session, json_t **settings)
{
	json_t *reply = NULL;
	if (!change_settings(&session->flags, *settings))
		return STATUS_USAGE;
	json_object_del(*settings, "warnings");
	enum exit_status result = http_put_json(session, path, *settings, &reply);
	json_decref(*settings);
	*settings = reply;
	return result;
}

static void print_policies(struct table *t, const json_t *reply)
{
	size_t i;
	json_t *policy;
	json_array_foreach(json_object_get(reply, "hostDirPolicies"), i, policy) table_pair(t,
		i == 0 ? "Host Directories" : "", "= %s%s", field_text(policy, "pathPrefix"),
		json_is_true(json_object_get(policy, "ro")) ? ":ro" : "");
}

enum exit_status cluster_settings_run(struct session *session, const char **arguments, int count)
{
	json_t *reply = NULL;
	enum exit_status result = http_get_json(session, path, &reply);
	if (result == STATUS_OK && (flag_given(&session->flags, FLAG_PROFILE) ||
					   flag_given(&session->flags, FLAG_COUNT_ASSIGNED)))
		result = set_settings(session, &reply);
	if (result == STATUS_OK && flag_given(&session->flags, FLAG_JSON)) {
		field_print(reply);
	} else if (result == STATUS_OK) {
		struct table t;
		table_begin_pairs(&t);
		table_pair(&t, "Scheduler Profile", "= %s", field_text(reply, "schedulerProfile"));
		table_pair(&t, "Count Assigned", "= %s",
			json_is_true(json_object_get(reply, "countAssigned")) ? "true" : "false");
		print_policies(&t, reply);
		table_print(&t, 0);
	}
	json_decref(reply);
	return result;
}
