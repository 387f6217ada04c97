#include "tools/berth/cli/file.h"
#include "state/base/memory.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum exit_status file_read(const char *path, char **text, size_t *size)
{
	bool standard = strcmp(path, "-") == 0;
	FILE *file = standard ? stdin : fopen(path, "re");
	if (!file)
		return complain(STATUS_FAILURE, "cannot read %s: %s", path, strerror(errno));
	*text = memory_take(FILE_BYTES_MAX + 2);
	*size = fread(*text, 1, FILE_BYTES_MAX + 1, file);
	int error = ferror(file) ? errno : 0;
	if (!standard)
		fclose(file);
	if (!error && *size <= FILE_BYTES_MAX)
		return STATUS_OK;
	free(*text);
	return error ? complain(STATUS_FAILURE, "cannot read %s: %s", path, strerror(error))
		     : complain(STATUS_FAILURE, "%s is larger than 4 MiB", path);
}

enum exit_status file_read_object(const char *path, json_t **object)
{
	char *text;
	size_t size;
	json_error_t error;
	enum exit_status result = file_read(path, &text, &size);
	if (result != STATUS_OK)
		return result;
	json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
	free(text);
	if (!root)
		return complain(STATUS_REFUSED,
			"%s line %d column %d: %s; a JSON object is expected", path, error.line,
			error.column, error.text);
	if (!json_is_object(root)) {
		json_decref(root);
		return complain(STATUS_REFUSED, "%s: a JSON object is expected", path);
	}
	*object = root;
	return STATUS_OK;
}

enum exit_status file_write_new(const char *path, const char *text)
{
	FILE *file = fopen(path, "wxe");
	if (!file)
		return complain(STATUS_FAILURE, "cannot write %s: %s", path, strerror(errno));
	bool is_put = fputs(text, file) >= 0;
	if (fclose(file) == 0 && is_put)
		return STATUS_OK;
	complain(STATUS_FAILURE, "cannot write %s: %s", path, strerror(errno));
	(void)unlink(path); // a part of it would be in the way of the next try
	return STATUS_FAILURE;
}
