#include "tools/agent/vm/kept_console.h"
#include "state/base/error.h"
#include "state/base/listing/listing.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "state/base/time_units.h"
#include "tools/agent/base/folders.h"
#include "tools/agent/task/spec.h"
#include "tools/agent/vm/machine.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONSOLES "consoles"
#define LOGS "logs"
#define CONSOLE_PREFIX MACHINE_TASK ".stdout."
#define NAME_BYTES 200u

struct kept {
	char name[NAME_BYTES];
	int64_t time_ns, bytes;
};

static bool name_of(const char *name, const char *uid, char folder[static NAME_BYTES])
{
	bool is_safe = spec_is_safe_name(name) && spec_is_safe_name(uid);
	int size = is_safe ? snprintf(folder, NAME_BYTES, "%s-%s", name, uid) : 0;
	return size > 0 && size < (int)NAME_BYTES;
}

bool kept_console_folder(
	const char *data_folder, const char *name, const char *uid, char path[static 600])
{
	char folder[NAME_BYTES];
	return name_of(name, uid, folder) &&
	       snprintf(path, 600, "%.300s/" CONSOLES "/%s", data_folder, folder) < 600;
}

static bool is_entry(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

// Bytes of the folder's files; *said: of the console alone. Closes the descriptor, which may be none. False: there are
// more.
static bool measure_logs(int folder, int64_t *bytes, int64_t *said)
{
	const struct dirent *entry;
	struct stat st;
	DIR *entries = folder < 0 ? NULL : fdopendir(folder);
	bool is_whole = entries != NULL;
	int error = 0;
	*bytes = *said = 0;
	while (entries && (entry = listing_next(entries, &error)) != NULL) {
		if (!is_entry(entry))
			continue;
		if (fstatat(dirfd(entries), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
			is_whole = false;
			continue;
		}
		*bytes += st.st_size;
		if (strncmp(entry->d_name, CONSOLE_PREFIX, strlen(CONSOLE_PREFIX)) == 0)
			*said += st.st_size;
	}
	if (entries)
		closedir(entries);
	else if (folder >= 0)
		close(folder);
	return is_whole && !error;
}

static int order_of_kept(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;
	return (x->time_ns < y->time_ns) - (x->time_ns > y->time_ns);
}

// Takes the descriptor over. The newest come first. *error is -errno when there may be more.
static uint32_t list_kept(int consoles, struct kept **list, int *error)
{
	uint32_t count = 0, capacity = 0;
	const struct dirent *entry;
	char logs[NAME_BYTES + 20];
	struct stat st;
	int64_t said;
	DIR *entries = fdopendir(consoles);
	*list = NULL;
	*error = entries ? 0 : -errno;
	while (entries && (entry = listing_next(entries, error)) != NULL) {
		if (!is_entry(entry) || strlen(entry->d_name) >= NAME_BYTES ||
			fstatat(dirfd(entries), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		*list = memory_one_more(*list, count, &capacity, sizeof **list);
		struct kept *kept = &(*list)[count++];
		snprintf(kept->name, sizeof kept->name, "%s", entry->d_name);
		snprintf(logs, sizeof logs, "%s/alloc/" LOGS, kept->name);
		(void)measure_logs(folder_find(dirfd(entries), logs), &kept->bytes, &said);
		kept->time_ns = st.st_mtim.tv_sec * NS_PER_S + st.st_mtim.tv_nsec;
	}
	if (entries)
		closedir(entries);
	else
		close(consoles);
	if (count > 1)
		qsort(*list, count, sizeof **list, order_of_kept);
	return count;
}

static void remove_oldest(int top)
{
	struct kept *list = NULL;
	int64_t bytes = 0;
	int consoles = folder_find(top, CONSOLES);
	int listed = consoles < 0 ? consoles : folder_find(top, CONSOLES);
	int error = listed < 0 ? listed : 0;
	uint32_t count = listed < 0 ? 0 : list_kept(listed, &list, &error);
	if (error && error != -ENOENT) // none was kept yet
		log_warn("consoles-not-counted", "error=\"%s\"", error_text(error));
	for (uint32_t i = 0; i < count; i++) {
		bytes += list[i].bytes;
		if (i >= KEPT_CONSOLES_MAX || (i > 0 && bytes > KEPT_CONSOLES_BYTES_MAX))
			folder_remove(consoles, list[i].name);
	}
	free(list);
	if (consoles >= 0)
		close(consoles);
}

static int move_logs(int top, int from, const char *name)
{
	char path[NAME_BYTES + 30];
	int consoles = folder_make(top, CONSOLES, 0711);
	if (consoles < 0)
		return consoles;
	folder_remove(consoles, name);
	snprintf(path, sizeof path, "%s/alloc", name);
	int to = folder_make(consoles, path, 0711);
	int error = to < 0 ? to : renameat(from, LOGS, to, LOGS) < 0 ? -errno : 0;
	if (error)
		folder_remove(consoles, name);
	if (to >= 0)
		close(to);
	close(consoles);
	return error;
}

// 0 or -errno: what it said is lost.
static int keep_logs(int top, const char *name, const struct uuid *instance)
{
	char id[UUID_TEXT_BYTES], path[UUID_TEXT_BYTES + 20];
	int64_t bytes, said;
	snprintf(path, sizeof path, "alloc/%s/alloc", uuid_format(instance, id));
	int from = folder_find(top, path);
	int logs = from < 0 ? from : folder_find(from, LOGS);
	int error = logs < 0 ? logs : 0;
	// What cannot be measured may be worth keeping.
	if (!error && (!measure_logs(logs, &bytes, &said) || said > 0)) {
		error = move_logs(top, from, name);
		remove_oldest(top);
	}
	if (from >= 0)
		close(from);
	return error == -ENOENT ? 0 : error; // it never began
}

void kept_console_put(const char *data_folder, const json_t *machine, const struct uuid *instance)
{
	char name[NAME_BYTES];
	if (!name_of(spec_text(machine, "name"), spec_text(machine, "uid"), name))
		return;
	int top = folder_open(data_folder);
	int error = top < 0 ? top : keep_logs(top, name, instance);
	if (error)
		log_warn("console-not-kept", "name=%s error=\"%s\"", name, error_text(error));
	if (top >= 0)
		close(top);
}
