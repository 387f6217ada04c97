// berth operator root keyring: the keys that variables are encrypted with.
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/name_path.h"
#include "tools/berth/cli/pages.h"
#include "tools/berth/commands/commands.h"
#include <stdio.h>

static const char list_path[] = "/v1/operator/keyring/keys";

static void add_key(json_t *key, void *table)
{
	char time[32];
	table_add(table, field_text(key, "KeyID"));
	table_add(table, field_text(key, "State"));
	table_add(table, field_time(field_number(key, "CreateTime"), time));
}

enum exit_status keyring_list(struct session *session, const char **arguments, int count)
{
	static const char *const headings[] = {"Key", "State", "Create Time", NULL};
	struct table t;
	if (flag_given(&session->flags, FLAG_JSON))
		return http_get_through(session, list_path);
	table_begin(&t, headings);
	return table_finish(&t, pages_each(session, list_path, add_key, &t), 0);
}

enum exit_status keyring_rotate(struct session *session, const char **arguments, int count)
{
	json_t *answer = NULL;
	bool full = flag_given(&session->flags, FLAG_FULL);
	enum exit_status result = http_put_json(session,
		full ? "/v1/operator/keyring/rotate?full=true" : "/v1/operator/keyring/rotate",
		NULL, &answer);
	if (result == STATUS_OK && flag_given(&session->flags, FLAG_JSON))
		field_print(answer);
	else if (result == STATUS_OK)
		printf("Key %s encrypts from now on%s. Back up the keyring's file.\n",
			field_text(json_object_get(answer, "Key"), "KeyID"),
			full ? ", and what older keys encrypted, too" : "");
	json_decref(answer);
	return result;
}

enum exit_status keyring_remove(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	struct http_answer answer;
	enum exit_status result = http_delete(
		session, name_path("/v1/operator/keyring/key", arguments[0], "", path), &answer);
	http_answer_free(&answer);
	if (result == STATUS_OK)
		printf("Key %s is removed\n", arguments[0]);
	return result;
}
