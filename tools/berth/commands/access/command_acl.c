// berth acl bootstrap, berth acl policy: the first token, and what tokens may.
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/file.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/name_path.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/commands/access/acl_commands.h"
#include "tools/berth/views/list.h"
#include "tools/berth/views/list_tables.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "/v1/acl/policy"
static const char list_path[] = "/v1/acl/policies";

char *acl_secret_read(const char *file)
{
	char *text, *begin;
	size_t size;
	if (file_read(file, &text, &size) != STATUS_OK)
		return NULL;
	for (begin = text; isspace((unsigned char)*begin); begin++)
		;
	size = strlen(begin);
	while (size && isspace((unsigned char)begin[size - 1]))
		size--;
	memmove(text, begin, size);
	text[size] = '\0';
	return text;
}

enum exit_status acl_bootstrap(struct session *session, const char **arguments, int count)
{
	json_t *body = json_object(), *token = NULL;
	char *secret = count ? acl_secret_read(arguments[0]) : NULL;
	enum exit_status result = count && !secret ? STATUS_FAILURE : STATUS_OK;
	if (secret)
		json_object_set_new(body, "BootstrapSecret", json_string(secret));
	free(secret);
	if (result == STATUS_OK)
		result = http_put_json(session, "/v1/acl/bootstrap", body, &token);
	if (result == STATUS_OK)
		acl_token_print(session, token);
	json_decref(token);
	json_decref(body);
	return result;
}

enum exit_status acl_policy_list(struct session *session, const char **arguments, int count)
{
	return list_print(session, &list_policies, list_path);
}

static void put_policy(json_t *policy)
{
	struct table t;
	table_begin_pairs(&t);
	table_pair(&t, "Name", "= %s", field_text(policy, "Name"));
	table_pair(&t, "Description", "= %s", field_or_dash(policy, "Description"));
	table_pair(&t, "Create Index", "= %ld", (long)field_number(policy, "CreateIndex"));
	table_pair(&t, "Modify Index", "= %ld", (long)field_number(policy, "ModifyIndex"));
	table_print(&t, 0);
	printf("\n%s\n", field_text(policy, "Rules"));
}

enum exit_status acl_policy_info(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	return http_show(session, name_path(FOLDER, arguments[0], "", path), put_policy);
}

// Whose tasks have the policy by themselves; NULL: tokens alone.
static json_t *job_of(const struct flags *flags)
{
	const char *job = flags->values[FLAG_JOB], *group = flags->values[FLAG_GROUP],
		   *task = flags->values[FLAG_TASK];
	if (!job && !group && !task)
		return NULL;
	return json_pack("{s:s,s:s,s:s,s:s}", "Namespace", flags->values[FLAG_NAMESPACE], "JobID",
		job ? job : "", "Group", group ? group : "", "Task", task ? task : "");
}

enum exit_status acl_policy_apply(struct session *session, const char **arguments, int count)
{
	const char *description = session->flags.values[FLAG_DESCRIPTION];
	char *rules, path[HTTP_PATH_BYTES];
	size_t size;
	json_t *reply = NULL;
	enum exit_status result = file_read(arguments[1], &rules, &size);
	if (result != STATUS_OK)
		return result;
	json_t *policy = json_pack("{s:s,s:s,s:o*}", "Name", arguments[0], "Description",
		description ? description : "", "JobACL", job_of(&session->flags));
	json_t *text = policy ? json_stringn(rules, size) : NULL;
	free(rules);
	if (!text || json_object_set_new(policy, "Rules", text) != 0) {
		json_decref(policy);
		return complain(STATUS_USAGE, "%s: is not UTF-8 text", arguments[1]);
	}
	result = http_put_json(session, name_path(FOLDER, arguments[0], "", path), policy, &reply);
	if (result == STATUS_OK)
		printf("Policy \"%s\" is described\n", arguments[0]);
	json_decref(reply);
	json_decref(policy);
	return result;
}

enum exit_status acl_delete(
	struct session *session, const char *folder, const char *noun, const char *name)
{
	char path[HTTP_PATH_BYTES];
	struct http_answer answer;
	enum exit_status result = http_delete(session, name_path(folder, name, "", path), &answer);
	http_answer_free(&answer);
	if (result == STATUS_OK)
		printf("%s \"%s\" is deleted\n", noun, name);
	return result;
}

enum exit_status acl_policy_delete(struct session *session, const char **arguments, int count)
{
	return acl_delete(session, FOLDER, "Policy", arguments[0]);
}
