// berth operator root keyring: the keys that variables are encrypted with.
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/name_path.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/views/list.h"
#include "tools/berth/views/list_tables.h"
#include <stdio.h>

static const char list_path[] = "/v1/operator/keyring/keys";

enum exit_status keyring_list(struct session *session, const char **arguments, int count)
{
	return list_print(session, &list_keys, list_path);
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
