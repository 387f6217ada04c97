// /v1/client/fs/ls, stat, cat and readat.
//
// cat and readat answer 200 also when something is wrong: the text is the body then, and only headers of a real file's
// content tell them apart. That is how it was recorded, and clients cope.
#include "state/base/listing/listing.h"
#include "state/base/memory.h"
#include "tools/agent/service/alloc_files.h"
#include "tools/agent/service/alloc_look.h"
#include "tools/agent/service/file_facts.h"
#include "tools/agent/service/service_routes.h"
#include "tools/agent/service/service_values.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// Entries of a folder that are listed; a task may make any number.
#define ENTRIES_MAX 65536
#define READ_BLOCK_BYTES 65536u

// What a request means: an allocation's folder and a path in it.
struct wanted {
	struct alloc_files files;
	char path[ALLOC_PATH_BYTES];
	const char *given;
	int fd; // found, then open
};

static struct MHD_Response *say_escape(unsigned *status)
{
	return service_say(
		status, MHD_HTTP_INTERNAL_SERVER_ERROR, "Path escapes the alloc directory");
}

static struct MHD_Response *say_error(
	const struct wanted *w, int error, const char *act, unsigned *status)
{
	char text[100];
	if (error == -EXDEV)
		return say_escape(status);
	bool is_top = strcmp(w->path, ".") == 0;
	return service_say(status,
		error == -ENOENT ? MHD_HTTP_NOT_FOUND : MHD_HTTP_INTERNAL_SERVER_ERROR,
		"%s %s%s%s: %s", act, w->files.path, is_top ? "" : "/", is_top ? "" : w->path,
		alloc_files_error(error, text, sizeof text));
}

static void wanted_close(struct wanted *w)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
	alloc_files_close(&w->files);
}

// Finds what the request wants. NULL: fd has it; else what is wrong, and nothing is open.
static struct MHD_Response *want(
	struct service_request *request, struct wanted *w, const char *act, unsigned *status)
{
	struct MHD_Response *refusal = NULL;
	w->files.folder = w->fd = -1;
	w->given = service_parameter(request, "path");
	w->given = w->given ? w->given : "";
	struct alloc_look *look = alloc_look(request, status, &refusal);
	if (!look)
		return refusal;
	struct uuid id = look->id;
	free(look);
	if (!alloc_path_clean(w->given, w->path))
		return say_escape(status);
	int error = alloc_files_open(&w->files, request->settings->data_folder, &id);
	if (!error)
		w->fd = alloc_files_find(&w->files, w->path);
	if (w->fd >= 0)
		return NULL;
	refusal = say_error(w, error ? error : w->fd, act, status);
	wanted_close(w);
	return refusal;
}

static struct MHD_Response *say_no_file(unsigned *status)
{
	return service_say(status, MHD_HTTP_BAD_REQUEST, "must provide a file name");
}

static bool names_no_file(const struct service_request *request)
{
	const char *path = service_parameter(request, "path");
	return !path || !*path;
}

struct names {
	char **items;
	uint32_t count, capacity;
	bool is_cut; // there are more
};

static void names_free(struct names *names)
{
	for (uint32_t i = 0; i < names->count; i++)
		free(names->items[i]);
	free(names->items);
}

static int order_of_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

