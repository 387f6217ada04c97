// Files and logs of allocations, from the nodes that run them.
#include "tools/berth/cli/field.h"
#include "tools/berth/cli/http.h"
#include "tools/berth/cli/table.h"
#include "tools/berth/commands/commands.h"
#include "tools/berth/commands/node_side/alloc_targets.h"
#include "tools/berth/views/frames.h"
#include <stdio.h>
#include <string.h>

enum exit_status alloc_logs(struct session *session, const char **arguments, int count)
{
	char id[LOOKUP_BYTES], task[LOOKUP_BYTES], escaped[3 * LOOKUP_BYTES];
	char place[FRAMES_PLACE_BYTES];
	char path[HTTP_PATH_BYTES];
	uint64_t lines;
	int used;
	enum exit_status result = frames_read_place(&session->flags, place, &lines);
	if (result == STATUS_OK)
		result = alloc_target(session, arguments, count, id, &used);
	if (result == STATUS_OK)
		result = alloc_target_task(
			session, id, count > used ? arguments[used] : NULL, true, task);
	if (result != STATUS_OK)
		return result;
	snprintf(path, sizeof path, "/v1/client/fs/logs/%s?task=%s&type=%s%s", id,
		http_escape(task, escaped, sizeof escaped),
		flag_given(&session->flags, FLAG_STDERR) ? "stderr" : "stdout", place);
	return frames_print(session, path, lines);
}

// The longest path that nodes take, escaped.
#define FILE_ESCAPED_BYTES 3100u
#define FILES_PATH_BYTES (FILE_ESCAPED_BYTES + HTTP_PATH_BYTES)

static void files_path(const char *what, const char *id, const char *file, const char *more,
	char path[static FILES_PATH_BYTES])
{
	char escaped[FILE_ESCAPED_BYTES];
	snprintf(path, FILES_PATH_BYTES, "/v1/client/fs/%s/%.40s?path=%s%s", what, id,
		http_escape(file, escaped, sizeof escaped), more);
}

static void add_file(struct table *t, json_t *file)
{
	table_add(t, field_text(file, "FileMode"));
	table_add_format(t, "%lld", (long long)field_number(file, "Size"));
	table_add(t, field_text(file, "ModTime"));
	table_add_format(t, "%s%s", field_text(file, "Name"),
		json_is_true(json_object_get(file, "IsDir")) ? "/" : "");
}

static const char *const file_headings[] = {"Mode", "Size", "Modified Time", "Name", NULL};

static void put_files(json_t *files)
{
	struct table t;
	json_t *file;
	size_t i;
	table_begin(&t, file_headings);
	json_array_foreach(files, i, file) add_file(&t, file);
	table_print(&t, 0);
}

static void put_file(json_t *file)
{
	struct table t;
	table_begin_pairs(&t);
	table_pair(&t, "Name", "= %s", field_text(file, "Name"));
	table_pair(&t, "Mode", "= %s", field_text(file, "FileMode"));
	table_pair(&t, "Size", "= %lld", (long long)field_number(file, "Size"));
	table_pair(&t, "Modified", "= %s", field_text(file, "ModTime"));
	table_pair(&t, "Type", "= %s", field_text(file, "ContentType"));
	table_print(&t, 0);
}

// The allocation and the path that are meant; no path is the allocation's folder.
static enum exit_status read_target(struct session *session, const char **arguments, int count,
	char id[static LOOKUP_BYTES], const char **file)
{
	int used;
	enum exit_status result = alloc_target(session, arguments, count, id, &used);
	*file = result == STATUS_OK && count > used ? arguments[used] : "/";
	return result;
}

enum exit_status alloc_fs_ls(struct session *session, const char **arguments, int count)
{
	char id[LOOKUP_BYTES], path[FILES_PATH_BYTES];
	const char *file;
	enum exit_status result = read_target(session, arguments, count, id, &file);
	if (result != STATUS_OK)
		return result;
	files_path("ls", id, file, "", path);
	return http_show(session, path, put_files);
}

enum exit_status alloc_fs_stat(struct session *session, const char **arguments, int count)
{
	char id[LOOKUP_BYTES], path[FILES_PATH_BYTES];
	const char *file;
	enum exit_status result = read_target(session, arguments, count, id, &file);
	if (result != STATUS_OK)
		return result;
	files_path("stat", id, file, "", path);
	return http_show(session, path, put_file);
}

// By the route stream: cat answers 200 whatever is wrong.
enum exit_status alloc_fs_cat(struct session *session, const char **arguments, int count)
{
	char id[LOOKUP_BYTES], path[FILES_PATH_BYTES], place[FRAMES_PLACE_BYTES];
	const char *file;
	uint64_t lines;
	enum exit_status result = frames_read_place(&session->flags, place, &lines);
	if (result == STATUS_OK)
		result = read_target(session, arguments, count, id, &file);
	if (result != STATUS_OK)
		return result;
	files_path("stream", id, file, place, path);
	return frames_print(session, path, lines);
}

enum exit_status alloc_fs(struct session *session, const char **arguments, int count)
{
	char id[LOOKUP_BYTES], path[FILES_PATH_BYTES];
	const char *file;
	json_t *facts;
	if (flag_given(&session->flags, FLAG_STAT))
		return alloc_fs_stat(session, arguments, count);
	enum exit_status result = read_target(session, arguments, count, id, &file);
	if (result != STATUS_OK)
		return result;
	files_path("stat", id, file, "", path);
	result = http_get_json(session, path, &facts);
	if (result != STATUS_OK)
		return result;
	bool is_folder = json_is_true(json_object_get(facts, "IsDir"));
	json_decref(facts);
	return (is_folder ? alloc_fs_ls : alloc_fs_cat)(session, arguments, count);
}
