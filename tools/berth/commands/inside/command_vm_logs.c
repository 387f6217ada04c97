// berth vm logs: what a worker told of its machine, such as the lines of its startup script.
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/name_path.h"
#include "tools/berth/commands/commands.h"
#include <stdio.h>
#include <string.h>

static void put_lines(json_t *events)
{
	json_t *event;
	size_t i;
	json_array_foreach(events, i, event)
	{
		if (strcmp(field_text(event, "kind"), "log_line") == 0)
			puts(field_text(event, "payload"));
	}
}

enum exit_status machine_logs(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	return http_show(session, name_path("/v1/vms", arguments[0], "/events", path), put_lines);
}
