#include "tools/berth/cli/job_file.h"
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/file.h"
#include "tools/berth/cli/http.h"
#include <stdio.h>

enum exit_status job_file_read(const char *file, json_t **request)
{
	json_t *root;
	enum exit_status result = file_read_object(file, &root);
	if (result != STATUS_OK)
		return result;
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
