#include "tools/berth/job_file.h"
#include "tools/berth/field.h"
#include "tools/berth/file.h"
#include "tools/berth/http.h"
#include <stdio.h>
#include <stdlib.h>

enum exit_status job_file_read(const char *file, json_t **request)
{
	char *text;
	size_t size;
	json_error_t error;
	enum exit_status result = file_read(file, &text, &size);
	if (result != STATUS_OK)
		return result;
	json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
	free(text);
	if (!json_is_object(root)) {
		json_decref(root);
		return complain(STATUS_REFUSED,
			"%s line %d column %d: %s; a JSON object is expected", file, error.line,
			error.column, root ? "no object" : error.text);
	}
	if (!json_object_get(root, "Job"))
		root = json_pack("{s:o}", "Job", root);
	*request = root;
	return STATUS_OK;
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
