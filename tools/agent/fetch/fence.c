#include "tools/agent/fetch/fence.h"
#include <errno.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// What the first version of Landlock knows of writing.
#define WRITES                                                                  \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |        \
		LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR | \
		LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |     \
		LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |   \
		LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM)

// From the second version on files may be moved from folder to folder, if it is asked for.
static unsigned long long all_writes(long version)
{
#ifdef LANDLOCK_ACCESS_FS_REFER
	return version >= 2 ? WRITES | LANDLOCK_ACCESS_FS_REFER : WRITES;
#else
	return WRITES;
#endif
}

static int fence_writes(int folder)
{
	long version =
		syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	if (version < 1)
		return 0; // the kernel has none of it
	struct landlock_ruleset_attr handled = {.handled_access_fs = all_writes(version)};
	struct landlock_path_beneath_attr below = {
		.allowed_access = handled.handled_access_fs, .parent_fd = folder};
	int rules = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0);
	if (rules < 0)
		return -errno;
	int error = 0;
	if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &below, 0) < 0 ||
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		syscall(SYS_landlock_restrict_self, rules, 0) < 0)
		error = -errno;
	close(rules);
	return error;
}

static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3];

	memset(none, 0, sizeof none);
	return syscall(SYS_capset, &header, none) < 0 ? -errno : 0;
}

int fence_below(int folder)
{
	int error = fence_writes(folder);
	return error ? error : drop_capabilities();
}
