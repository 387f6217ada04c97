#include "tools/agent/task/output.h"
#include "state/base/listing/listing.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The number of a file "NAME.7"; false: it is another file.
static bool output_number(const char *file, const char *name, uint32_t *number)
{
	size_t size = strlen(name);
	char *end;

	if (strncmp(file, name, size) != 0 || file[size] != '.' || file[size + 1] < '0' ||
		file[size + 1] > '9')
		return false;
	errno = 0;
	unsigned long value = strtoul(file + size + 1, &end, 10);
	*number = (uint32_t)value;
	return *end == '\0' && errno == 0 && value < UINT32_MAX;
}

int output_find(struct output *o, const char *path, const struct output_rule *rule)
{
	char folder[sizeof o->path];
	const struct dirent *entry;
	bool is_first = true;
	uint32_t number;

	*o = (struct output){.rule = *rule, .file = -1};
	snprintf(o->path, sizeof o->path, "%s", path);
	snprintf(folder, sizeof folder, "%s", path);
	char *name = strrchr(folder, '/');
	if (!name)
		return 0;
	*name++ = '\0';
	DIR *files = opendir(folder);
	int error = files || errno == ENOENT ? 0 : -errno;
	while (files && (entry = listing_next(files, &error)) != NULL) {
		if (!output_number(entry->d_name, name, &number))
			continue;
		if (is_first || number < o->oldest)
			o->oldest = number;
		if (is_first || number > o->newest)
			o->newest = number;
		is_first = false;
	}
	if (files)
		closedir(files);
	return error;
}

static void output_file_path(const struct output *o, uint32_t number, char *path, size_t size)
{
	snprintf(path, size, "%s.%u", o->path, number);
}

void output_newest_path(const struct output *o, char *path, size_t size)
{
	output_file_path(o, o->newest, path, size);
}

static void remove_old_files(struct output *o)
{
	char path[sizeof o->path + 16];

	for (; o->newest - o->oldest >= o->rule.files_max; o->oldest++) {
		output_file_path(o, o->oldest, path, sizeof path);
		(void)unlink(path); // it may be gone already
	}
}

static bool open_newest(struct output *o)
{
	char path[sizeof o->path + 16];
	struct stat st;

	output_newest_path(o, path, sizeof path);
	o->file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (o->file < 0)
		return false;
	o->size = fstat(o->file, &st) == 0 ? (uint64_t)st.st_size : 0;
	remove_old_files(o);
	return true;
}

void output_begin(const char *path, const struct output_rule *rule)
{
	struct output o;

	if (output_find(&o, path, rule) == 0 && !rule->is_disabled && open_newest(&o))
		output_close(&o);
}

// How much of it goes into the file that is open: all, or up to the end of a line, or what there is room for.
static size_t share_of_file(const struct output *o, const char *bytes, size_t size)
{
	uint64_t room = o->rule.file_bytes_max > o->size ? o->rule.file_bytes_max - o->size : 0;

	if (size <= room)
		return size;
	const char *line = room ? memrchr(bytes, '\n', (size_t)room) : NULL;
	if (line)
		return (size_t)(line + 1 - bytes);
	return o->size > 0 && memchr(bytes, '\n', size) ? 0 : (size_t)room;
}

static void append_bytes(struct output *o, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t written = write(o->file, bytes, size);
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return;
		o->size += (uint64_t)written;
		bytes += written;
		size -= (size_t)written;
	}
}

void output_write(struct output *o, const char *bytes, size_t size)
{
	while (size > 0) {
		if (o->file < 0 && !open_newest(o))
			return;
		size_t share = share_of_file(o, bytes, size);
		append_bytes(o, bytes, share);
		bytes += share;
		size -= share;
		if (size == 0)
			return;
		output_close(o);
		o->newest++;
	}
}

void output_close(struct output *o)
{
	if (o->file >= 0)
		close(o->file);
	o->file = -1;
}
