// berth var put and berth var init: writes a variable, and an example of a file for it.
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/file.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/commands/access/var_commands.h"
#include "tools/berth/commands/access/var_spec.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_file(const char *argument)
{
	return *argument == '@' || strcmp(argument, "-") == 0;
}

// "-" is standard input, "@FILE" a file.
static enum exit_status read_spec(const struct flags *flags, const char *argument, json_t **spec)
{
	const char *file = *argument == '@' ? argument + 1 : argument;
	char *text;
	size_t size;
	bool is_hcl;
	if (!var_spec_is_hcl(flags, file, &is_hcl))
		return STATUS_USAGE;
	enum exit_status result = file_read(file, &text, &size);
	if (result != STATUS_OK)
		return result;
	*spec = var_spec_read(text, size, is_hcl, file);
	free(text);
	return *spec ? STATUS_OK : STATUS_REFUSED;
}

// The value of "NAME=VALUE": text, "@FILE", "-" for standard input, "\@…" for a text that begins with @.
static enum exit_status read_value(const char *value, json_t **read)
{
	char *text;
	size_t size;
	*read = NULL;
	if (is_file(value)) {
		enum exit_status result =
			file_read(*value == '@' ? value + 1 : value, &text, &size);
		if (result != STATUS_OK)
			return result;
		*read = json_stringn(text, size);
		free(text);
	} else {
		*read = json_string(strncmp(value, "\\@", 2) == 0 ? value + 1 : value);
	}
	return *read ? STATUS_OK : complain(STATUS_USAGE, "%s: is not UTF-8 text", value);
}

// Sets an item, or takes it away if its value is empty.
static enum exit_status change_item(json_t *items, const char *pair)
{
	json_t *value;
	const char *equals = strchr(pair, '=');
	if (!equals || equals == pair)
		return complain(STATUS_USAGE, "\"%s\" is not NAME=VALUE", pair);
	enum exit_status result = read_value(equals + 1, &value);
	size_t size = (size_t)(equals - pair);
	if (result != STATUS_OK)
		return result;
	if (!json_string_length(value)) {
		json_decref(value);
		(void)json_object_deln(items, pair, size);
	} else if (json_object_setn_new(items, pair, size, value) != 0) {
		return complain(STATUS_USAGE, "%s: is not UTF-8 text", pair);
	}
	return STATUS_OK;
}

// What is known of the server's version is of another variable then.
static enum exit_status rename_spec(json_t *spec, const char *member, const char *name)
{
	if (!name || strcmp(field_text(spec, member), name) == 0)
		return STATUS_OK;
	if (json_object_set_new(spec, member, json_string(name)) != 0)
		return complain(STATUS_USAGE, "%s: is not UTF-8 text", name);
	json_object_del(spec, "ModifyIndex");
	return STATUS_OK;
}

// The variable that the command line describes. Caller releases it, after a complaint too.
static enum exit_status variable_of(
	const struct flags *flags, const char **arguments, int count, json_t **variable)
{
	int at = is_file(arguments[0]) ? 0 : 1;
	enum exit_status result = STATUS_OK;
	*variable = NULL;
	if (at < count && is_file(arguments[at]))
		result = read_spec(flags, arguments[at], variable);
	else
		*variable = json_object();
	if (result != STATUS_OK)
		return result;
	char *path = at ? var_trimmed(arguments[0]) : NULL;
	uint32_t seen = 0;
	result = rename_spec(*variable, "Path", path);
	free(path);
	if (result == STATUS_OK)
		result = rename_spec(
			*variable, "Namespace", flag_next(flags, FLAG_NAMESPACE, &seen));
	if (!json_object_get(*variable, "Items"))
		json_object_set_new(*variable, "Items", json_object());
	at += at < count && is_file(arguments[at]);
	while (result == STATUS_OK && at < count)
		result = change_item(json_object_get(*variable, "Items"), arguments[at++]);
	if (result == STATUS_OK && !*field_text(*variable, "Path"))
		result = complain(
			STATUS_USAGE, "PATH is needed: neither the command nor the file says it");
	return result;
}

