// berth liveness: whether the expiry of nodes is held, and the order to go on with it.
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/commands/commands.h"
#include <stdio.h>

static void put_liveness(json_t *liveness)
{
	struct table t;
	table_begin_pairs(&t);
	table_pair(&t, "Expiry", "= %s", field_text(liveness, "Expiry"));
	table_pair(&t, "Reason", "= %s", field_text(liveness, "Reason"));
	table_pair(&t, "Nodes", "= %lld", (long long)field_number(liveness, "Nodes"));
	table_pair(&t, "Silent", "= %lld", (long long)field_number(liveness, "Silent"));
	table_pair(&t, "Holds", "= %lld", (long long)field_number(liveness, "Holds"));
	table_print(&t, 0);
}

enum exit_status liveness_status(struct session *session, const char **arguments, int count)
{
	return http_show(session, "/v1/berth/liveness", put_liveness);
}

enum exit_status liveness_release(struct session *session, const char **arguments, int count)
{
	json_t *reply;
	enum exit_status result =
		http_put_json(session, "/v1/berth/liveness/release", NULL, &reply);
	if (result == STATUS_OK && flag_given(&session->flags, FLAG_JSON))
		field_print(reply);
	else if (result == STATUS_OK)
		puts(json_is_true(json_object_get(reply, "Released"))
				? "Silent nodes expire now."
				: "The expiry of nodes was not held.");
	json_decref(reply);
	return result;
}
