#include "state/base/error.h"
#include "state/base/failpoint/failpoint.h"
#include "state/base/memory.h"
#include "tools/api/listen/listening.h"
#include <errno.h>
#include <grp.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define LISTEN_BACKLOG 1024
#define GROUP_BYTES 4096

static int refuse_path(const struct listening_path *p, int error, char *message, uint32_t size)
{
	const char *remedy =
		error == -EADDRINUSE
			? "another process listens there: stop it, or set another http.socket.path"
		: error == -EEXIST
			? "it is no socket: move it away, or set another http.socket.path"
		: error == -EPERM
			? "http.socket.group must be one that this user is in"
			: "http.socket.path must be in a directory that this user may write to";
	snprintf(message, size, "http.socket: cannot listen at %s: %s; %s", p->path,
		error_text(error), remedy);
	return error;
}

// (gid_t)-1 for none. False: there is no such group.
static bool find_group(const char *name, gid_t *group)
{
	char *buffer = NULL, *end;
	struct group entry, *found = NULL;
	int error = ERANGE;
	*group = (gid_t)-1;
	if (!name || !*name)
		return true;
	unsigned long number = strtoul(name, &end, 10);
	if (*name >= '0' && *name <= '9' && !*end && number < UINT32_MAX) {
		*group = (gid_t)number;
		return true;
	}
	for (size_t room = GROUP_BYTES; error == ERANGE; room *= 2) { // it has many members
		buffer = memory_resize(buffer, room);
		error = getgrnam_r(name, &entry, buffer, room, &found);
	}
	if (found)
		*group = entry.gr_gid;
	free(buffer);
	return found != NULL;
}

static bool read_path(
	const struct listening_path *p, gid_t *group, char *message, uint32_t message_size)
{
	if (strlen(p->path) >= sizeof((struct sockaddr_un *)0)->sun_path || *p->path != '/') {
		snprintf(message, message_size,
			"http.socket.path: \"%.120s\" is no absolute path of at most %zu bytes",
			p->path, sizeof((struct sockaddr_un *)0)->sun_path - 1);
		return false;
	}
	if (find_group(p->group, group))
		return true;
	snprintf(message, message_size,
		"http.socket.group: there is no group \"%.80s\" on this machine", p->group);
	return false;
}

bool listening_path_is_fit(const struct listening_path *p, char *message, uint32_t message_size)
{
	gid_t group;
	return read_path(p, &group, message, message_size);
}

// What stands in the way at the path, whoever listens there aside.
static int find_obstacle(const struct listening_path *p)
{
	char folder[sizeof((struct sockaddr_un *)0)->sun_path];
	struct stat found;
	if (lstat(p->path, &found) == 0 && !S_ISSOCK(found.st_mode))
		return -EEXIST;
	memcpy(folder, p->path, strlen(p->path) + 1);
	return access(dirname(folder), W_OK | X_OK) == 0 ? 0 : -errno;
}

bool listening_path_is_free(const struct listening_path *p, char *message, uint32_t message_size)
{
	int error = find_obstacle(p);
	if (error != 0)
		refuse_path(p, error, message, message_size);
	return error == 0;
}

static struct sockaddr_un address_of(const struct listening_path *p)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	memcpy(address.sun_path, p->path, strlen(p->path) + 1);
	return address;
}

// Takes away a socket that nobody listens at.
static int clear_path(const struct listening_path *p)
{
	struct sockaddr_un address = address_of(p);
	struct stat found;
	if (lstat(p->path, &found) != 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(found.st_mode))
		return -EEXIST;
	int fd = CAN_FAIL(
		HTTP_PROBE, socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (fd < 0)
		return -errno;
	int error = connect(fd, (struct sockaddr *)&address, sizeof address) == 0 ? 0 : -errno;
	close(fd);
	if (error != -ECONNREFUSED)
		return -EADDRINUSE;
	return unlink(p->path) == 0 ? 0 : -errno;
}

// Nobody can connect before the last step, when owner and mode are right.
static int bind_path(int fd, const struct listening_path *p, gid_t group)
{
	struct sockaddr_un address = address_of(p);
	if (CAN_FAIL(HTTP_BIND, bind(fd, (struct sockaddr *)&address, sizeof address)) != 0)
		return -errno;
	if (chmod(p->path, p->mode) == 0 &&
		(group == (gid_t)-1 || lchown(p->path, (uid_t)-1, group) == 0) &&
		CAN_FAIL(HTTP_LISTEN, listen(fd, LISTEN_BACKLOG)) == 0)
		return 0;
	int error = -errno;
	unlink(p->path);
	return error;
}

int listen_at_path(const struct listening_path *p, char *message, uint32_t message_size)
{
	gid_t group;
	if (!read_path(p, &group, message, message_size))
		return -EINVAL;
	int error = clear_path(p);
	int fd = error ? error
		       : CAN_FAIL(HTTP_SOCKET,
				 socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (error == 0)
		error = fd < 0 ? -errno : bind_path(fd, p, group);
	if (error == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return refuse_path(p, error, message, message_size);
}
