#include "tools/agent/vm/suspended.h"
#include "state/base/listing/listing.h"
#include "state/base/log.h"
#include "state/base/memory.h"
#include "tools/agent/base/folders.h"
#include "tools/agent/vm/qcow2.h"
#include "tools/agent/vm/vm_image.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_BYTES 200u // as vm_suspended_name() makes them
#define PART ".part"    // as in qemu_talk.c

struct suspended {
	char name[NAME_BYTES + sizeof PART];
	char needs[NAME_BYTES]; // the one that its disk goes on from; "": none
	int64_t used_ns;
	bool is_part, is_wanted;
};

// ".../suspended/NAME/disk.qcow2" → NAME; "": the disk goes on from an image.
static void name_of_origin(const char *disk, char name[static NAME_BYTES])
{
	static const char folder[] = "/suspended/";
	const char *at = disk, *next;
	name[0] = '\0';
	while ((next = strstr(at, folder)) != NULL)
		at = next + sizeof folder - 1;
	size_t size = strcspn(at, "/");
	if (at != disk && size < NAME_BYTES && strcmp(at + size, "/" SUSPENDED_DISK) == 0)
		snprintf(name, NAME_BYTES, "%.*s", (int)size, at);
}

// Its memory is written when it is suspended, and touched when it is resumed.
static int64_t last_use_ns(int all, const char *name)
{
	char path[300];
	struct stat st;
	snprintf(path, sizeof path, "%.255s/" SUSPENDED_STATE, name);
	if (fstatat(all, path, &st, AT_SYMLINK_NOFOLLOW) < 0 &&
		fstatat(all, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return INT64_MAX; // somebody takes it away
	return st.st_mtim.tv_sec * NS_PER_S + st.st_mtim.tv_nsec;
}

static void look_at(int all, const char *folder, const char *name, struct suspended *s)
{
	char path[900], origin[QCOW2_PATH_BYTES];
	size_t size = strlen(name), part = strlen(PART);
	*s = (struct suspended){.used_ns = last_use_ns(all, name)};
	snprintf(s->name, sizeof s->name, "%s", name);
	s->is_part = size > part && strcmp(name + size - part, PART) == 0;
	snprintf(path, sizeof path, "%s/%s/" SUSPENDED_DISK, folder, name);
	if (qcow2_origin(path, origin))
		name_of_origin(origin, s->needs);
}

// Takes the descriptor over.
static uint32_t list_suspended(int all, const char *folder, struct suspended **list)
{
	uint32_t count = 0, capacity = 0;
	int error = 0;
	const struct dirent *entry;
	DIR *entries = fdopendir(all);
	*list = NULL;
	while (entries && (entry = listing_next(entries, &error)) != NULL) {
		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= sizeof(*list)->name)
			continue;
		*list = memory_one_more(*list, count, &capacity, sizeof **list);
		look_at(dirfd(entries), folder, entry->d_name, &(*list)[count++]);
	}
	if (entries)
		closedir(entries);
	else
		close(all);
	// Without one that is wanted, its origin would be taken for one that nobody wants.
	return error ? 0 : count;
}

static bool is_wanted(const struct suspended *s, const struct suspended_rule *rule)
{
	int64_t keeps_ns = s->is_part ? SUSPENDED_PART_NS : rule->keeps_ns;
	return keeps_ns == 0 || s->used_ns >= rule->now_ns - keeps_ns ||
	       rule->is_in_use(rule->context, s->name);
}

// Whoever is wanted wants its origin.
static void want_origin_of(struct suspended *list, uint32_t count, const struct suspended *s)
{
	for (uint32_t i = 0; *s->needs && i < count; i++) {
		if (strcmp(list[i].name, s->needs) != 0 || list[i].is_wanted)
			continue;
		list[i].is_wanted = true;
		s = &list[i];
		i = UINT32_MAX; // from the beginning
	}
}

uint32_t suspended_collect(const char *data_folder, const struct suspended_rule *rule)
{
	char folder[600];
	struct suspended *list = NULL;
	uint32_t removed = 0;
	vm_suspended_folder(data_folder, "", folder);
	int all = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int listed = all < 0 ? -1 : openat(all, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint32_t count = listed < 0 ? 0 : list_suspended(listed, folder, &list);
	for (uint32_t i = 0; i < count; i++)
		list[i].is_wanted = is_wanted(&list[i], rule);
	for (uint32_t i = 0; i < count; i++)
		if (list[i].is_wanted)
			want_origin_of(list, count, &list[i]);
	for (uint32_t i = 0; i < count; i++) {
		if (list[i].is_wanted)
			continue;
		log_info("suspended-removed", "name=%s", list[i].name);
		folder_remove(all, list[i].name);
		removed++;
	}
	free(list);
	if (all >= 0)
		close(all);
	return removed;
}
