// Rules of what nodes may claim when they register, and the nodes that were refused.
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/file.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/name_path.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/views/list.h"
#include "tools/berth/views/list_tables.h"
#include <stdio.h>

#define FOLDER "/v1/berth/admit"

enum exit_status admit_list(struct session *session, const char **arguments, int count)
{
	return list_print(session, &list_rules, FOLDER);
}

enum exit_status admit_apply(struct session *session, const char **arguments, int count)
{
	json_t *rule, *reply = NULL;
	enum exit_status result = file_read_object(arguments[0], &rule);
	if (result != STATUS_OK)
		return result;
	result = http_put_json(session, FOLDER, rule, &reply);
	if (result == STATUS_OK)
		printf("Nodes that are \"%s\" are admitted by this rule\n",
			field_text(rule, "Pattern"));
	json_decref(reply);
	json_decref(rule);
	return result;
}

enum exit_status admit_delete(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	struct http_answer answer;
	enum exit_status result =
		http_delete(session, name_path(FOLDER, arguments[0], "", path), &answer);
	http_answer_free(&answer);
	if (result == STATUS_OK)
		printf("The rule \"%s\" is deleted\n", arguments[0]);
	return result;
}

enum exit_status admit_refused(struct session *session, const char **arguments, int count)
{
	return list_print(session, &list_refused_nodes, FOLDER "/refused");
}
