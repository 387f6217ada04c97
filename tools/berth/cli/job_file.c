#include "tools/berth/cli/job_file.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/file.h"
#include "tools/berth/cli/http.h"
#include "tools/jobfile/jobfile.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Files of values for variables, as the command line names them.
struct value_files {
	char *data[FLAG_WORDS_MAX];
	struct text texts[FLAG_WORDS_MAX];
	const char *names[FLAG_WORDS_MAX];
	uint32_t count;
};

static enum exit_status read_value_files(const struct flags *flags, struct value_files *files)
{
	uint32_t at = 0;
	size_t size;
	for (const char *path; (path = flag_next(flags, FLAG_VAR_FILE, &at)); files->count++) {
		enum exit_status result = file_read(path, &files->data[files->count], &size);
		if (result != STATUS_OK)
			return result;
		files->texts[files->count] =
			(struct text){files->data[files->count], (uint32_t)size};
		files->names[files->count] = path;
	}
	return STATUS_OK;
}

static enum exit_status check_flags(const struct flags *flags, bool *lenient)
{
	const char *strict =
		flag_given(flags, FLAG_HCL2_STRICT) ? flags->values[FLAG_HCL2_STRICT] : "true";
	*lenient = strcmp(strict, "false") == 0;
	if (flag_given(flags, FLAG_HCL1))
		return complain(STATUS_REFUSED,
			"job files of HCL 1 are not read; write names without quotes and maps with "
			"an equals sign, as HCL 2 has them");
	if (!*lenient && strcmp(strict, "true") != 0)
		return complain(STATUS_USAGE, "--hcl2-strict is true or false, not %s", strict);
	return STATUS_OK;
}

static enum exit_status parse_text(
	const struct flags *flags, struct jobfile *options, json_t **request)
{
	const char *variables[FLAG_WORDS_MAX];
	uint32_t at = 0;
	char *message;
	for (const char *variable; (variable = flag_next(flags, FLAG_VAR, &at));)
		variables[options->variable_count++] = variable;
	options->variables = variables;
	options->environment = (const char *const *)environ;
	json_t *job = jobfile_read(options, &message);
	if (job) {
		*request = json_pack("{s:o}", "Job", job);
		return STATUS_OK;
	}
	enum exit_status result =
		complain(STATUS_REFUSED, "the job file has mistakes:\n%s", message);
	free(message);
	return result;
}

static enum exit_status parse_file(
	struct session *session, const char *file, struct text text, json_t **request)
{
	struct value_files files = {0};
	struct jobfile options = {.name = file, .text = text};
	char folder[PATH_MAX] = ".";
	const char *slash = strrchr(file, '/');
	if (slash)
		snprintf(
			folder, sizeof folder, "%.*s", (int)(slash - file) + (slash == file), file);
	options.files_from = folder;
	options.value_files = files.texts;
	options.value_file_names = files.names;
	enum exit_status result = check_flags(&session->flags, &options.lenient);
	if (result == STATUS_OK)
		result = read_value_files(&session->flags, &files);
	options.value_file_count = files.count;
	if (result == STATUS_OK)
		result = parse_text(&session->flags, &options, request);
	for (uint32_t i = 0; i < files.count; i++)
		free(files.data[i]);
	return result;
}

static enum exit_status parse_json(const char *file, struct text text, json_t **request)
{
	json_error_t error;
	json_t *root = json_loadb(text.data, text.size, JSON_REJECT_DUPLICATES, &error);
	if (!root)
		return complain(STATUS_REFUSED,
			"%s line %d column %d: %s; a JSON object is expected", file, error.line,
			error.column, error.text);
	if (!json_is_object(root)) {
		json_decref(root);
		return complain(STATUS_REFUSED, "%s: a JSON object is expected", file);
	}
	*request = json_object_get(root, "Job") ? root : json_pack("{s:o}", "Job", root);
	return STATUS_OK;
}

static bool is_json(const char *file, struct text text)
{
	size_t size = strlen(file);
	return jobfile_is_json(text) || (size > 5 && strcmp(file + size - 5, ".json") == 0);
}

enum exit_status job_file_read(struct session *session, const char *file, json_t **request)
{
	char *data;
	size_t size;
	enum exit_status result = file_read(file, &data, &size);
	if (result != STATUS_OK)
		return result;
	struct text text = {data, (uint32_t)size};
	if (is_json(file, text) && !flag_given(&session->flags, FLAG_HCL1))
		result = parse_json(file, text, request);
	else
		result = parse_file(session, file, text, request);
	free(data);
	return result;
}

const char *job_file_id(json_t *request)
{
	return field_text(json_object_get(request, "Job"), "ID");
}

const char *job_path(struct session *session, const char *id, const char *suffix, char *path)
{
	char escaped[400], namespace_name[400];
	http_escape(id, escaped, sizeof escaped);
	http_escape(session->flags.values[FLAG_NAMESPACE], namespace_name, sizeof namespace_name);
	snprintf(path, HTTP_PATH_BYTES, "/v1/job/%s%s?namespace=%s", escaped, suffix,
		namespace_name);
	return path;
}