// 0 or -errno.
static int names_read(struct names *names, DIR *entries)
{
	const struct dirent *entry;
	int error = 0;
	while ((entry = listing_next(entries, &error)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		names->is_cut = names->count == ENTRIES_MAX;
		if (names->is_cut)
			return 0;
		names->items = memory_one_more(
			names->items, names->count, &names->capacity, sizeof names->items[0]);
		names->items[names->count++] = text_copy(text_of(entry->d_name));
	}
	if (names->count > 0)
		qsort(names->items, names->count, sizeof names->items[0], order_of_names);
	return error;
}

static struct MHD_Response *list_names(
	const struct names *names, int folder, const struct wanted *w, unsigned *status)
{
	struct json_writer json = {0};
	struct stat st;
	if (names->is_cut)
		return service_say(status, MHD_HTTP_INTERNAL_SERVER_ERROR,
			"%s/%s has more than %d entries, the most that are listed", w->files.path,
			w->path, ENTRIES_MAX);
	json_begin_array(&json);
	for (uint32_t i = 0; i < names->count; i++) {
		if (fstatat(folder, names->items[i], &st, AT_SYMLINK_NOFOLLOW) == 0) {
			file_facts_json(&json, names->items[i], &st, NULL);
		} else if (errno != ENOENT) { // it was removed just now
			struct MHD_Response *refusal = say_error(w, -errno, "stat", status);
			json_writer_free(&json);
			return refusal;
		}
	}
	json_end_array(&json);
	return service_json(status, &json);
}

struct MHD_Response *fs_ls(struct service_request *request, unsigned *status)
{
	struct wanted w;
	struct names names = {0};
	struct MHD_Response *response = want(request, &w, "open", status);
	if (response)
		return response;
	w.fd = alloc_files_read(w.fd);
	int error = w.fd == -EINVAL ? -ENOTDIR : w.fd;
	DIR *entries = w.fd < 0 ? NULL : fdopendir(w.fd);
	if (!entries) {
		response = say_error(&w, error < 0 ? error : -errno, "open", status);
		wanted_close(&w);
		return response;
	}
	w.fd = -1; // the entries have it
	error = names_read(&names, entries);
	response = error ? say_error(&w, error, "read", status)
			 : list_names(&names, dirfd(entries), &w, status);
	names_free(&names);
	closedir(entries);
	wanted_close(&w);
	return response;
}

static const char *last_name(const struct wanted *w)
{
	const char *path = strcmp(w->path, ".") == 0 ? w->files.path : w->path;
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

struct MHD_Response *fs_stat(struct service_request *request, unsigned *status)
{
	struct wanted w;
	struct stat st;
	struct json_writer json = {0};
	if (names_no_file(request))
		return say_no_file(status);
	struct MHD_Response *response = want(request, &w, "stat", status);
	if (response)
		return response;
	if (fstat(w.fd, &st) < 0) {
		response = say_error(&w, -errno, "stat", status);
	} else {
		bool is_read = S_ISREG(st.st_mode) && !alloc_files_is_secret(&w.files, w.fd);
		w.fd = is_read ? alloc_files_read(w.fd) : w.fd;
		const char *name = last_name(&w);
		file_facts_json(&json, name, &st, file_type_of(name, is_read ? w.fd : -1));
		response = service_json(status, &json);
	}
	wanted_close(&w);
	return response;
}

// A part of a file under way to a client.
struct part {
	int fd;
	int64_t at, end;
};

static void part_free(void *context)
{
	struct part *p = context;
	close(p->fd);
	free(p);
}

static ssize_t part_read(void *context, uint64_t position, char *to, size_t most)
{
	struct part *p = context;
	uint64_t left = (uint64_t)(p->end - p->at);
	ssize_t n = left ? pread(p->fd, to, left < most ? left : most, p->at) : 0;
	if (n < 0)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	p->at += n;
	return n > 0 ? n : MHD_CONTENT_READER_END_OF_STREAM;
}

// A browser that shows a task's file must neither guess what it is nor run it.
static void put_distrust(struct MHD_Response *response)
{
	service_put_header(response, "X-Content-Type-Options", "nosniff");
	service_put_header(response, "X-Xss-Protection", "1; mode=block");
	service_put_header(response, "Content-Security-Policy",
		"default-src 'none'; style-src 'unsafe-inline'; sandbox");
}

// What is appended meanwhile is left out, or the answer might never end.
static struct MHD_Response *send_part(
	struct wanted *w, int64_t from, int64_t limit, unsigned *status)
{
	char beginning[FILE_BEGINNING_BYTES];
	struct stat st;
	ssize_t size = pread(w->fd, beginning, sizeof beginning, from);
	bool is_beyond = size < 0 && errno == EINVAL; // no file is so long
	if ((size < 0 && !is_beyond) || fstat(w->fd, &st) < 0)
		return say_error(w, -errno, "read", status);
	int64_t most = (int64_t)st.st_size - from;
	if (size <= 0 || most <= 0)
		return service_say(status, MHD_HTTP_OK, "%s", "");
	struct part *p = memory_take(sizeof *p);
	*p = (struct part){w->fd, from, from + (limit > 0 && limit < most ? limit : most)};
	w->fd = -1;
	struct MHD_Response *response = MHD_create_response_from_callback(
		MHD_SIZE_UNKNOWN, READ_BLOCK_BYTES, part_read, p, part_free);
	if (!response) {
		part_free(p);
		return NULL;
	}
	*status = MHD_HTTP_OK;
	service_put_header(
		response, MHD_HTTP_HEADER_CONTENT_TYPE, file_content_type(beginning, (size_t)size));
	put_distrust(response);
	return response;
}

// Opens the found file for reading. NULL: fd has it; else what is wrong.
static struct MHD_Response *open_content(struct wanted *w, unsigned *status)
{
	struct stat st;
	if (fstat(w->fd, &st) == 0 && S_ISDIR(st.st_mode))
		return service_say(status, MHD_HTTP_OK, "file \"%s\" is a directory", w->given);
	if (alloc_files_is_secret(&w->files, w->fd))
		return service_say(
			status, MHD_HTTP_OK, "Reading secret file prohibited: %s", w->given);
	w->fd = alloc_files_read(w->fd);
	return w->fd < 0 ? say_error(w, w->fd, "open", status) : NULL;
}

static struct MHD_Response *send_content(
	struct service_request *request, int64_t from, int64_t limit, unsigned *status)
{
	struct wanted w;
	if (names_no_file(request))
		return say_no_file(status);
	struct MHD_Response *response = want(request, &w, "stat", status);
	if (response)
		return response;
	response = open_content(&w, status);
	// Nomad shows the offset as if it were a character.
	if (!response && from < 0)
		response = service_say(status, MHD_HTTP_OK,
			"can't seek to offset '\xef\xbf\xbd': seek %s/%s: invalid argument",
			w.files.path, w.path);
	if (!response)
		response = send_part(&w, from, limit, status);
	wanted_close(&w);
	return response;
}

// That the agent has no time is not the text of a file.
static void hide_error(unsigned *status)
{
	if (*status != MHD_HTTP_SERVICE_UNAVAILABLE)
		*status = MHD_HTTP_OK;
}

struct MHD_Response *fs_cat(struct service_request *request, unsigned *status)
{
	struct MHD_Response *response = send_content(request, 0, 0, status);
	hide_error(status);
	return response;
}

// False: it is no number, and *refusal says so.
static bool read_number(struct service_request *request, const char *name, const char *otherwise,
	int64_t *value, unsigned *status, struct MHD_Response **refusal)
{
	const char *text = service_parameter(request, name);
	text = text ? text : otherwise;
	const char *problem = service_read_i64(text, value);
	if (problem)
		*refusal = service_say(status, MHD_HTTP_OK,
			"error parsing %s: strconv.ParseInt: parsing \"%s\": %s", name, text,
			problem);
	return !problem;
}

struct MHD_Response *fs_readat(struct service_request *request, unsigned *status)
{
	int64_t offset, limit;
	struct MHD_Response *response;
	if (!names_no_file(request) &&
		(!read_number(request, "offset", "", &offset, status, &response) ||
			!read_number(request, "limit", "0", &limit, status, &response)))
		return response;
	if (names_no_file(request))
		response = say_no_file(status);
	else
		response = send_content(request, offset, limit, status);
	hide_error(status);
	return response;
}
