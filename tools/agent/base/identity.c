#include "tools/agent/base/identity.h"
#include "state/base/error.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuse_file(char *message, uint32_t size, int error, const char *path, const char *what)
{
	snprintf(message, size, "%s: %s", path, what);
	return error;
}

static int complain_errno(char *message, uint32_t size, const char *path, const char *action)
{
	int error = -errno;
	snprintf(message, size, "%s: cannot %s: %s", path, action, strerror(-error));
	return error;
}

static void path_in(const struct identity *id, const char *name, char path[static 300])
{
	snprintf(path, 300, "%s/%s", id->folder, name);
}

// Reads a file of one short line, without its line end. Returns its length or -errno.
static int read_line(int fd, char *line, uint32_t size)
{
	ssize_t n = pread(fd, line, size - 1, 0);
	if (n < 0)
		return -errno;
	while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r' || line[n - 1] == ' '))
		n--;
	line[n] = '\0';
	return (int)n;
}

static int sync_folder(const struct identity *id)
{
	int fd = open(id->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	int rc = fsync(fd);
	close(fd);
	return rc;
}

// Writes a file beside the old one and renames it: a crash leaves the old content or the new.
static int replace_file(struct identity *id, const char *name, const char *line, char *message,
	uint32_t message_size)
{
	char path[300], beside[304];
	path_in(id, name, path);
	snprintf(beside, sizeof beside, "%s.new", path);
	int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return complain_errno(message, message_size, beside, "create it");
	size_t size = strlen(line);
	int rc = 0;
	if (write(fd, line, size) != (ssize_t)size || fsync(fd) < 0)
		rc = complain_errno(message, message_size, beside, "write it");
	close(fd);
	if (rc == 0 && (rename(beside, path) < 0 || sync_folder(id) < 0))
		rc = complain_errno(message, message_size, path, "replace it");
	return rc;
}

static int read_node_id(struct identity *id, struct prng *prng, char *message, uint32_t size)
{
	char path[300], line[64];
	path_in(id, "node-id", path);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) {
		id->node = prng_uuid(prng);
		char text[UUID_TEXT_BYTES];
		snprintf(line, sizeof line, "%s\n", uuid_format(&id->node, text));
		return replace_file(id, "node-id", line, message, size);
	}
	if (fd < 0)
		return complain_errno(message, size, path, "open it");
	int rc = read_line(fd, line, sizeof line);
	close(fd);
	if (rc < 0)
		return complain_errno(message, size, path, "read it");
	if (!uuid_parse(line, &id->node))
		return refuse_file(message, size, -ERROR_CORRUPT, path,
			"is not a UUID; restore it, or remove it to become a new node");
	return 0;
}

static int read_term(struct identity *id, char *message, uint32_t size)
{
	char path[300], line[32], *end;
	path_in(id, "term", path);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : complain_errno(message, size, path, "open it");
	int rc = read_line(fd, line, sizeof line);
	close(fd);
	if (rc < 0)
		return complain_errno(message, size, path, "read it");
	errno = 0;
	id->term = strtoull(line, &end, 10);
	if (line[0] < '0' || line[0] > '9' || *end != '\0' || errno)
		return refuse_file(message, size, -ERROR_CORRUPT, path,
			"is not a number; remove it to obey any controller again");
	return 0;
}

// The lock is a file of its own, because node-id may be replaced.
static int lock_identity(struct identity *id, char *message, uint32_t size)
{
	char path[300];
	path_in(id, "lock", path);
	id->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (id->lock_fd < 0)
		return complain_errno(message, size, path, "open it");
	if (flock(id->lock_fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	int rc = errno == EWOULDBLOCK
			 ? refuse_file(message, size, -EBUSY, path,
				   "another berth-agent runs with this state directory")
			 : complain_errno(message, size, path, "lock it");
	identity_close(id);
	return rc;
}

int identity_open(const char *folder, struct prng *prng, struct identity *id, char *message,
	uint32_t message_size)
{
	*id = (struct identity){.lock_fd = -1};
	int n = snprintf(id->folder, sizeof id->folder, "%s", folder);
	if (n <= 0 || (size_t)n >= sizeof id->folder)
		return refuse_file(message, message_size, -ENAMETOOLONG, folder,
			"a state directory has 1 to 255 characters");
	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		return complain_errno(message, message_size, folder, "create this directory");
	int rc = lock_identity(id, message, message_size);
	if (rc == 0)
		rc = read_node_id(id, prng, message, message_size);
	if (rc == 0)
		rc = read_term(id, message, message_size);
	if (rc < 0)
		identity_close(id);
	return rc;
}

void identity_close(struct identity *id)
{
	if (id->lock_fd >= 0)
		close(id->lock_fd);
	id->lock_fd = -1;
}

int identity_store_term(struct identity *id, uint64_t term, char *message, uint32_t message_size)
{
	char line[32];
	snprintf(line, sizeof line, "%lu\n", (unsigned long)term);
	int rc = replace_file(id, "term", line, message, message_size);
	if (rc == 0)
		id->term = term;
	return rc;
}

int identity_read_key(const char *path, uint8_t *key_id, struct wire_key *key, char *message,
	uint32_t message_size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return complain_errno(message, message_size, path, "open the node's key");
	struct stat st;
	char line[64];
	int rc = 0;
	if (fstat(fd, &st) < 0 || read_line(fd, line, sizeof line) < 0)
		rc = complain_errno(message, message_size, path, "read the node's key");
	else if (st.st_mode & 077)
		rc = refuse_file(message, message_size, -EPERM, path,
			"the node's key can be read or written by others; run chmod 600 on it");
	else if (!wire_key_parse(line, key_id, key))
		rc = refuse_file(message, message_size, -ERROR_CORRUPT, path,
			"is not a key \"ID:HEX\"; write it with `berth node key UUID`");
	close(fd);
	explicit_bzero(line, sizeof line);
	return rc;
}
