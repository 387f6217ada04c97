#include "tools/agent/exec/exec_place.h"
#include "state/base/bytes.h"
#include "state/base/memory.h"
#include "tools/agent/confine/cgroup.h"
#include "tools/agent/confine/filter.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct namespace_row {
	const char *name;
	int flag;
};
static const struct namespace_row namespace_rows[] = {
	{"user", CLONE_NEWUSER}, {"mnt", CLONE_NEWNS}, {"pid", CLONE_NEWPID}, {"net", CLONE_NEWNET},
	{"ipc", CLONE_NEWIPC}, {"uts", CLONE_NEWUTS}, {"cgroup", CLONE_NEWCGROUP},
	{"time", 0x80}, // CLONE_NEWTIME, which glibc does not have
};

static bool is_same_file(const char *one, const char *other)
{
	struct stat a, b;
	return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static int foreign_namespaces(pid_t task)
{
	char own[64], its[64];
	int flags = 0;
	for (size_t i = 0; i < sizeof namespace_rows / sizeof namespace_rows[0]; i++) {
		snprintf(own, sizeof own, "/proc/self/ns/%s", namespace_rows[i].name);
		snprintf(its, sizeof its, "/proc/%d/ns/%s", (int)task, namespace_rows[i].name);
		if (!is_same_file(own, its))
			flags |= namespace_rows[i].flag;
	}
	return flags;
}

// A file of /proc, all of it. 0 and its text, or -errno and NULL: a command must not get rights because nobody knows
// the task's. Caller frees it.
static int read_proc(pid_t pid, const char *name, char **text)
{
	char path[64], piece[4096];
	ssize_t n;
	*text = NULL;
	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	struct bytes_writer w = bytes_writer_growing(sizeof piece);
	while ((n = read(fd, piece, sizeof piece)) > 0)
		bytes_put(&w, piece, (size_t)n);
	int error = n < 0 ? -errno : 0;
	close(fd);
	bytes_put_u8(&w, '\0');
	if (error)
		bytes_writer_free(&w);
	*text = (char *)w.data;
	return error;
}

// "": it is in none.
static int find_group(pid_t pid, char group[static PATH_MAX])
{
	char *text;
	int error = read_proc(pid, "cgroup", &text);
	if (error || !cgroup_own_path(text, group, PATH_MAX))
		group[0] = '\0';
	free(text);
	return error;
}

static int open_group(pid_t task, int *fd)
{
	char mount[512], own[PATH_MAX], its[PATH_MAX], path[PATH_MAX + 600];
	*fd = -1;
	int error = find_group(task, its);
	if (error || !*its)
		return error;
	error = find_group(getpid(), own);
	if (error || !*own || strcmp(own, its) == 0)
		return error;
	cgroup_find_mount("/proc/self/mounts", mount, sizeof mount);
	snprintf(path, sizeof path, "%s%s/cgroup.procs", mount, its);
	*fd = open(path, O_WRONLY | O_CLOEXEC);
	return *fd < 0 ? -errno : 0;
}

static int open_root(pid_t task, bool has_own_mounts, int *fd)
{
	char path[64];
	*fd = -1;
	snprintf(path, sizeof path, "/proc/%d/root", (int)task);
	if (!has_own_mounts && is_same_file("/", path))
		return 0;
	*fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return *fd < 0 ? -errno : 0;
}

// A number of a line such as "CapBnd:\t000001ffffffffff".
static uint64_t status_number(const char *status, const char *name, int base)
{
	const char *line = strstr(status, name);
	return line ? strtoull(line + strlen(name), NULL, base) : 0;
}

static void take_groups(struct user *user, const char *status)
{
	const char *at = strstr(status, "\nGroups:");
	uint32_t count = 0, capacity = 0;
	char *end;
	at = at ? at + strlen("\nGroups:") : "";
	while (*at == ' ' || *at == '\t') {
		unsigned long group = strtoul(at, &end, 10);
		if (end == at)
			break; // it skipped the line's end, too
		user->groups =
			memory_one_more(user->groups, count, &capacity, sizeof user->groups[0]);
		user->groups[count++] = (gid_t)group;
		at = end;
	}
	user->group_count = (int)count;
}

static void take_rights(struct exec_place *p, const char *status, const char *own)
{
	p->bounding = status_number(status, "\nCapBnd:", 16);
	p->ambient = status_number(status, "\nCapAmb:", 16);
	p->has_filter = status_number(status, "\nSeccomp_filters:", 10) >
			status_number(own, "\nSeccomp_filters:", 10);
	p->no_new_rights = status_number(status, "\nNoNewPrivs:", 10) != 0;
	p->user.uid = (uid_t)status_number(status, "\nUid:", 10);
	p->user.gid = (gid_t)status_number(status, "\nGid:", 10);
	take_groups(&p->user, status);
}

static int read_rights(struct exec_place *p, pid_t task)
{
	char *status, *own = NULL;
	int error = read_proc(task, "status", &status);
	error = error ? error : read_proc(getpid(), "status", &own);
	if (!error)
		take_rights(p, status, own);
	free(status);
	free(own);
	return error;
}

static int find_task_user(
	struct exec_place *p, const char *name, char *message, uint32_t message_size)
{
	int error = 0;
	if (*name) {
		user_free(&p->user);
		error = user_find_with_groups(name, &p->user, message, message_size);
	}
	p->changes_user = p->user.uid != geteuid();
	return error;
}

static bool is_process_over(int pidfd)
{
	struct pollfd polled = {.fd = pidfd, .events = POLLIN};
	return poll(&polled, 1, 0) != 0;
}

static int find_in_proc(struct exec_place *p, pid_t task)
{
	p->namespaces = foreign_namespaces(task);
	int error = open_group(task, &p->group_fd);
	error = error ? error : open_root(task, p->namespaces & CLONE_NEWNS, &p->root_fd);
	return error ? error : read_rights(p, task);
}

static int open_task(struct exec_place *p, const struct process *process)
{
	if (process->task <= 0)
		return -ESRCH;
	p->task_fd = (int)syscall(SYS_pidfd_open, process->task, 0);
	if (p->task_fd < 0)
		return -errno;
	int is_there = process_is_there(process->task, process->task_started);
	return is_there < 0 ? is_there : is_there > 0 ? 0 : -ESRCH;
}

int exec_place_find(struct exec_place *p, const struct process *process, const char *user,
	char *message, uint32_t message_size)
{
	*p = (struct exec_place){.task_fd = -1, .root_fd = -1, .group_fd = -1};
	int error = open_task(p, process);
	error = error ? error : find_in_proc(p, process->task);
	// As long as it is there nobody else has its number, so what was read is its own.
	if (p->task_fd >= 0 && is_process_over(p->task_fd))
		error = -ESRCH;
	if (!error)
		return find_task_user(p, user, message, message_size);
	if (error == -ESRCH)
		snprintf(message, message_size, "the task's process is over");
	else
		snprintf(message, message_size, "cannot look at the task's process: %s",
			strerror(-error));
	return error;
}

void exec_place_close(struct exec_place *p)
{
	int *fds[] = {&p->task_fd, &p->root_fd, &p->group_fd};
	for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
	user_free(&p->user);
}

int exec_place_enter(const struct exec_place *p)
{
	if (p->group_fd >= 0 && write(p->group_fd, "0", 1) != 1)
		return -1;
	if (p->namespaces && setns(p->task_fd, p->namespaces) < 0)
		return -1;
	if (p->root_fd >= 0 && (fchdir(p->root_fd) < 0 || chroot(".") < 0))
		return -1;
	return 0;
}

static int become_user(const struct exec_place *p)
{
	if (setgroups((size_t)p->user.group_count, p->user.groups) < 0 || setgid(p->user.gid) < 0)
		return -1;
	if (p->ambient && prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0)
		return -1;
	return setuid(p->user.uid);
}

// What the change of user has left is more than the task has.
static int keep_ambient(uint64_t ambient)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];
	for (unsigned i = 0; i < 2; i++) {
		uint32_t half = (uint32_t)(ambient >> (32 * i));
		data[i] = (struct __user_cap_data_struct){half, half, half};
	}
	if (syscall(SYS_capset, &header, data) < 0 || prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0) < 0)
		return -1;
	for (unsigned long right = 0; right < 64; right++)
		if ((ambient >> right & 1) &&
			prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, right, 0, 0) < 0)
			return -1;
	return 0;
}

int exec_place_become(const struct exec_place *p)
{
	for (int right = 0; prctl(PR_CAPBSET_READ, right, 0, 0, 0) >= 0; right++)
		if (!(p->bounding >> right & 1) && prctl(PR_CAPBSET_READ, right, 0, 0, 0) == 1 &&
			prctl(PR_CAPBSET_DROP, right, 0, 0, 0) < 0)
			return -1;
	if (p->changes_user && become_user(p) < 0)
		return -1;
	if (p->changes_user && p->ambient && p->user.uid != 0 && keep_ambient(p->ambient) < 0)
		return -1;
	if (p->no_new_rights && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	if (!p->has_filter)
		return 0;
	if (p->filter)
		return filter_take(p->filter);
	errno = EPERM;
	return -1;
}
