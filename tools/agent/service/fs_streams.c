// /v1/client/fs/stream and logs: what a file or the files of a log have, and may get.
#include "tools/agent/service/alloc_look.h"
#include "tools/agent/service/follow.h"
#include "tools/agent/service/service_routes.h"
#include "tools/agent/service/service_values.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// What both routes are asked.
struct stream_values {
	int64_t offset;
	bool is_from_end, follows, is_plain;
};

// False: the parameter is no boolean, and *refusal says so.
static bool read_switch(const struct service_request *request, const char *name, unsigned code,
	bool *value, unsigned *status, struct MHD_Response **refusal)
{
	const char *text = service_parameter(request, name);
	const char *problem = text && *text ? service_read_bool(text, value) : NULL;
	if (problem)
		*refusal = service_say(status, code,
			"failed to parse %s field to boolean: strconv.ParseBool: parsing "
			"\"%s\": %s",
			name, text, problem);
	return !problem;
}

static bool read_place(const struct service_request *request, unsigned code,
	struct stream_values *values, unsigned *status, struct MHD_Response **refusal)
{
	const char *offset = service_parameter(request, "offset");
	const char *origin = service_parameter(request, "origin");
	const char *problem = offset && *offset ? service_read_i64(offset, &values->offset) : NULL;
	if (problem) {
		*refusal = service_say(status, code,
			"error parsing offset: strconv.ParseInt: parsing \"%s\": %s", offset,
			problem);
		return false;
	}
	values->is_from_end = origin && strcmp(origin, "end") == 0;
	if (!origin || !*origin || values->is_from_end || strcmp(origin, "start") == 0)
		return true;
	*refusal = service_say(status, MHD_HTTP_BAD_REQUEST, "origin must be start or end");
	return false;
}

static const char *text_parameter(const struct service_request *request, const char *name)
{
	const char *value = service_parameter(request, name);
	return value ? value : "";
}

static int64_t stream_start(const struct stat *st, const struct stream_values *values)
{
	int64_t size = (int64_t)st->st_size;
	int64_t bytes = values->offset > 0 ? values->offset : 0;
	bytes = bytes < size ? bytes : size;
	return values->is_from_end ? size - bytes : bytes;
}

// Decides where the stream of a file begins. opened: what opening the folder came to. NULL, or what is wrong.
static struct MHD_Response *find_stream(struct follow_wish *wish, int opened, const char *given,
	const struct stream_values *values, unsigned *status)
{
	struct MHD_Response *response = NULL;
	struct stat st;
	char text[100];
	int found = opened < 0 ? opened : alloc_files_find(&wish->files, wish->path);
	int error = found < 0 ? found : fstat(found, &st) < 0 ? -errno : 0;
	if (error && found >= 0)
		close(found);
	if (error == -EXDEV)
		return service_say(
			status, MHD_HTTP_BAD_REQUEST, "Path escapes the alloc directory");
	if (error)
		return service_say(status, MHD_HTTP_BAD_REQUEST, "stat %s/%s: %s", wish->files.path,
			wish->path, alloc_files_error(error, text, sizeof text));
	if (S_ISDIR(st.st_mode))
		response = service_say(
			status, MHD_HTTP_BAD_REQUEST, "file \"%s\" is a directory", given);
	else if (!S_ISREG(st.st_mode))
		response = service_say(status, MHD_HTTP_BAD_REQUEST,
			"file \"%s\" is a pipe, a socket or a device; only files are read", given);
	else if (alloc_files_is_secret(&wish->files, found))
		response = service_say(status, MHD_HTTP_INTERNAL_SERVER_ERROR,
			"Reading secret file prohibited: %s", given);
	wish->place.offset = stream_start(&st, values);
	close(found);
	return response;
}

