#include "tools/berthd/privileges.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/log.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDERS_DEEP 8u

// None of them is one that overrides the rights on files. The last gives a socket its group.
static const cap_value_t of_ports[] = {CAP_NET_ADMIN, CAP_NET_RAW, CAP_NET_BIND_SERVICE, CAP_BPF,
	CAP_SYS_ADMIN, CAP_IPC_LOCK, CAP_SYS_NICE, CAP_SYS_RAWIO, CAP_CHOWN};

static bool refuse_user(char *message, uint32_t size, const char *user, const char *what, int error)
{
	snprintf(message, size, "user: %s %s: %s", what, user, error_text(error));
	return false;
}

// Has this thread have these capabilities, of those that it may, and no others.
static int set_capabilities(const cap_value_t *values, size_t count)
{
	cap_t now = cap_get_proc(), wanted = cap_init();
	int error = now && wanted ? 0 : -ENOMEM;
	for (size_t i = 0; i < count && error == 0; i++) {
		cap_flag_value_t may = CAP_CLEAR;
		if (cap_get_flag(now, values[i], CAP_PERMITTED, &may) == 0 && may == CAP_SET &&
			(cap_set_flag(wanted, CAP_PERMITTED, 1, &values[i], CAP_SET) != 0 ||
				cap_set_flag(wanted, CAP_EFFECTIVE, 1, &values[i], CAP_SET) != 0))
			error = -errno;
	}
	if (error == 0 && cap_set_proc(wanted) != 0)
		error = -errno;
	cap_free(now);
	cap_free(wanted);
	return error;
}

// What lies at a descriptor of O_PATH becomes the user's when it is root's. A file with a second name may be somebody
// else's: it is left.
static int take_over(int at, const struct stat *found)
{
	bool is_ours = found->st_uid == geteuid();
	bool is_plain =
		S_ISDIR(found->st_mode) || (S_ISREG(found->st_mode) && found->st_nlink == 1);
	if (is_ours || found->st_uid != 0 || !is_plain)
		return 0;
	return fchownat(at, "", geteuid(), getegid(), AT_EMPTY_PATH) == 0 ? 0 : -errno;
}

static int take_over_at(int folder, const char *name, uint32_t depth);

// What another user has and keeps to himself is left.
static int take_over_entries(int folder, uint32_t depth)
{
	int inner = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (inner < 0)
		return errno == EACCES ? 0 : -errno;
	DIR *entries = fdopendir(inner);
	if (!entries) {
		int error = -errno;
		close(inner);
		return error;
	}
	int error = 0;
	for (const struct dirent *e; error == 0 && (errno = 0, e = readdir(entries));)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			error = take_over_at(inner, e->d_name, depth);
	error = error ? error : -errno;
	(void)closedir(entries);
	return error;
}

// No link is followed: whoever was the user before may have written here.
static int take_over_at(int folder, const char *name, uint32_t depth)
{
	struct stat found;
	int at = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (at < 0)
		return errno == ENOENT ? 0 : -errno;
	int error = fstat(at, &found) == 0 ? take_over(at, &found) : -errno;
	if (error == 0 && S_ISDIR(found.st_mode) && depth < FOLDERS_DEEP)
		error = take_over_entries(at, depth + 1);
	close(at);
	return error;
}

// Root's own number stays the saved one, so that the kernel leaves capabilities until the second step.
static int become(const struct passwd *user)
{
	if (initgroups(user->pw_name, user->pw_gid) != 0 ||
		setresgid(user->pw_gid, user->pw_gid, user->pw_gid) != 0 ||
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
		setresuid(user->pw_uid, user->pw_uid, 0) != 0)
		return -errno;
	return set_capabilities(of_ports, sizeof of_ports / sizeof of_ports[0]);
}

// Where nobody is named, root is who has data_dir: it would leave files there that the daemon may not read.
static const struct passwd *find_user(const char *user, const char *data_dir)
{
	struct stat found;
	if (*user)
		return getpwnam(user);
	return geteuid() == 0 && stat(data_dir, &found) == 0 && found.st_uid != 0
		       ? getpwuid(found.st_uid)
		       : NULL;
}

bool privileges_lower(const char *user, const char *data_dir, char *message, uint32_t message_size)
{
	const struct passwd *found = find_user(user, data_dir);
	if (!found && *user) {
		snprintf(message, message_size,
			"user: there is no user \"%.80s\" on this machine; systemd-sysusers makes "
			"berthd, or name another one",
			user);
		return false;
	}
	if (!found || found->pw_uid == geteuid())
		return true;
	user = found->pw_name;
	if (geteuid() != 0) {
		snprintf(message, message_size,
			"user: only root can become %s; start berthd as root or as %s", user, user);
		return false;
	}
	(void)mkdir(data_dir, 0700); // where it cannot be made, who opens it says so
	int error = become(found);
	if (error != 0)
		return refuse_user(message, message_size, user, "becoming", error);
	error = take_over_at(AT_FDCWD, data_dir, 0);
	if (error != 0)
		return refuse_user(message, message_size, user, "giving data_dir to", error);
	return true;
}

bool privileges_drop(bool keeps_net_admin, char *message, uint32_t message_size)
{
	static const cap_value_t kept[] = {CAP_NET_ADMIN};
	uid_t real, effective, saved;
	CHECK(getresuid(&real, &effective, &saved) == 0);
	if (saved == effective)
		return true;
	// The C library has all threads do it; the kernel takes capabilities from who has nothing of root's any more.
	if (prctl(PR_SET_KEEPCAPS, keeps_net_admin, 0, 0, 0) != 0 ||
		setresuid(effective, effective, effective) != 0) {
		snprintf(message, message_size, "user: leaving root: %s", error_text(-errno));
		return false;
	}
	int error = set_capabilities(kept, keeps_net_admin ? 1 : 0);
	if (error != 0 || setuid(0) == 0) {
		snprintf(message, message_size, "user: root could not be left: %s",
			error_text(error));
		return false;
	}
	log_info("privileges-dropped", "uid=%u capabilities=%s", (unsigned)effective,
		keeps_net_admin ? "net_admin" : "none");
	return true;
}
