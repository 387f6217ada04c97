// berth var: lists variables, shows one, and purges it.
#include "state/base/text.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/members.h"
#include "tools/berth/cli/pages.h"
#include "tools/berth/commands/access/var_commands.h"
#include "tools/berth/commands/access/var_spec.h"
#include "tools/berth/views/list.h"
#include "tools/berth/views/list_tables.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME_BYTES 800u

bool var_path(const char *namespace_name, const char *variable, char *path)
{
	char escaped[NAME_BYTES], space[NAME_BYTES];
	http_escape(variable, escaped, sizeof escaped);
	http_escape(namespace_name, space, sizeof space);
	int size = snprintf(path, HTTP_PATH_BYTES, "/v1/var/%s?namespace=%s", escaped, space);
	if (size > 0 && size < (int)HTTP_PATH_BYTES)
		return true;
	complain(STATUS_USAGE, "the path or its namespace is too long");
	return false;
}

char *var_trimmed(const char *path)
{
	path += strspn(path, "/ \t\n");
	size_t size = strlen(path);
	while (size && strchr("/ \t\n", path[size - 1]))
		size--;
	return text_copy((struct text){path, (uint32_t)size});
}

static bool has_word(const char *words, const char *word)
{
	size_t size = strlen(word);
	for (const char *at = words; *at; at += strspn(at, " ")) {
		size_t length = strcspn(at, " ");
		if (length == size && strncmp(at, word, size) == 0)
			return true;
		at += length;
	}
	return false;
}

bool var_out(const struct flags *flags, const char *words, const char *for_people, const char **out)
{
	*out = flags->values[FLAG_OUT];
	if (flag_given(flags, FLAG_JSON))
		*out = "json";
	if (!*out)
		*out = isatty(STDOUT_FILENO) ? for_people : "json";
	if (has_word(words, *out))
		return true;
	complain(STATUS_USAGE, "--out: \"%s\" is none of: %s", *out, words);
	return false;
}

bool var_check_index(const struct flags *flags, bool *given, uint64_t *index)
{
	char message[160];
	*given = flag_given(flags, FLAG_CHECK_INDEX);
	if (flag_number(flags, FLAG_CHECK_INDEX, 0, UINT64_MAX, index, message, sizeof message))
		return true;
	complain(STATUS_USAGE, "%s", message);
	return false;
}

enum exit_status var_conflict(const char *body, size_t size)
{
	json_t *now = body ? json_loadb(body, size, 0, NULL) : NULL;
	int64_t index = field_number(now, "ModifyIndex");
	char time[32];
	if (index)
		complain(STATUS_REFUSED,
			"the variable is at index %" PRId64 ", which was set at %s: give that as "
			"--check-index, or --force",
			index, field_time(field_number(now, "ModifyTime"), time));
	else
		complain(STATUS_REFUSED,
			"there is no such variable: give --check-index 0, or --force");
	json_decref(now);
	return STATUS_REFUSED;
}

static void print_table(json_t *variable)
{
	char time[32];
	struct table t;
	table_begin_pairs(&t);
	table_pair(&t, "Namespace", "= %s", field_text(variable, "Namespace"));
	table_pair(&t, "Path", "= %s", field_text(variable, "Path"));
	table_pair(
		&t, "Create Time", "= %s", field_time(field_number(variable, "CreateTime"), time));
	table_pair(
		&t, "Modify Time", "= %s", field_time(field_number(variable, "ModifyTime"), time));
	table_pair(&t, "Check Index", "= %lld", (long long)field_number(variable, "ModifyIndex"));
	table_print(&t, 0);
	members_print_texts("Items", json_object_get(variable, "Items"));
}

void var_print(json_t *variable, const char *out)
{
	if (strcmp(out, "json") == 0)
		field_print(variable);
	else if (strcmp(out, "hcl") == 0)
		var_spec_print_hcl(variable);
	else if (strcmp(out, "table") == 0)
		print_table(variable);
}

static enum exit_status print_item(json_t *variable, const char *item)
{
	json_t *value = json_object_get(json_object_get(variable, "Items"), item);
	if (!value)
		return complain(STATUS_NOT_FOUND, "the variable has no item \"%s\"", item);
	printf("%s\n", json_string_value(value));
	return STATUS_OK;
}

enum exit_status var_get(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES], *trimmed = var_trimmed(arguments[0]);
	const char *out, *item = session->flags.values[FLAG_ITEM];
	json_t *variable = NULL;
	bool fine = var_out(&session->flags, "table json hcl none", "table", &out) &&
		    var_path(session->flags.values[FLAG_NAMESPACE], trimmed, path);
	enum exit_status result = fine ? http_get_json(session, path, &variable) : STATUS_USAGE;
	free(trimmed);
	if (result == STATUS_OK && item)
		result = print_item(variable, item);
	else if (result == STATUS_OK)
		var_print(variable, out);
	json_decref(variable);
	return result;
}

static void ignore_variable(json_t *variable, void *unused)
{
}

enum exit_status var_list(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES], prefix[NAME_BYTES], space[NAME_BYTES];
	struct flags *flags = &session->flags;
	const char *out = "table";
	bool says_form = flag_given(flags, FLAG_OUTPUT) || flag_given(flags, FLAG_COLUMNS);
	if (!says_form && !var_out(flags, "table json terse none", "table", &out))
		return STATUS_USAGE;
	http_escape(count ? arguments[0] : "", prefix, sizeof prefix);
	http_escape(flags->values[FLAG_NAMESPACE], space, sizeof space);
	snprintf(path, sizeof path, "/v1/vars?prefix=%.400s&namespace=%.500s", prefix, space);
	if (strcmp(out, "none") == 0)
		return pages_each(session, path, ignore_variable, NULL);
	if (strcmp(out, "table") != 0)
		flags->values[FLAG_OUTPUT] = strcmp(out, "terse") == 0 ? "name" : out;
	return list_print(session, &list_variables, path);
}

enum exit_status var_purge(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES], *trimmed = var_trimmed(arguments[0]);
	struct http_answer answer = {0};
	uint64_t index = 0;
	bool checks;
	bool fine = var_check_index(&session->flags, &checks, &index) &&
		    var_path(session->flags.values[FLAG_NAMESPACE], trimmed, path);
	size_t size = fine ? strlen(path) : 0;
	if (fine && checks)
		snprintf(path + size, sizeof path - size, "&cas=%" PRIu64, index);
	http_take_conflicts(session, true);
	enum exit_status result = fine ? http_delete(session, path, &answer) : STATUS_USAGE;
	http_take_conflicts(session, false);
	if (answer.status == 409)
		result = var_conflict(answer.body, answer.size);
	else if (result == STATUS_OK)
		printf("Successfully purged variable \"%s\"!\n", trimmed);
	http_answer_free(&answer);
	free(trimmed);
	return result;
}
