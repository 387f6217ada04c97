#include "dataplane/port/port_lock.h"
#include "state/base/log.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// Tries while others remove the file that was opened.
#define OPEN_TRIES 16u

// An interface's name means something in its network namespace only. False: nothing that others could have.
static bool name_lock(
	struct port_lock *lock, const char *directory, const struct device *d, uint32_t queue)
{
	struct stat namespace_file = {0};
	unsigned interface =
		!d->is_sockets && d->interface[0] != '\0' ? if_nametoindex(d->interface) : 0;
	if (d->pci[0] != '\0') {
		snprintf(lock->path, sizeof lock->path, "%.64s/port-%.31s-%u.lock", directory,
			d->pci, queue);
		return true;
	}
	if (interface == 0 || stat("/proc/self/ns/net", &namespace_file) != 0)
		return false;
	snprintf(lock->path, sizeof lock->path, "%.64s/port-%lu-%u-%u.lock", directory,
		(unsigned long)namespace_file.st_ino, interface, queue);
	return true;
}

// Whether the file at the path is still the one that is open: its holder removes it when it ends.
static bool is_at_path(const struct port_lock *lock)
{
	struct stat open_file, file;
	return fstat(lock->fd, &open_file) == 0 && stat(lock->path, &file) == 0 &&
	       open_file.st_ino == file.st_ino && open_file.st_dev == file.st_dev;
}

static int lock_file(struct port_lock *lock)
{
	for (uint32_t i = 0; i < OPEN_TRIES; i++) {
		lock->fd = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (lock->fd < 0)
			return -errno;
		if (flock(lock->fd, LOCK_EX | LOCK_NB) != 0)
			return -errno;
		if (is_at_path(lock))
			return 0;
		close(lock->fd);
		lock->fd = -1;
	}
	return -EWOULDBLOCK;
}

static long holder_of(const struct port_lock *lock)
{
	char text[24] = "";
	ssize_t got = lock->fd < 0 ? -1 : pread(lock->fd, text, sizeof text - 1, 0);
	return got > 0 ? strtol(text, NULL, 10) : 0;
}

static void say_holder(const struct port_lock *lock)
{
	char text[24];
	int size = snprintf(text, sizeof text, "%ld\n", (long)getpid());
	// The number is only for the message of who comes second.
	if (ftruncate(lock->fd, 0) != 0 || pwrite(lock->fd, text, (size_t)size, 0) != size)
		log_warn("port-lock-unnamed", "path=%s", lock->path);
}

int port_lock_take(struct port_lock *lock, const char *directory, const struct device *d,
	uint32_t index, uint32_t queue, char *message, uint32_t message_size)
{
	*lock = (struct port_lock){.fd = -1};
	if (!name_lock(lock, directory, d, queue))
		return 0;
	if (mkdir(directory, 0755) != 0 && errno != EEXIST)
		log_warn("port-lock-directory", "path=%s error=\"%s\"", directory, strerror(errno));
	int error = lock_file(lock);
	if (error == 0) {
		say_holder(lock);
		return 0;
	}
	long holder = holder_of(lock);
	if (lock->fd >= 0)
		close(lock->fd);
	lock->fd = -1;
	if (error != -EWOULDBLOCK) {
		log_warn("port-not-locked",
			"port=%u path=%s error=\"%s\" effect=\"a second daemon is not noticed\"",
			index, lock->path, strerror(-error));
		return 0;
	}
	snprintf(message, message_size,
		"port %u: queue %u of %s is in use by another berthd (process %ld, lock %s); stop "
		"it, or give this one another device",
		index, queue, d->interface[0] != '\0' ? d->interface : d->name, holder, lock->path);
	return -EBUSY;
}

void port_lock_release(struct port_lock *lock)
{
	if (lock->fd < 0)
		return;
	if (unlink(lock->path) != 0 && errno != ENOENT)
		log_warn("port-lock-left", "path=%s error=\"%s\"", lock->path, strerror(errno));
	close(lock->fd);
	lock->fd = -1;
}
