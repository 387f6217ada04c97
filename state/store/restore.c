// A store that is made of a snapshot alone, as another store gave it.
#include "state/base/error.h"
#include "state/snapshot/snapshot_view.h"
#include "state/store/files.h"
#include "state/store/snapshot_file.h"
#include "state/store/store_private.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_entry(const char *name)
{
	return strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

// Makes the directory. One that is there has to be empty.
static int claim_directory(const char *directory, const struct complaint *complaint)
{
	if (mkdir(directory, 0750) == 0)
		return 0;
	DIR *dir = errno == EEXIST ? opendir(directory) : NULL;
	if (!dir)
		return complain(
			complaint, -errno, "cannot make %s: %s", directory, error_text(-errno));
	const struct dirent *entry;
	do
		entry = readdir(dir);
	while (entry && !is_entry(entry->d_name));
	bool is_empty = entry == NULL;
	closedir(dir);
	return is_empty ? 0
			: complain(complaint, -ENOTEMPTY,
				  "%s is not empty: move it away first, or name another "
				  "directory",
				  directory);
}

int store_restore_begin(const char *directory, char *message, uint32_t message_size)
{
	struct complaint complaint = {message, message_size};
	int file = claim_directory(directory, &complaint);
	if (file < 0)
		return file;
	char *path = path_of(directory, SNAPSHOT_UNFINISHED);
	file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	if (file < 0)
		file = complain(&complaint, -errno, "cannot make %s: %s", path, error_text(-errno));
	free(path);
	return file;
}

static int keep(const char *directory, const char *unfinished, uint64_t index)
{
	struct store named = {.directory = (char *)directory};
	char *path = snapshot_path(&named, index);
	int error = rename(unfinished, path) < 0 ? -errno : directory_sync(directory);
	free(path);
	return error;
}

int store_restore_end(
	const char *directory, int file, uint64_t *index, char *message, uint32_t message_size)
{
	struct complaint complaint = {message, message_size};
	struct snapshot_info info;
	char *path = path_of(directory, SNAPSHOT_UNFINISHED);
	int error = fsync(file) < 0 ? -errno : 0;
	close(file);
	if (error < 0)
		complain(&complaint, error, "cannot write %s: %s", path, error_text(error));
	else
		error = snapshot_check_file(path, SNAPSHOT_ITEMS_VERSION, &info, &complaint);
	if (error == 0 && (error = keep(directory, path, info.index)) < 0)
		complain(&complaint, error, "cannot put the snapshot into %s: %s", directory,
			error_text(error));
	if (error < 0)
		unlink(path);
	else
		*index = info.index;
	free(path);
	return error;
}

void store_restore_abandon(const char *directory, int file)
{
	char *path = path_of(directory, SNAPSHOT_UNFINISHED);
	close(file);
	unlink(path);
	free(path);
}
