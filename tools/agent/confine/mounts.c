#include "tools/agent/confine/mounts.h"
#include "state/base/check.h"
#include "state/base/failpoint/failpoint.h"
#include "tools/agent/base/folders.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HOST(path)                                                                    \
	{                                                                             \
		MOUNT_BIND, "/" path, path, .is_read_only = true, .is_optional = true \
	}
#define DEVICE(name)                                                   \
	{                                                              \
		MOUNT_BIND, "/dev/" name, "dev/" name, .is_file = true \
	}
#define READ_ONLY(path)                                        \
	{                                                      \
		MOUNT_READ_ONLY, "", path, .is_optional = true \
	}
#define HIDE(path)                                        \
	{                                                 \
		MOUNT_HIDE, "", path, .is_optional = true \
	}

// In this order: what is mounted later covers what was there.
static const struct mount_row usual_rows[] = {HOST("bin"), HOST("etc"), HOST("lib"), HOST("lib32"),
	HOST("lib64"), HOST("run/resolvconf"), HOST("run/systemd/resolve"), HOST("sbin"),
	HOST("usr"),
	// secrets of the machine
	HIDE("etc/berth"), HIDE("etc/shadow"), HIDE("etc/shadow-"), HIDE("etc/gshadow"),
	HIDE("etc/gshadow-"), HIDE("etc/security/opasswd"), HIDE("etc/sudoers"),
	HIDE("etc/sudoers.d"), HIDE("etc/ssh"), HIDE("etc/ssl/private"), HIDE("etc/krb5.keytab"),
	HIDE("etc/wireguard"), HIDE("etc/NetworkManager/system-connections"),
	// devices
	{MOUNT_TMPFS, "mode=755,size=64k", "dev"}, DEVICE("null"), DEVICE("zero"), DEVICE("full"),
	DEVICE("random"), DEVICE("urandom"), DEVICE("tty"), {MOUNT_PTS, "", "dev/pts"},
	{MOUNT_TMPFS, "mode=1777,size=64m", "dev/shm"}, {MOUNT_LINK, "pts/ptmx", "dev/ptmx"},
	{MOUNT_LINK, "/proc/self/fd", "dev/fd"}, {MOUNT_LINK, "/proc/self/fd/0", "dev/stdin"},
	{MOUNT_LINK, "/proc/self/fd/1", "dev/stdout"},
	{MOUNT_LINK, "/proc/self/fd/2", "dev/stderr"},
	// the kernel, without what changes it or tells of others
	{MOUNT_PROC, "", "proc"}, READ_ONLY("proc/bus"), READ_ONLY("proc/fs"),
	READ_ONLY("proc/irq"), READ_ONLY("proc/sys"), READ_ONLY("proc/sysrq-trigger"),
	HIDE("proc/acpi"), HIDE("proc/kcore"), HIDE("proc/keys"), HIDE("proc/latency_stats"),
	HIDE("proc/sched_debug"), HIDE("proc/scsi"), HIDE("proc/timer_list"),
	HIDE("proc/timer_stats"), {MOUNT_SYSFS, "", "sys", .is_read_only = true},
	HIDE("sys/firmware")};

static void add_row(struct mount_plan *plan, struct mount_row row)
{
	CHECK(plan->count < MOUNTS_MOST);
	plan->rows[plan->count++] = row;
}

static bool is_at_or_below(const char *path, const char *top)
{
	size_t size = strlen(top);
	return strncmp(path, top, size) == 0 && (path[size] == '\0' || path[size] == '/');
}

bool mount_target_is_free(const char *target)
{
	for (uint32_t i = 0; i < sizeof usual_rows / sizeof usual_rows[0]; i++)
		if (usual_rows[i].kind <= MOUNT_SYSFS &&
			is_at_or_below(target, usual_rows[i].target))
			return false;
	return !is_at_or_below(target, "alloc");
}

