#include "tools/agent/base/user.h"
#include "state/base/memory.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GROUPS_AT_FIRST 64

// With more than one source of users the library takes one that it cannot read for one that has nobody.
static int why_unreadable(void)
{
	int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

int user_find(const char *name, struct user *user, char *message, uint32_t message_size)
{
	char buffer[4096];
	struct passwd entry, *found = NULL;
	int error = getpwnam_r(name, &entry, buffer, sizeof buffer, &found);

	*user = (struct user){0};
	if (!error && !found)
		error = why_unreadable();
	if (error && error != ENOENT && error != ESRCH) {
		snprintf(message, message_size, "cannot look for the user \"%.64s\": %s", name,
			strerror(error));
		return -error;
	}
	if (!found) {
		snprintf(message, message_size, "there is no user \"%.64s\" on this node", name);
		return -ENOENT;
	}
	user->uid = entry.pw_uid;
	user->gid = entry.pw_gid;
	return 0;
}

int user_find_with_groups(const char *name, struct user *user, char *message, uint32_t message_size)
{
	int error = user_find(name, user, message, message_size), room = 0, found = -1;

	if (error)
		return error;
	for (user->group_count = GROUPS_AT_FIRST; found < 0 && user->group_count > room;) {
		room = user->group_count;
		user->groups = memory_resize(user->groups, (size_t)room * sizeof user->groups[0]);
		// Tells how many there are where it has not enough room.
		found = getgrouplist(name, user->gid, user->groups, &user->group_count);
	}
	if (found >= 0)
		return 0;
	snprintf(message, message_size, "cannot find the groups of the user \"%.64s\"", name);
	return -ENOMEM;
}

void user_free(struct user *user)
{
	free(user->groups);
	user->groups = NULL;
	user->group_count = 0;
}
