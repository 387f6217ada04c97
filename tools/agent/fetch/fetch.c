#include "tools/agent/fetch/fetch.h"
#include "tools/agent/base/folders.h"
#include "tools/agent/fetch/download.h"
#include "tools/agent/fetch/fence.h"
#include "tools/agent/fetch/unpack.h"
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The last part of the URL's path.
static void name_of_url(const char *url, char name[static 256])
{
	const char *path = strstr(url, "://");
	path = path ? strchr(path + 3, '/') : NULL;
	size_t size = path ? strcspn(path, "?#") : 0;
	while (size > 0 && path[size - 1] == '/')
		size--;
	size_t begin = size;
	while (begin > 0 && path[begin - 1] != '/')
		begin--;
	snprintf(name, 256, "%.*s", (int)(size - begin < 255 ? size - begin : 255),
		size ? path + begin : "");
}

struct goal {
	const char *kind; // of the archive; NULL: it stays as it is
	char name[256];   // of the one file; "": there are many
	char folder[512]; // below the allocation's
};

// Where what is fetched belongs. False and why not.
static bool find_goal(const struct fetch_request *r, struct goal *goal, struct fetch_result *result)
{
	char name[256], kind[300];

	name_of_url(r->url, name);
	if (*r->file_name)
		snprintf(name, sizeof name, "%.255s", r->file_name);
	snprintf(kind, sizeof kind, "x.%.250s", *r->archive ? r->archive : name);
	goal->kind = unpack_kind(kind);
	snprintf(goal->folder, sizeof goal->folder, "%.500s", r->destination);
	if (r->mode == FETCH_DIR && (!goal->kind || unpack_is_single(goal->kind)))
		return fetch_fail(
			result, false, "it is no archive, so that the mode \"dir\" does not fit");
	if (r->mode == FETCH_FILE) { // the destination is the file's
		char *slash = strrchr(goal->folder, '/');
		if (!slash || !slash[1])
			return fetch_fail(result, false, "the destination names no file");
		snprintf(goal->name, sizeof goal->name, "%.255s", slash + 1);
		*slash = '\0';
		return true;
	}
	if (goal->kind && !unpack_is_single(goal->kind))
		return true;
	if (goal->kind && strlen(name) > strlen(goal->kind) + 1 && unpack_kind(name))
		name[strlen(name) - strlen(goal->kind) - 1] = '\0';
	if (!*name || strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return fetch_fail(result, false, "the URL names no file; give the option filename");
	snprintf(goal->name, sizeof goal->name, "%s", name);
	return true;
}

// A file as it is takes its place once it is whole.
static bool place_file(int folder, const char *from, const char *name, struct fetch_result *result)
{
	if (renameat(folder, from, folder, name) == 0)
		return true;
	return fetch_fail(result, false, "cannot put it at %.200s: %s", name, strerror(errno));
}

static bool fetch_into(const struct fetch_request *r, const struct goal *goal, int folder,
	struct fetch_result *result)
{
	char part[64];

	snprintf(part, sizeof part, ".fetching-%d", (int)getpid());
	int file = openat(folder, part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (file < 0)
		return fetch_fail(result, true, "cannot make a file at %.200s: %s", r->destination,
			strerror(errno));
	bool good = download(r, file, result);
	if (good && goal->kind)
		good = lseek(file, 0, SEEK_SET) == 0
			       ? unpack(r, goal->kind, file, folder,
					 *goal->name ? goal->name : NULL, result)
			       : fetch_fail(
					 result, true, "cannot read it again: %s", strerror(errno));
	if (close(file) < 0 && good)
		good = fetch_fail(result, true, "cannot write it: %s", strerror(errno));
	if (good && !goal->kind)
		good = place_file(folder, part, goal->name, result);
	if (!good || goal->kind)
		unlinkat(folder, part, 0);
	return good;
}

void fetch_artifact(const struct fetch_request *r, int top, struct fetch_result *result)
{
	struct goal goal = {0};

	*result = (struct fetch_result){0};
	if (!find_goal(r, &goal, result))
		return;
	int folder = folder_reach(top, goal.folder, 0755);
	if (folder < 0) {
		fetch_fail(result, false, "cannot make the folder %.200s: %s", goal.folder,
			strerror(-folder));
		return;
	}
	result->is_done = fetch_into(r, &goal, folder, result);
	close(folder);
}

// Behind the fence, or not at all.
static void fetch_fenced(struct fetch_result *result)
{
	struct fetch_request request;
	json_t *json = json_loadfd(FETCH_REQUEST_FD, 0, NULL);
	int error = fence_below(FETCH_FOLDER_FD);

	if (error)
		fetch_fail(
			result, false, "what fetches it cannot be confined: %s", strerror(-error));
	else if (!json || !fetch_request_read(json, &request))
		fetch_fail(result, false, "the request cannot be read");
	else
		fetch_artifact(&request, FETCH_FOLDER_FD, result);
	json_decref(json);
}

int fetch_main(void)
{
	struct fetch_result result = {0};

	umask(022);
	setlocale(LC_CTYPE, "C.UTF-8"); // libarchive converts the names of entries
	fetch_fenced(&result);
	json_t *said = json_pack("{s:b s:b s:s%}", "Done", result.is_done, "MayHelp",
		result.may_help, "Message", result.message, strlen(result.message));
	char *text = said ? json_dumps(said, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
	ssize_t written = text ? write(FETCH_RESULT_FD, text, strlen(text)) : -1;
	free(text);
	json_decref(said);
	return written > 0 && result.is_done ? 0 : 1;
}