void mount_plan_make(struct mount_plan *plan, const struct mount_ask *ask)
{
	plan->count = 0;
	plan->follows_node = false;
	snprintf(plan->root, sizeof plan->root, "%s", ask->task_folder);
	for (uint32_t i = 0; i < sizeof usual_rows / sizeof usual_rows[0]; i++)
		add_row(plan, usual_rows[i]);
	for (const char *const *path = ask->hidden; *path; path++)
		if (**path == '/')
			add_row(plan,
				(struct mount_row){MOUNT_HIDE, "", *path + 1, .is_optional = true});
	add_row(plan, (struct mount_row){MOUNT_BIND, ask->alloc_folder, "alloc"});
	// The shim writes there with the agent's rights, by name: no task may put another folder in its place.
	snprintf(plan->logs, sizeof plan->logs, "%s/logs", ask->alloc_folder);
	add_row(plan,
		(struct mount_row){MOUNT_BIND, plan->logs, "alloc/logs", .is_read_only = true});
	for (uint32_t i = 0; i < ask->volume_count; i++) {
		const struct mount_volume *v = &ask->volumes[i];
		plan->follows_node |= v->follows_node;
		add_row(plan,
			(struct mount_row){MOUNT_BIND, v->source, v->target, .is_volume = true,
				.is_read_only = v->is_read_only, .follows_node = v->follows_node});
	}
}

static bool needs_folder(const struct mount_row *row)
{
	bool is_new = row->kind == MOUNT_BIND || row->kind == MOUNT_TMPFS ||
		      row->kind == MOUNT_PROC || row->kind == MOUNT_SYSFS;

	// The others' are in what is mounted before them.
	return is_new && strncmp(row->target, "dev/", 4) != 0 &&
	       strncmp(row->target, "alloc/", 6) != 0 &&
	       (!row->is_optional || access(row->source, F_OK) == 0);
}

int mount_plan_prepare(const struct mount_plan *plan, int task_folder)
{
	for (uint32_t i = 0; i < plan->count; i++) {
		if (!needs_folder(&plan->rows[i]))
			continue;
		// A volume may be mounted on a folder of the task's, which keeps its mode.
		int folder = (plan->rows[i].is_volume ? folder_reach : folder_make)(
			task_folder, plan->rows[i].target, 0755);
		if (folder < 0)
			return folder;
		close(folder);
	}
	return 0;
}

// A descriptor of what is below the root, reached without any link, or -1 with errno.
static int open_target(int root, const char *target)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};

	return (int)syscall(SYS_openat2, root, target, &how, sizeof how);
}

