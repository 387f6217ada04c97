#include "tools/keyring/keyring_file.h"
#include "state/base/error.h"
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEX_BYTES (2 * KEYRING_KEY_BYTES)
#define RETIRED " retired"
#define LINE_BYTES (HEX_BYTES + 40)
// A few comments, and all keys.
#define FILE_BYTES_MAX (4096 + KEYRING_KEYS_MAX * LINE_BYTES)

static int file_complaint(
	char *message, uint32_t size, int error, const char *path, const char *what)
{
	snprintf(message, size, "keyring_file: %s %s", path, what);
	return error;
}

static int errno_complaint(char *message, uint32_t size, const char *path, const char *action)
{
	int error = -errno;
	snprintf(message, size, "keyring_file: cannot %s %s: %s", action, path, error_text(error));
	return error;
}

// Parses "HEX TIME" or "HEX TIME retired". False: it is something else.
static bool parse_key(const char *line, struct keyring_key *key)
{
	size_t written = 0;
	const char *end = NULL;
	char *number_end;
	if (strlen(line) < HEX_BYTES + 2 ||
		sodium_hex2bin(key->bytes, sizeof key->bytes, line, HEX_BYTES, NULL, &written,
			&end) != 0 ||
		written != sizeof key->bytes || end[0] != ' ' || end[1] < '0' || end[1] > '9')
		return false;
	errno = 0;
	key->create_time_ns = strtoll(end + 1, &number_end, 10);
	key->is_retired = strcmp(number_end, RETIRED) == 0;
	return !errno && (*number_end == '\0' || key->is_retired);
}

static bool is_twice(const struct keyring_keys *keys, const struct keyring_key *key)
{
	for (uint32_t i = 0; i < keys->count; i++)
		if (sodium_memcmp(keys->keys[i].bytes, key->bytes, sizeof key->bytes) == 0)
			return true;
	return false;
}

// NULL, or what is wrong with the line.
static const char *take_line(char *line, struct keyring_keys *keys)
{
	struct keyring_key key;
	line[strcspn(line, "#\r")] = '\0';
	for (size_t n = strlen(line); n > 0 && line[n - 1] == ' ';)
		line[--n] = '\0';
	if (*line == '\0')
		return NULL;
	if (!parse_key(line, &key))
		return "is not \"KEY TIME\", 64 hexadecimal digits and a number";
	const char *wrong = is_twice(keys, &key)              ? "repeats a key"
			    : keys->count == KEYRING_KEYS_MAX ? "is one key more than 64"
							      : NULL;
	if (!wrong)
		keys->keys[keys->count++] = key;
	sodium_memzero(&key, sizeof key);
	return wrong;
}

static int parse_lines(char *content, struct keyring_keys *keys, const char *path, char *message,
	uint32_t message_size)
{
	uint32_t number = 1;
	for (char *line = content, *next; line; line = next, number++) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		const char *wrong = take_line(line, keys);
		if (!wrong)
			continue;
		char what[128];
		snprintf(what, sizeof what, "line %u %s; put the file back as it was", number,
			wrong);
		return file_complaint(message, message_size, -ERROR_CORRUPT, path, what);
	}
	if (keys->count == 0)
		return file_complaint(message, message_size, -ERROR_CORRUPT, path,
			"holds no key; put the file back as it was, or move it away to begin with "
			"a new key");
	return 0;
}

static int check_mode(int fd, const char *path, char *message, uint32_t message_size)
{
	struct stat found;
	if (fstat(fd, &found) < 0)
		return errno_complaint(message, message_size, path, "look at");
	if (!S_ISREG(found.st_mode))
		return file_complaint(
			message, message_size, -EINVAL, path, "is not a regular file");
	if (found.st_mode & 077)
		return file_complaint(message, message_size, -EPERM, path,
			"can be read or written by others; run chmod 600 on it");
	return 0;
}

