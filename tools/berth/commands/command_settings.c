// berth settings: shows and sets how virtual machines are placed.
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/commands/commands.h"

static const char path[] = "/v1/cluster-settings";

static enum exit_status set_profile(struct session *session, json_t **reply)
{
	json_t *body = json_pack("{s:s}", "schedulerProfile", session->flags.values[FLAG_PROFILE]);
	enum exit_status result = body ? http_put_json(session, path, body, reply)
				       : complain(STATUS_USAGE, "--profile is no UTF-8 text");
	json_decref(body);
	return result;
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
		table_print(&t, 0);
	}
	json_decref(reply);
	return result;
}
