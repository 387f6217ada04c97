#include "tools/agent/service/log_files.h"
#include "state/base/listing/listing.h"
#include "state/base/memory.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char logs_folder[] = "alloc/logs";
#define INDEX_MAX 4294967295ll

// -1: the name is no file of this output.
static int64_t index_of_name(const char *name, const char *output)
{
	size_t size = strlen(output);
	char *end;
	if (strncmp(name, output, size) != 0 || name[size] != '.' || name[size + 1] < '0' ||
		name[size + 1] > '9')
		return -1;
	errno = 0;
	long long index = strtoll(name + size + 1, &end, 10);
	return *end || errno || index > INDEX_MAX ? -1 : index;
}

static int order_of_log_files(const void *a, const void *b)
{
	const struct log_file *x = a, *y = b;
	return (x->index > y->index) - (x->index < y->index);
}

// Where there is no such folder, there are no entries.
static int open_logs(const struct alloc_files *files, DIR **entries)
{
	int found = files->folder < 0 ? -ENOENT : alloc_files_find(files, logs_folder);
	int fd = found < 0 ? found : alloc_files_read(found);
	*entries = fd < 0 ? NULL : fdopendir(fd);
	int error = *entries ? 0 : fd < 0 ? fd : -errno;
	if (error && fd >= 0)
		close(fd);
	return error == -ENOENT ? 0 : error;
}

int log_files_list(const struct alloc_files *files, const char *output, struct log_file **list,
	uint32_t *count_at)
{
	uint32_t count = 0, capacity = 0;
	const struct dirent *entry;
	struct stat st;
	DIR *entries;
	*list = NULL;
	*count_at = 0;
	int error = open_logs(files, &entries);
	while (entries && (entry = listing_next(entries, &error)) != NULL) {
		int64_t index = index_of_name(entry->d_name, output);
		if (index < 0 ||
			fstatat(dirfd(entries), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		*list = memory_one_more(*list, count, &capacity, sizeof **list);
		(*list)[count++] = (struct log_file){index, (int64_t)st.st_size};
	}
	if (entries)
		closedir(entries);
	if (error) {
		free(*list);
		*list = NULL;
		return error;
	}
	if (count > 1)
		qsort(*list, count, sizeof **list, order_of_log_files);
	*count_at = count;
	return 0;
}

int log_files_after(
	const struct alloc_files *files, const char *output, int64_t index, int64_t *next)
{
	const struct dirent *entry;
	DIR *entries;
	*next = -1;
	int error = open_logs(files, &entries);
	while (entries && (entry = listing_next(entries, &error)) != NULL) {
		int64_t found = index_of_name(entry->d_name, output);
		if (found > index && (*next < 0 || found < *next))
			*next = found;
	}
	if (entries)
		closedir(entries);
	if (error)
		*next = -1; // the one that comes next may be among those that were not read
	return error;
}

void log_file_path(const char *output, int64_t index, char path[static ALLOC_PATH_BYTES])
{
	snprintf(path, ALLOC_PATH_BYTES, "%s/%.300s.%lld", logs_folder, output, (long long)index);
}

static struct log_place place_from_start(const struct log_file *list, uint32_t count, int64_t bytes)
{
	uint32_t i = 0;
	while (i + 1 < count && bytes >= list[i].bytes)
		bytes -= list[i++].bytes;
	return (struct log_place){list[i].index, bytes < list[i].bytes ? bytes : list[i].bytes};
}

static struct log_place place_from_end(const struct log_file *list, uint32_t count, int64_t bytes)
{
	uint32_t i = count - 1;
	if (bytes == 0)
		return (struct log_place){list[i].index, 0};
	while (i > 0 && bytes > list[i].bytes)
		bytes -= list[i--].bytes;
	return (struct log_place){list[i].index, bytes < list[i].bytes ? list[i].bytes - bytes : 0};
}

struct log_place log_place_find(
	const struct log_file *list, uint32_t count, int64_t bytes, bool is_from_end)
{
	if (count == 0)
		return (struct log_place){-1, 0};
	bytes = bytes > 0 ? bytes : 0;
	return is_from_end ? place_from_end(list, count, bytes)
			   : place_from_start(list, count, bytes);
}