static int read_content(int fd, const char *path, char content[static FILE_BYTES_MAX],
	char *message, uint32_t message_size)
{
	size_t size = 0;
	ssize_t got = 1;
	while (size < FILE_BYTES_MAX && got > 0) {
		got = read(fd, content + size, FILE_BYTES_MAX - size);
		size += got > 0 ? (size_t)got : 0;
	}
	if (size >= FILE_BYTES_MAX)
		return file_complaint(message, message_size, -ERROR_CORRUPT, path,
			"is too large; it should hold a line for each of at most 64 keys");
	if (got < 0)
		return errno_complaint(message, message_size, path, "read");
	content[size] = '\0';
	if (strlen(content) != size)
		return file_complaint(
			message, message_size, -ERROR_CORRUPT, path, "holds a NUL byte");
	return 0;
}

int keyring_file_read(
	const char *path, struct keyring_keys *keys, char *message, uint32_t message_size)
{
	char content[FILE_BYTES_MAX];
	*keys = (struct keyring_keys){0};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return errno_complaint(message, message_size, path, "open");
	int error = check_mode(fd, path, message, message_size);
	if (!error)
		error = read_content(fd, path, content, message, message_size);
	close(fd);
	if (!error)
		error = parse_lines(content, keys, path, message, message_size);
	sodium_memzero(content, sizeof content);
	if (error)
		sodium_memzero(keys, sizeof *keys);
	return error;
}

static bool write_keys(int fd, const struct keyring_keys *keys)
{
	bool fine =
		dprintf(fd, "# Keys of variables, the newest first. Whoever has them can read "
			    "every variable; without them\n# nobody can: keep this file secret, "
			    "and a copy of it elsewhere.\n") > 0;
	for (uint32_t i = 0; i < keys->count && fine; i++) {
		char hex[HEX_BYTES + 1];
		sodium_bin2hex(hex, sizeof hex, keys->keys[i].bytes, KEYRING_KEY_BYTES);
		fine = dprintf(fd, "%s %lld%s\n", hex, (long long)keys->keys[i].create_time_ns,
			       keys->keys[i].is_retired ? RETIRED : "") > 0;
		sodium_memzero(hex, sizeof hex);
	}
	return fine && fsync(fd) == 0;
}

static int open_folder_of(const char *path)
{
	char copy[PATH_MAX];
	snprintf(copy, sizeof copy, "%s", path);
	return open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

// Durably. The old file takes the name of the new one, so that it can be put back when the folder is not synced, where
// the file system knows how to exchange names.
static bool replace_durably(int folder, const char *fresh, const char *path)
{
	bool is_beside = renameat2(AT_FDCWD, fresh, AT_FDCWD, path, RENAME_EXCHANGE) == 0;
	if (!is_beside && rename(fresh, path) < 0)
		return false;
	if (fsync(folder) == 0)
		return true;
	int error = errno;
	if (is_beside)
		(void)renameat2(AT_FDCWD, fresh, AT_FDCWD, path, RENAME_EXCHANGE);
	errno = error;
	return false;
}

bool keyring_file_write(
	const char *path, const struct keyring_keys *keys, char *message, uint32_t message_size)
{
	char target[PATH_MAX];
	int length = snprintf(target, sizeof target, "%s.new", path);
	if (length < 0 || (size_t)length >= sizeof target) {
		file_complaint(message, message_size, 0, path, "has too long a name");
		return false;
	}
	// What a crash left of an earlier one.
	(void)unlink(target);
	int folder = open_folder_of(path);
	int fd = folder < 0 ? -1 : open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	bool fine = fd >= 0 && write_keys(fd, keys) && replace_durably(folder, target, path);
	if (!fine)
		errno_complaint(message, message_size, path, "write");
	if (fd >= 0)
		close(fd);
	if (folder >= 0)
		close(folder);
	(void)unlink(target); // the old file, or one that is of no use
	return fine;
}
