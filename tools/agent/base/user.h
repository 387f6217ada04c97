// Users of this node, as its user database has them.
#pragma once
#include <stdint.h>
#include <sys/types.h>

struct user {
	uid_t uid;
	gid_t gid;
	int group_count;
	gid_t *groups; // all of them, its own one, too
};

// 0 with the user but no groups; or -errno and a sentence: -ENOENT when there is none of that name, anything else when
// nobody can tell now. Any thread.
int user_find(const char *name, struct user *, char *message, uint32_t message_size);
// The groups, too. Caller frees them with user_free(), after a failure as well.
int user_find_with_groups(const char *name, struct user *, char *message, uint32_t message_size);
void user_free(struct user *);
