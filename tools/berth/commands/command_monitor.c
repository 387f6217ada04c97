// berth monitor: the log of a controller, while it is written.
#include "tools/berth/cli/http.h"
#include "tools/berth/commands/commands.h"
#include <stdio.h>
#include <string.h>

static void add_parameter(char path[static HTTP_PATH_BYTES], const struct flags *flags,
	enum flag flag, const char *name)
{
	char escaped[400];
	const char *value = flags->values[flag];
	if (value)
		snprintf(path + strlen(path), HTTP_PATH_BYTES - strlen(path), "&%s=%s", name,
			http_escape(value, escaped, sizeof escaped));
}

enum exit_status show_log(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	const struct flags *flags = &session->flags;
	snprintf(path, sizeof path, "/v1/agent/monitor?plain=true%s",
		flag_given(flags, FLAG_JSON) ? "&log_json=true" : "");
	add_parameter(path, flags, FLAG_LOG_LEVEL, "log_level");
	add_parameter(path, flags, FLAG_SERVER_ID, "server_id");
	add_parameter(path, flags, FLAG_NODE_ID, "node_id");
	setlinebuf(stdout);
	http_without_end(session);
	return http_get_into(session, path, stdout);
}
