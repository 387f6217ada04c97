// A store that is made of a snapshot alone, as another store gave it; and one that takes the place of another:
//
//	DIR/incoming  a store that is being made of a snapshot
//	DIR/arrived   the same, once it is whole: the next open of DIR puts its snapshot in the place of what DIR has
#include "state/base/error.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/listing/listing.h"
#include "state/base/log.h"
#include "state/snapshot/snapshot_view.h"
#include "state/store/files.h"
#include "state/store/snapshot_file.h"
#include "state/store/store_private.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INCOMING "incoming"
#define ARRIVED "arrived"

static bool is_entry(const char *name)
{
	return strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

// Makes the directory. One that is there has to be empty.
static int claim_directory(const char *directory, const struct complaint *complaint)
{
	if (CAN_FAIL(RESTORE_MKDIR, mkdir(directory, 0750)) == 0)
		return 0;
	DIR *dir = errno == EEXIST ? opendir(directory) : NULL;
	if (!dir)
		return complain(
			complaint, -errno, "cannot make %s: %s", directory, error_text(-errno));
	const struct dirent *entry;
	int error = 0;
	do
		entry = listing_next(dir, &error);
	while (entry && !is_entry(entry->d_name));
	bool is_empty = entry == NULL;
	closedir(dir);
	if (error != 0)
		return complain(
			complaint, error, "cannot read %s: %s", directory, error_text(error));
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
	file = CAN_FAIL(RESTORE_CREATE, open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640));
	if (file < 0)
		file = complain(&complaint, -errno, "cannot make %s: %s", path, error_text(-errno));
	free(path);
	return file;
}

static int keep(const char *directory, const char *unfinished, uint64_t index)
{
	struct store named = {.directory = (char *)directory};
	char *path = snapshot_path(&named, index);
	int error = CAN_FAIL(RESTORE_RENAME, rename(unfinished, path)) < 0
			    ? -errno
			    : directory_sync(directory);
	free(path);
	return error;
}

int store_restore_end(
	const char *directory, int file, uint64_t *index, char *message, uint32_t message_size)
{
	struct complaint complaint = {message, message_size};
	struct snapshot_info info;
	char *path = path_of(directory, SNAPSHOT_UNFINISHED);
	int error = CAN_FAIL(RESTORE_SYNC, fsync(file)) < 0 ? -errno : 0;
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

// Removes a folder of plain files. 0 also when it is not there.
static int remove_folder(const char *path)
{
	DIR *dir = opendir(path);
	int error = 0;

	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	for (struct dirent *entry; error == 0 && (entry = listing_next(dir, &error));)
		if (is_entry(entry->d_name) && unlinkat(dirfd(dir), entry->d_name, 0) < 0)
			error = -errno;
	closedir(dir);
	return error == 0 && rmdir(path) < 0 ? -errno : error;
}

static int remove_own(const char *directory)
{
	struct store named = {.directory = (char *)directory};
	struct snapshot_list list;
	char *log = path_of(directory, "log");
	int error = remove_folder(log);

	free(log);
	if (error == 0)
		error = snapshot_list_read(directory, &list);
	if (error != 0)
		return error;
	for (uint32_t i = 0; error == 0 && i < list.count; i++) {
		char *path = snapshot_path(&named, list.indexes[i]);
		error = CAN_FAIL(RESTORE_REMOVE, unlink(path)) < 0 ? -errno : 0;
		free(path);
	}
	free(list.indexes);
	return error == 0 ? directory_sync(directory) : error;
}

// The snapshot is moved last: when it is not there any more, all was done.
static int move_in(const char *directory, const char *arrived, uint64_t index)
{
	struct store from = {.directory = (char *)arrived}, to = {.directory = (char *)directory};
	char *there = snapshot_path(&from, index), *here = snapshot_path(&to, index);
	int error = remove_own(directory);

	if (error == 0 && CAN_FAIL(RESTORE_MOVE, rename(there, here)) < 0)
		error = -errno;
	if (error == 0)
		error = directory_sync(directory);
	free(there);
	free(here);
	return error;
}

static int move_rest(const char *directory, const char *arrived)
{
	DIR *dir = FAILPOINT(RESTORE_LIST) ? NULL : opendir(arrived);
	int error = 0;

	if (!dir)
		return -errno;
	for (struct dirent *entry;
		error == 0 && (entry = LISTING_NEXT(RESTORE_NEXT, dir, &error));) {
		char *here = path_of(directory, entry->d_name);
		if (is_entry(entry->d_name) &&
			CAN_FAIL(RESTORE_MOVE_REST,
				renameat(dirfd(dir), entry->d_name, AT_FDCWD, here)) < 0)
			error = -errno;
		free(here);
	}
	closedir(dir);
	return error == 0 ? directory_sync(directory) : error;
}

int exchange_finish(const char *directory, const struct complaint *complaint)
{
	char *arrived = path_of(directory, ARRIVED);
	struct snapshot_list list;
	int error = snapshot_list_read(arrived, &list);
	bool is_there = error != -ENOENT;

	if (error == 0 && list.count > 0)
		error = move_in(directory, arrived, list.indexes[0]);
	if (is_there && error == 0)
		error = move_rest(directory, arrived);
	if (is_there && error == 0)
		error = remove_folder(arrived);
	if (is_there && error != 0)
		complain(complaint, error, "the snapshot in %s cannot be put in its place: %s",
			arrived, error_text(error));
	else if (is_there && list.count > 0)
		log_warn("store-exchanged", "index=%lu", list.indexes[0]);
	if (is_there)
		free(list.indexes);
	free(arrived);
	return is_there ? error : 0;
}

char *store_incoming_path(const char *directory)
{
	return path_of(directory, INCOMING);
}

void store_incoming_drop(const char *directory)
{
	free(store_incoming(directory));
}

char *store_incoming(const char *directory)
{
	char *incoming = path_of(directory, INCOMING);
	int error = remove_folder(incoming);

	if (error != 0)
		log_warn(
			"store-incoming-left", "path=%s error=\"%s\"", incoming, error_text(error));
	return incoming;
}

int store_arrived(const char *directory)
{
	char *incoming = path_of(directory, INCOMING), *arrived = path_of(directory, ARRIVED);
	int error = remove_folder(arrived); // an older one

	if (error == 0)
		error = CAN_FAIL(RESTORE_ARRIVE, rename(incoming, arrived)) < 0
				? -errno
				: directory_sync(directory);
	free(incoming);
	free(arrived);
	return error;
}
