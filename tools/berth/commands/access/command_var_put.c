// berth var put and berth var init: writes a variable, and an example of a file for it.
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/file.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/commands/access/var_commands.h"
#include "tools/berth/commands/access/var_spec.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_file(const char *argument)
{
	return *argument == '@' || strcmp(argument, "-") == 0;
}

// "-" is standard input, "@FILE" a file. NULL after a complaint.
static json_t *read_spec(const struct flags *flags, const char *argument)
{
	const char *file = *argument == '@' ? argument + 1 : argument;
	char *text;
	size_t size;
	bool is_hcl;
	if (!var_spec_is_hcl(flags, file, &is_hcl) || file_read(file, &text, &size) != STATUS_OK)
		return NULL;
	json_t *spec = var_spec_read(text, size, is_hcl, file);
	free(text);
	return spec;
}

// The value of "NAME=VALUE": text, "@FILE", "-" for standard input, "\@…" for a text that begins with @.
static json_t *read_value(const char *value)
{
	char *text;
	size_t size;
	if (!is_file(value))
		return json_string(strncmp(value, "\\@", 2) == 0 ? value + 1 : value);
	if (file_read(*value == '@' ? value + 1 : value, &text, &size) != STATUS_OK)
		return NULL;
	json_t *read = json_stringn(text, size);
	free(text);
	if (!read)
		complain(STATUS_USAGE, "%s: is not UTF-8 text", value);
	return read;
}

// Sets an item, or takes it away if its value is empty. False after a complaint.
static bool change_item(json_t *items, const char *pair)
{
	const char *equals = strchr(pair, '=');
	if (!equals || equals == pair) {
		complain(STATUS_USAGE, "\"%s\" is not NAME=VALUE", pair);
		return false;
	}
	json_t *value = read_value(equals + 1);
	size_t size = (size_t)(equals - pair);
	if (!value)
		return false;
	if (json_string_length(value))
		return json_object_setn_new(items, pair, size, value) == 0;
	json_decref(value);
	(void)json_object_deln(items, pair, size);
	return true;
}

// What is known of the server's version is of another variable then.
static void rename_spec(json_t *spec, const char *member, const char *name)
{
	if (!name || strcmp(field_text(spec, member), name) == 0)
		return;
	json_object_set_new(spec, member, json_string(name));
	json_object_del(spec, "ModifyIndex");
}

// The variable that the command line describes; NULL after a complaint.
static json_t *variable_of(const struct flags *flags, const char **arguments, int count)
{
	int at = is_file(arguments[0]) ? 0 : 1;
	char *path = at ? var_trimmed(arguments[0]) : NULL;
	bool has_spec = at < count && is_file(arguments[at]);
	json_t *spec = has_spec ? read_spec(flags, arguments[at++]) : json_object();
	bool fine = spec != NULL;
	if (fine) {
		rename_spec(spec, "Path", path);
		uint32_t seen = 0;
		rename_spec(spec, "Namespace", flag_next(flags, FLAG_NAMESPACE, &seen));
		if (!json_object_get(spec, "Items"))
			json_object_set_new(spec, "Items", json_object());
	}
	free(path);
	while (fine && at < count)
		fine = change_item(json_object_get(spec, "Items"), arguments[at++]);
	if (fine && !*field_text(spec, "Path"))
		fine = complain(STATUS_USAGE, "PATH is needed: neither the command nor the file "
					      "says it") == STATUS_OK;
	if (fine)
		return spec;
	json_decref(spec);
	return NULL;
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
		*stored = json_loadb(answer.body, answer.size, 0, NULL);
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
	json_t *variable = variable_of(&session->flags, arguments, count);
	enum exit_status result = STATUS_USAGE;
	if (variable && path_of(&session->flags, variable, path))
		result = send_variable(session, variable, path, &stored);
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
	FILE *file = fopen(path, "wxe");
	if (!file)
		return complain(STATUS_FAILURE, "cannot write %s: %s", path, strerror(errno));
	bool fine = fputs(is_json ? example_json : example_hcl, file) >= 0;
	fine = fclose(file) == 0 && fine;
	if (!fine)
		return complain(STATUS_FAILURE, "cannot write %s: %s", path, strerror(errno));
	printf("Example variable specification written to %s\n", path);
	return STATUS_OK;
}
