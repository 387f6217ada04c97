#include "tools/agent/confine/cgroup.h"
#include "state/base/failpoint/failpoint.h"
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Shims have the descriptors below this one for themselves.
#define CGROUP_FD_LEAST 10

const char *const cgroup_controller_names[CGROUP_CONTROLLERS] = {"cpu", "cpuset", "memory", "pids"};

uint32_t cgroup_controllers_of(const char *text)
{
	uint32_t found = 0;

	while (*text) {
		size_t size = strcspn(text, " \n");
		for (uint32_t i = 0; i < CGROUP_CONTROLLERS; i++)
			if (strlen(cgroup_controller_names[i]) == size &&
				strncmp(cgroup_controller_names[i], text, size) == 0)
				found |= 1u << i;
		text += size;
		text += strspn(text, " \n");
	}
	return found;
}

void cgroup_controllers_text(uint32_t controllers, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < CGROUP_CONTROLLERS; i++)
		if ((controllers & 1u << i) && used < size)
			used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
				cgroup_controller_names[i]);
}

uint64_t cgroup_event_count(const char *events, const char *name)
{
	size_t size = strlen(name);

	for (const char *line = events; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, size) == 0 && line[size] == ' ')
			return strtoull(line + size + 1, NULL, 10);
	}
	return 0;
}

bool cgroup_own_path(const char *text, char *path, size_t size)
{
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, "0::", 3) != 0)
			continue;
		size_t length = strcspn(line + 3, "\n");
		if (length >= size)
			return false;
		memcpy(path, line + 3, length);
		path[length] = '\0';
		return true;
	}
	return false;
}

void cgroup_find_mount(const char *mounts_file, char *path, size_t size)
{
	const struct mntent *entry;
	FILE *mounts = setmntent(mounts_file, "re");

	path[0] = '\0';
	while (mounts && !*path && (entry = getmntent(mounts)) != NULL)
		if (strcmp(entry->mnt_type, "cgroup2") == 0 && strlen(entry->mnt_dir) < size)
			snprintf(path, size, "%s", entry->mnt_dir);
	if (mounts)
		endmntent(mounts);
}

static int open_file(const char *group, const char *file, int flags)
{
	char path[1100];

	snprintf(path, sizeof path, "%.1000s/%.90s", group, file);
	int fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static void read_open(int fd, char *text, size_t size)
{
	ssize_t n = fd < 0 ? 0 : pread(fd, text, size - 1, 0);

	text[n > 0 ? n : 0] = '\0';
}

void cgroup_read(const char *group, const char *file, char *text, size_t size)
{
	int fd = open_file(group, file, O_RDONLY);

	read_open(fd, text, size);
	if (fd >= 0)
		close(fd);
}

int cgroup_write(const char *group, const char *file, const char *text)
{
	int fd = open_file(group, file, O_WRONLY);
	int error = 0;

	if (fd < 0)
		return fd;
	if (CAN_FAIL(CGROUP_WRITE, write(fd, text, strlen(text))) < 0)
		error = -errno;
	close(fd);
	return error;
}

uint32_t cgroup_pass_on(const char *group, uint32_t controllers)
{
	char text[256];

	cgroup_read(group, "cgroup.controllers", text, sizeof text);
	controllers &= cgroup_controllers_of(text);
	for (uint32_t i = 0; i < CGROUP_CONTROLLERS; i++) {
		snprintf(text, sizeof text, "+%s", cgroup_controller_names[i]);
		if (controllers & 1u << i)
			(void)cgroup_write(group, "cgroup.subtree_control", text);
	}
	cgroup_read(group, "cgroup.subtree_control", text, sizeof text);
	return controllers & cgroup_controllers_of(text);
}

int cgroup_make(const char *group)
{
	return CAN_FAIL(CGROUP_CREATE, mkdir(group, 0755)) == 0 || errno == EEXIST ? 0 : -errno;
}

int cgroup_open(const char *group)
{
	int fd = CAN_FAIL(CGROUP_OPEN, open(group, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	int kept = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, CGROUP_FD_LEAST);
	int error = -errno;

	if (fd >= 0)
		close(fd);
	return kept < 0 ? error : kept;
}

static int write_below(int group, const char *file, const char *text, size_t size)
{
	int fd = openat(group, file, O_WRONLY | O_CLOEXEC);
	ssize_t written = fd < 0 ? -1 : CAN_FAIL(CGROUP_WRITE, write(fd, text, size));
	int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
	return written < 0 ? -1 : 0;
}

int cgroup_enter(int group)
{
	return CAN_FAIL(CGROUP_ENTER, write_below(group, "cgroup.procs", "0", 1));
}

// For kernels before 5.14, which have no cgroup.kill.
static void kill_listed(int group)
{
	char text[4096];
	int fd = openat(group, "cgroup.procs", O_RDONLY | O_CLOEXEC);

	read_open(fd, text, sizeof text);
	if (fd >= 0)
		close(fd);
	for (char *at = text; *at >= '0' && *at <= '9';) {
		long pid = strtol(at, &at, 10);
		if (*at != '\n')
			break; // the text was cut within a number
		at++;
		if (pid > 1)
			kill((pid_t)pid, SIGKILL);
	}
}

bool cgroup_kill(int group, uint32_t wait_ms)
{
	char text[256];
	bool is_empty = false;
	int events = openat(group, "cgroup.events", O_RDONLY | O_CLOEXEC);

	for (uint32_t waited_ms = 0; events >= 0; waited_ms += 10) {
		if (CAN_FAIL(CGROUP_KILL, write_below(group, "cgroup.kill", "1", 1)) < 0)
			kill_listed(group);
		read_open(events, text, sizeof text);
		is_empty = strstr(text, "populated 0") != NULL;
		if (is_empty || waited_ms >= wait_ms)
			break;
		struct pollfd polled = {.fd = events, .events = POLLPRI};
		(void)poll(&polled, 1, 10);
	}
	if (events >= 0)
		close(events);
	return is_empty;
}
