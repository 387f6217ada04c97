// berth settings: shows and sets how virtual machines are placed.
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/commands/commands.h"

static const char path[] = "/v1/cluster-settings";

// What else is set stays so: settings are put as a whole.
static enum exit_status set_profile(struct session *session, json_t **reply)
{
	json_t *profile = json_string(session->flags.values[FLAG_PROFILE]), *body = NULL;
	if (!profile)
		return complain(STATUS_USAGE, "--profile is no UTF-8 text");
	enum exit_status result = http_get_json(session, path, &body);
	if (result == STATUS_OK) {
		json_object_set(body, "schedulerProfile", profile);
		result = http_put_json(session, path, body, reply);
	}
	json_decref(profile);
	json_decref(body);
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
	enum exit_status result = flag_given(&session->flags, FLAG_PROFILE)
					  ? set_profile(session, &reply)
					  : http_get_json(session, path, &reply);
	if (result == STATUS_OK && flag_given(&session->flags, FLAG_JSON)) {
		field_print(reply);
	} else if (result == STATUS_OK) {
		struct table t;
		table_begin_pairs(&t);
		table_pair(&t, "Scheduler Profile", "= %s", field_text(reply, "schedulerProfile"));
		print_policies(&t, reply);
		table_print(&t, 0);
	}
	json_decref(reply);
	return result;
}
