// Functions of files, for those who read a job file from their own disk.
#include "tools/hcl2/functions/functions.h"
#include <glib.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool files_are_allowed(struct call *call)
{
	if (!call->run->files_from)
		call_failed(call, "files are not read here");
	return call->run->files_from != NULL;
}

// The file's name; relative ones are from the folder of the job file.
static const char *path_of(struct call *call)
{
	const char *name = hcl2_copy(call->run, call_text(call, 0)).data;
	if (*name == '/')
		return name;
	if (name[0] == '~' && name[1] == '/')
		return hcl2_print(call->run, "%s%s", g_get_home_dir(), name + 1);
	return hcl2_print(call->run, "%s/%s", call->run->files_from, name);
}

// Its content; NULL after a failure.
static const char *content_of(struct call *call, struct text *content)
{
	const char *path = path_of(call);
	struct stat file;
	char *data;
	gsize size;
	if (stat(path, &file) != 0 || !S_ISREG(file.st_mode)) {
		call_failed(call, "there is no file %s", path);
		return NULL;
	}
	if (file.st_size > HCL2_STRING_BYTES_MAX) {
		call_failed(call, "the file %s is too large", path);
		return NULL;
	}
	if (!g_file_get_contents(path, &data, &size, NULL) || size > HCL2_STRING_BYTES_MAX) {
		call_failed(call, "the file %s cannot be read", path);
		return NULL;
	}
	*content = hcl2_copy(call->run, (struct text){data, (uint32_t)size});
	g_free(data);
	return path;
}

static const struct hcl2_value *fn_file(struct call *call)
{
	struct text content;
	const char *path = files_are_allowed(call) ? content_of(call, &content) : NULL;
	if (!path)
		return NULL;
	if (!g_utf8_validate(content.data, content.size, NULL))
		return call_failed(call, "the content of %s is not UTF-8 text", path);
	return value_string(call->run, content);
}

static const struct hcl2_value *fn_filebase64(struct call *call)
{
	struct text content;
	if (!files_are_allowed(call) || !content_of(call, &content))
		return NULL;
	char *encoded = g_base64_encode((const guchar *)content.data, content.size);
	struct text copy = hcl2_copy(call->run, text_of(encoded));
	g_free(encoded);
	return value_string(call->run, copy);
}

static const struct hcl2_value *fn_fileexists(struct call *call)
{
	struct stat file;
	if (!files_are_allowed(call))
		return NULL;
	if (stat(path_of(call), &file) != 0)
		return value_bool(call->run, false);
	if (!S_ISREG(file.st_mode))
		return call_failed(call, "this is no regular file");
	return value_bool(call->run, true);
}

// A text that GLib made.
static const struct hcl2_value *made_by_glib(struct call *call, char *text)
{
	struct text copy = hcl2_copy(call->run, text_of(text));
	g_free(text);
	return value_string(call->run, copy);
}

static const struct hcl2_value *fn_basename(struct call *call)
{
	const char *name = hcl2_copy(call->run, call_text(call, 0)).data;
	if (!files_are_allowed(call))
		return NULL;
	return made_by_glib(call, g_path_get_basename(*name ? name : "."));
}

static const struct hcl2_value *fn_dirname(struct call *call)
{
	char *name = (char *)hcl2_copy(call->run, call_text(call, 0)).data;
	if (!files_are_allowed(call))
		return NULL;
	return made_by_glib(call, g_path_get_dirname(name));
}

static const struct hcl2_value *fn_abspath(struct call *call)
{
	const char *name = hcl2_copy(call->run, call_text(call, 0)).data;
	if (!files_are_allowed(call))
		return NULL;
	return made_by_glib(call, g_canonicalize_filename(name, NULL));
}

static const struct hcl2_value *fn_pathexpand(struct call *call)
{
	const char *name = hcl2_copy(call->run, call_text(call, 0)).data;
	if (!files_are_allowed(call))
		return NULL;
	if (name[0] != '~' || (name[1] && name[1] != '/'))
		return call->arguments[0];
	return value_of_string(
		call->run, hcl2_print(call->run, "%s%s", g_get_home_dir(), name + 1));
}

static const struct hcl2_value *fn_fileset(struct call *call)
{
	return call_failed(call, "Berth does not offer it");
}

const struct function file_functions[] = {
	{"abspath", "s", fn_abspath},
	{"basename", "s", fn_basename},
	{"dirname", "s", fn_dirname},
	{"file", "s", fn_file},
	{"filebase64", "s", fn_filebase64},
	{"fileexists", "s", fn_fileexists},
	{"fileset", "ss", fn_fileset},
	{"pathexpand", "s", fn_pathexpand},
	{0},
};
