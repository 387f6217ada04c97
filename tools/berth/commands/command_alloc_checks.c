#include "state/base/time_units.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/commands/commands.h"
#include <stdio.h>
#include <string.h>

static void put_check(json_t *check)
{
	char time[32];
	struct table t;
	int64_t code = field_number(check, "StatusCode");
	int64_t at_ns = field_number(check, "Timestamp") * (int64_t)NS_PER_S;
	const char *output = field_text(check, "Output"), *task = field_text(check, "Task");
	table_begin_pairs(&t);
	table_pair(&t, "ID", "= %s", field_text(check, "ID"));
	table_pair(&t, "Name", "= %s", field_text(check, "Check"));
	table_pair(&t, "Group", "= %s", field_text(check, "Group"));
	table_pair(&t, "Task", "= %s", *task ? task : "(group)");
	table_pair(&t, "Service", "= %s", field_text(check, "Service"));
	table_pair(&t, "Status", "= %s", field_text(check, "Status"));
	if (code)
		table_pair(&t, "StatusCode", "= %lld", (long long)code);
	table_pair(&t, "Mode", "= %s", field_text(check, "Mode"));
	table_pair(&t, "Timestamp", "= %s", field_time(at_ns, time));
	table_pair(&t, "Output", "= %.*s", (int)strcspn(output, "\n"), output);
	printf("\n");
	table_print(&t, 0);
}

static void put_checks(json_t *checks)
{
	const char *id;
	json_t *check;
	size_t count = json_object_size(checks);
	if (count == 0)
		printf("the allocation has no checks\n");
	else
		printf("Status of %zu service check%s\n", count, count == 1 ? "" : "s");
	json_object_foreach(checks, id, check) put_check(check);
}

enum exit_status alloc_checks(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	snprintf(path, sizeof path, "/v1/client/allocation/%s/checks", arguments[0]);
	return http_show(session, path, put_checks);
}