static int put_tree(
	int tree, int target, uint64_t attributes, uint64_t propagation, unsigned recursive)
{
	struct mount_attr attr = {.attr_set = attributes, .propagation = propagation};

	if (CAN_FAIL(CONFINE_ATTRIBUTE,
		    mount_setattr(tree, "", AT_EMPTY_PATH | recursive, &attr, sizeof attr)) < 0)
		return -1;
	return move_mount(tree, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
}

static int bind_tree(int from, const char *source, unsigned flags, int target, uint64_t attributes,
	uint64_t propagation)
{
	flags |= OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE;
	int tree = CAN_FAIL(CONFINE_TREE, open_tree(from, source, flags));

	if (tree < 0)
		return -1;
	int result = put_tree(tree, target, attributes, propagation, AT_RECURSIVE);
	int error = errno;
	close(tree);
	errno = error;
	return result;
}

static int mount_new(int target, const char *type, unsigned long flags, const char *options)
{
	char path[40];

	snprintf(path, sizeof path, "/proc/self/fd/%d", target);
	return CAN_FAIL(CONFINE_MOUNT, mount(type, path, type, flags | MS_NOSUID, options));
}

// A device may be opened; of all else that is mounted no device may.
static int bind_row(const struct mount_row *row, int target)
{
	uint64_t attributes = MOUNT_ATTR_NOSUID | (row->is_file ? 0 : MOUNT_ATTR_NODEV) |
			      (row->is_read_only ? MOUNT_ATTR_RDONLY : 0);

	return bind_tree(AT_FDCWD, row->source, 0, target, attributes,
		row->follows_node ? MS_SLAVE : MS_PRIVATE);
}

static int hide_target(int target)
{
	struct stat st;

	// Of one that cannot be looked at, and is a folder, the mount of a file below fails.
	if (fstat(target, &st) == 0 && S_ISDIR(st.st_mode))
		return mount_new(
			target, "tmpfs", MS_RDONLY | MS_NODEV | MS_NOEXEC, "size=4k,mode=755");
	return bind_tree(AT_FDCWD, "/dev/null", 0, target, MOUNT_ATTR_RDONLY, MS_PRIVATE);
}

static int mount_at(const struct mount_row *row, int target)
{
	unsigned long read_only = row->is_read_only ? MS_RDONLY : 0;

	switch (row->kind) {
	case MOUNT_BIND: return bind_row(row, target);
	case MOUNT_TMPFS: return mount_new(target, "tmpfs", MS_NODEV, row->source);
	case MOUNT_PROC: return mount_new(target, "proc", MS_NODEV | MS_NOEXEC, NULL);
	case MOUNT_SYSFS: return mount_new(target, "sysfs", MS_NODEV | MS_NOEXEC | read_only, NULL);
	case MOUNT_PTS:
		return mount_new(
			target, "devpts", MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620");
	case MOUNT_READ_ONLY:
		return bind_tree(target, "", AT_EMPTY_PATH, target,
			MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, MS_PRIVATE);
	case MOUNT_HIDE: return hide_target(target);
	case MOUNT_LINK: break;
	}
	errno = EINVAL;
	return -1;
}

// What is mounted on in the task's own /dev is made there, by its process.
static int make_device_target(const struct mount_row *row, int root)
{
	if (row->kind == MOUNT_LINK)
		return symlinkat(row->source, root, row->target);
	if (strncmp(row->target, "dev/", 4) != 0)
		return 0;
	if (!row->is_file)
		return mkdirat(root, row->target, 0755);
	int fd = openat(root, row->target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	return fd < 0 ? -1 : close(fd);
}

static int do_row(const struct mount_row *row, int root)
{
	if (row->kind == MOUNT_BIND && row->is_optional && access(row->source, F_OK) < 0)
		return 0;
	if (CAN_FAIL(CONFINE_DEVICE, make_device_target(row, root)) < 0)
		return -1;
	if (row->kind == MOUNT_LINK)
		return 0;
	int target = open_target(root, row->target);
	if (target < 0)
		return row->is_optional && (errno == ENOENT || errno == ENOTDIR) ? 0 : -1;
	int result = mount_at(row, target), error = errno;
	close(target);
	errno = error;
	return result;
}

// The task's folder as a mount of its own, which nothing of the machine's is mounted in. A descriptor, or -1.
static int open_root(const struct mount_plan *plan)
{
	const char *path = plan->root;
	struct mount_attr attr = {
		.attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, .propagation = MS_PRIVATE};

	// Nothing that is mounted here is seen by the node. What the node mounts is seen by rows that follow it.
	unsigned long flags = MS_REC | (plan->follows_node ? MS_SLAVE : MS_PRIVATE);
	if (CAN_FAIL(CONFINE_PRIVATE, mount(NULL, "/", NULL, flags, NULL)) < 0)
		return -1;
	int tree = CAN_FAIL(
		CONFINE_ROOT, open_tree(AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC));
	if (tree < 0 || mount_setattr(tree, "", AT_EMPTY_PATH, &attr, sizeof attr) < 0 ||
		move_mount(tree, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return -1;
	return tree;
}

static int enter_root(int root)
{
	if (fchdir(root) < 0 || CAN_FAIL(CONFINE_PIVOT, syscall(SYS_pivot_root, ".", ".")) < 0 ||
		umount2(".", MNT_DETACH) < 0)
		return -1;
	return chdir("/");
}

int mount_plan_enter(const struct mount_plan *plan)
{
	int root = open_root(plan);

	if (root < 0)
		return (int)plan->count;
	for (uint32_t i = 0; i < plan->count; i++)
		if (do_row(&plan->rows[i], root) < 0)
			return (int)i;
	return enter_root(root) < 0 ? (int)plan->count : -1;
}