static enum exit_status send_variable(
	struct session *session, json_t *variable, const char *path, json_t **stored)
{
	struct http_answer answer;
	char *body = json_dumps(variable, 0);
	http_take_conflicts(session, true);
	enum exit_status result = http_put(session, path, body, strlen(body), &answer);
	http_take_conflicts(session, false);
	if (answer.status == 409)
		result = var_conflict(answer.body, answer.size);
	else if (result == STATUS_OK)
		result = http_parse(session, path, &answer, stored);
	http_answer_free(&answer);
	free(body);
	return result;
}

// Unless --force is given, only over the version that the sender knows: none, if it knows of none.
static bool path_of(const struct flags *flags, json_t *variable, char *path)
{
	const char *space = field_text(variable, "Namespace");
	uint64_t index = (uint64_t)field_number(variable, "ModifyIndex");
	bool checks;
	if (!var_check_index(flags, &checks, &index) ||
		!var_path(*space ? space : flags->values[FLAG_NAMESPACE],
			field_text(variable, "Path"), path))
		return false;
	size_t size = strlen(path);
	if (checks || !flag_given(flags, FLAG_FORCE))
		snprintf(path + size, HTTP_PATH_BYTES - size, "&cas=%" PRIu64, index);
	return true;
}

enum exit_status var_put(struct session *session, const char **arguments, int count)
{
	char path[HTTP_PATH_BYTES];
	const char *out;
	json_t *stored = NULL;
	if (!var_out(&session->flags, "none table json hcl", "none", &out))
		return STATUS_USAGE;
	if (count == 1 && !is_file(arguments[0]))
		return complain(STATUS_USAGE, "NAME=VALUE, @FILE or - is needed");
	json_t *variable;
	enum exit_status result = variable_of(&session->flags, arguments, count, &variable);
	if (result == STATUS_OK)
		result = path_of(&session->flags, variable, path)
				 ? send_variable(session, variable, path, &stored)
				 : STATUS_USAGE;
	if (result == STATUS_OK && strcmp(out, "none") == 0)
		printf("Created variable \"%s\" with modify index %lld\n",
			field_text(stored, "Path"), (long long)field_number(stored, "ModifyIndex"));
	else if (result == STATUS_OK)
		var_print(stored, out);
	json_decref(stored);
	json_decref(variable);
	return result;
}

static const char example_hcl[] =
	"# What a variable holds. berth var put @FILE writes it.\n"
	"# path      = \"path/to/variable\"  # or: berth var put PATH @FILE\n"
	"# namespace = \"default\"           # or: --namespace\n\n"
	"# Names with letters, digits and _ alone are the easiest to use in templates.\n"
	"items {\n"
	"  key1 = \"value 1\"\n"
	"  key2 = \"value 2\"\n"
	"}\n";
static const char example_json[] = "{\n"
				   "  \"Namespace\": \"default\",\n"
				   "  \"Path\": \"path/to/variable\",\n"
				   "  \"Items\": {\n"
				   "    \"key1\": \"value 1\",\n"
				   "    \"key2\": \"value 2\"\n"
				   "  }\n"
				   "}\n";

enum exit_status var_init(struct session *session, const char **arguments, int count)
{
	const char *out = session->flags.values[FLAG_OUT];
	bool is_json = out && strcmp(out, "json") == 0;
	if (out && !is_json && strcmp(out, "hcl") != 0)
		return complain(STATUS_USAGE, "--out: \"%s\" is none of: hcl json", out);
	const char *path = count ? arguments[0] : is_json ? "spec.nv.json" : "spec.nv.hcl";
	enum exit_status result = file_write_new(path, is_json ? example_json : example_hcl);
	if (result == STATUS_OK)
		printf("Example variable specification written to %s\n", path);
	return result;
}
