#include "state/store/failure.h"
#include "state/base/error.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/listing/listing.h"
#include "state/base/log.h"
#include "state/store/files.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MARK_NAME "failed"

void failure_mark(const char *directory, int error)
{
	char text[256];
	char *path = path_of(directory, MARK_NAME);
	int size =
		snprintf(text, sizeof text, "a write of the log failed: %s\n", error_text(error));
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
	bool is_durable = !FAILPOINT(STORE_MARK) && fd >= 0 &&
			  write(fd, text, (size_t)size) == size && fsync(fd) == 0 &&
			  directory_sync(directory) == 0;

	if (!is_durable)
		log_error("store-not-marked",
			"file=%s error=\"%s\" action=\"look at the disk before the next start\"",
			path, error_text(-errno));
	if (fd >= 0)
		close(fd);
	free(path);
}

int failure_check(const char *directory, const struct complaint *complaint)
{
	char text[256] = "";
	char *path = path_of(directory, MARK_NAME);
	int fd = open(path, O_RDONLY | O_CLOEXEC), error = 0;

	if (fd >= 0) {
		bool is_read = read(fd, text, sizeof text - 1) > 0;
		close(fd);
		text[is_read ? strcspn(text, "\n") : 0] = '\0';
		error = complain(complaint, -EIO,
			"%s says: %s; all that was acknowledged before is stored, but the disk may "
			"fail again: see the kernel's log, mend or replace the disk, look at the "
			"store with berthd --verify-state, then remove that file",
			path, text[0] ? text : "a write of the log failed");
	}
	free(path);
	return error;
}

static void forget_file(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0) { // else whoever needs it complains
		(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED); // folders have no such pages
		close(fd);
	}
}

static int forget_files(const char *directory, const struct complaint *complaint)
{
	const struct dirent *entry;
	DIR *files = opendir(directory);
	int error = files || errno == ENOENT ? 0 : -errno;

	while (files && (entry = listing_next(files, &error)) != NULL)
		if (entry->d_name[0] != '.')
			forget_file(dirfd(files), entry->d_name);
	if (files)
		closedir(files);
	return error ? complain(complaint, error, "cannot list the store's files in %s: %s",
			       directory, error_text(error))
		     : 0;
}

int failure_forget_pages(const char *directory, const struct complaint *complaint)
{
	char *log = path_of(directory, "log");
	int error = forget_files(directory, complaint);

	if (!error)
		error = forget_files(log, complaint);
	free(log);
	return error;
}