struct MHD_Response *fs_stream(struct service_request *request, unsigned *status)
{
	struct stream_values values = {.follows = true};
	struct MHD_Response *response = NULL;
	const char *path = text_parameter(request, "path");
	if (*request->id && !*path)
		return service_say(status, MHD_HTTP_BAD_REQUEST, "must provide a file name");
	if (!read_switch(request, "follow", MHD_HTTP_INTERNAL_SERVER_ERROR, &values.follows, status,
		    &response) ||
		!read_place(request, MHD_HTTP_INTERNAL_SERVER_ERROR, &values, status, &response))
		return response;
	struct alloc_look *look = alloc_look(request, status, &response);
	if (!look)
		return response;
	struct follow_wish wish = {.follows = values.follows, .content_type = SERVICE_TEXT};
	int opened = alloc_files_open(&wish.files, request->settings->data_folder, &look->id);
	free(look);
	if (!alloc_path_clean(path, wish.path))
		response = service_say(
			status, MHD_HTTP_BAD_REQUEST, "Path escapes the alloc directory");
	else
		response = find_stream(&wish, opened, path, &values, status);
	if (!response)
		return follow_begin(request, &wish, status);
	alloc_files_close(&wish.files);
	return response;
}

// Nomad has decided on the type of the answer by then.
static struct MHD_Response *retype(struct MHD_Response *response, const char *content_type)
{
	const char *type = MHD_get_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE);
	if (type)
		(void)MHD_del_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	service_put_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_type);
	return response;
}

// NULL: the task has logs; else what is wrong.
static struct MHD_Response *find_logs(
	struct service_request *request, const char *task, struct uuid *id, unsigned *status)
{
	struct MHD_Response *response = NULL;
	struct alloc_look *look = alloc_look(request, status, &response);
	if (!look)
		return response;
	const struct task_look *found = alloc_look_task(look, task);
	*id = look->id;
	if (!found)
		response =
			service_say(status, MHD_HTTP_BAD_REQUEST, "unknown task name \"%s\"", task);
	else if (!found->has_started)
		response = service_say(status, MHD_HTTP_NOT_FOUND,
			"task \"%s\" not started yet. No logs available", task);
	free(look);
	return response;
}

// NULL: the parameters are sound; else what is wrong.
static struct MHD_Response *read_logs_values(
	struct service_request *request, struct stream_values *values, unsigned *status)
{
	struct MHD_Response *response = NULL;
	const char *type = text_parameter(request, "type");
	if (*request->id && !*text_parameter(request, "task"))
		return service_say(status, MHD_HTTP_BAD_REQUEST, "must provide task name");
	if (!read_switch(
		    request, "follow", MHD_HTTP_BAD_REQUEST, &values->follows, status, &response) ||
		!read_switch(request, "plain", MHD_HTTP_BAD_REQUEST, &values->is_plain, status,
			&response))
		return response;
	if (strcmp(type, "stdout") != 0 && strcmp(type, "stderr") != 0)
		return service_say(
			status, MHD_HTTP_BAD_REQUEST, "must provide log type (stdout/stderr)");
	if (!read_place(request, MHD_HTTP_BAD_REQUEST, values, status, &response))
		return response;
	return NULL;
}

struct MHD_Response *fs_logs(struct service_request *request, unsigned *status)
{
	struct stream_values values = {0};
	struct uuid id;
	struct log_file *list;
	uint32_t count;
	if (!*request->id)
		return service_say(status, MHD_HTTP_BAD_REQUEST, "must provide a valid alloc id");
	struct MHD_Response *response = read_logs_values(request, &values, status);
	if (response)
		return response;
	const char *type = values.is_plain ? "text/plain" : SERVICE_JSON;
	const char *task = text_parameter(request, "task");
	response = find_logs(request, task, &id, status);
	if (response)
		return retype(response, type);
	struct follow_wish wish = {
		.follows = values.follows, .is_plain = values.is_plain, .content_type = type};
	snprintf(wish.output, sizeof wish.output, "%.200s.%s", task,
		text_parameter(request, "type"));
	int error = alloc_files_open(&wish.files, request->settings->data_folder, &id);
	// Without the folder there are no files, and none will come.
	if (error == 0 || error == -ENOENT)
		error = log_files_list(&wish.files, wish.output, &list, &count);
	if (error) {
		response = follow_refuse(&wish, error, status);
		alloc_files_close(&wish.files);
		return retype(response, type);
	}
	wish.place = log_place_find(list, count, values.offset, values.is_from_end);
	free(list);
	return follow_begin(request, &wish, status);
}
