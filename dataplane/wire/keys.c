// The master key file and what is derived from it.
#include "dataplane/wire/auth.h"
#include "state/base/check.h"
#include "state/base/error.h"
#include "state/base/writing/write_whole.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_FILE_BYTES_MAX 4096
#define HEX_BYTES (2 * MASTER_KEY_BYTES)

static int key_complaint(
	char *message, uint32_t size, int error, const char *path, const char *what)
{
	snprintf(message, size, "master key file %s: %s", path, what);
	return error;
}

static int complain_errno(char *message, uint32_t size, const char *path, const char *action)
{
	int error = -errno;
	snprintf(message, size, "master key file %s: cannot %s: %s%s", path, action,
		strerror(-error), error == -ENOENT ? "; make one with: berthd genkey FILE" : "");
	return error;
}

static bool hex_decode(const char *hex, uint8_t *bytes, size_t count)
{
	size_t written = 0;
	const char *end = NULL;
	return sodium_hex2bin(bytes, count, hex, 2 * count, NULL, &written, &end) == 0 &&
	       written == count && end == hex + 2 * count;
}

// Parses an ID of 1 … 255 and the separator behind it. Returns the rest of the text, or NULL.
static const char *parse_id(const char *text, uint8_t *id, char separator)
{
	char *end;
	if (!isdigit((unsigned char)*text))
		return NULL;
	unsigned long value = strtoul(text, &end, 10);
	if (value < 1 || value > 255 || *end != separator)
		return NULL;
	*id = (uint8_t)value;
	return end + 1;
}

// Parses one line; false when it is neither a key, a comment nor empty.
static bool parse_line(char *line, struct master_keys *keys, const char **why)
{
	line[strcspn(line, "#\r")] = '\0';
	line += strspn(line, " \t");
	for (size_t n = strlen(line); n > 0 && isspace((unsigned char)line[n - 1]);)
		line[--n] = '\0';
	if (*line == '\0')
		return true;
	uint8_t id;
	const char *hex = parse_id(line, &id, ' ');
	*why = "is not \"ID HEX\" with an id of 1 to 255 and 64 hexadecimal digits";
	if (!hex || strlen(hex) != HEX_BYTES)
		return false;
	uint8_t bytes[MASTER_KEY_BYTES];
	if (!hex_decode(hex, bytes, sizeof bytes))
		return false;
	*why = "is one key more than the 4 that may be in use; remove the oldest";
	if (keys->count == MASTER_KEYS_MAX)
		return false;
	*why = "repeats an id; every key needs its own";
	for (uint32_t i = 0; i < keys->count; i++)
		if (keys->keys[i].id == id)
			return false;
	keys->keys[keys->count].id = id;
	memcpy(keys->keys[keys->count].bytes, bytes, sizeof bytes);
	keys->count++;
	sodium_memzero(bytes, sizeof bytes);
	return true;
}

static int parse_file(char *content, struct master_keys *keys, const char *path, char *message,
	uint32_t message_size)
{
	memset(keys, 0, sizeof *keys);
	uint32_t number = 1;
	for (char *line = content, *next; line; line = next, number++) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		const char *why;
		if (!parse_line(line, keys, &why)) {
			char what[160];
			snprintf(what, sizeof what, "line %u %s", number, why);
			return key_complaint(message, message_size, -ERROR_CORRUPT, path, what);
		}
	}
	if (keys->count == 0)
		return key_complaint(message, message_size, -ERROR_CORRUPT, path,
			"holds no key; create one with `berthd genkey`");
	return 0;
}

// Reads the whole file into content. Returns 0 or -errno with the reason.
static int read_key_file(int fd, const char *path, char content[static KEY_FILE_BYTES_MAX],
	char *message, uint32_t message_size)
{
	struct stat st;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return key_complaint(message, message_size, -EINVAL, path, "is not a regular file");
	if (st.st_mode & 077)
		return key_complaint(message, message_size, -EPERM, path,
			"can be read or written by others; run chmod 600 on it");
	size_t at = 0;
	for (;;) {
		ssize_t n = read(fd, content + at, KEY_FILE_BYTES_MAX - at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return complain_errno(message, message_size, path, "read it");
		at += (size_t)n;
		if (n == 0)
			break;
		if (at == KEY_FILE_BYTES_MAX)
			return key_complaint(message, message_size, -ERROR_CORRUPT, path,
				"is larger than 4095 bytes; it should hold a few lines");
	}
	content[at] = '\0';
	if (strlen(content) != at)
		return key_complaint(
			message, message_size, -ERROR_CORRUPT, path, "holds a NUL byte");
	return 0;
}

int master_keys_load(
	const char *path, struct master_keys *keys, char *message, uint32_t message_size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == EACCES)
		return key_complaint(message, message_size, -EACCES, path,
			"may not be read by the user that this is; make that its owner (chown)");
	if (fd < 0)
		return complain_errno(message, message_size, path, "open it");
	char content[KEY_FILE_BYTES_MAX];
	int rc = read_key_file(fd, path, content, message, message_size);
	close(fd);
	if (rc == 0)
		rc = parse_file(content, keys, path, message, message_size);
	sodium_memzero(content, sizeof content);
	if (rc < 0)
		sodium_memzero(keys, sizeof *keys);
	return rc;
}

// The smallest id above the newest, going round, that no kept key has.
static uint8_t next_id(const struct master_keys *keys)
{
	uint8_t id = keys->count ? keys->keys[0].id : 0;
	for (;;) {
		id = id == 255 ? 1 : (uint8_t)(id + 1);
		uint32_t i = 0;
		while (i < keys->count && keys->keys[i].id != id)
			i++;
		if (i == keys->count)
			return id;
	}
}

static void prepend_random_key(struct master_keys *keys)
{
	uint8_t id = next_id(keys);
	if (keys->count == MASTER_KEYS_MAX)
		keys->count--; // the oldest goes
	memmove(&keys->keys[1], &keys->keys[0], keys->count * sizeof keys->keys[0]);
	keys->count++;
	keys->keys[0].id = id;
	randombytes_buf(keys->keys[0].bytes, MASTER_KEY_BYTES);
}

static int write_keys(int fd, const struct master_keys *keys)
{
	char content[KEY_FILE_BYTES_MAX];
	int at = snprintf(content, sizeof content,
		"# Master keys of this cluster, newest first: ID HEX. Keep this file secret.\n");
	for (uint32_t i = 0; i < keys->count; i++) {
		char hex[HEX_BYTES + 1];
		sodium_bin2hex(hex, sizeof hex, keys->keys[i].bytes, MASTER_KEY_BYTES);
		at += snprintf(content + at, sizeof content - (size_t)at, "%u %s\n",
			keys->keys[i].id, hex);
		sodium_memzero(hex, sizeof hex);
	}
	int error = write_whole(fd, content, (size_t)at);
	sodium_memzero(content, sizeof content);
	return error == 0 && fsync(fd) == 0 ? 0 : -1;
}

static int sync_folder_of(const char *path)
{
	char copy[PATH_MAX];
	snprintf(copy, sizeof copy, "%s", path);
	int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	int rc = fsync(fd);
	close(fd);
	return rc;
}

int master_keys_generate(const char *path, bool rotate, char *message, uint32_t message_size)
{
	CHECK(sodium_init() >= 0); // without randomness it ends the process itself
	struct master_keys keys = {0};
	if (rotate) {
		int rc = master_keys_load(path, &keys, message, message_size);
		if (rc < 0)
			return rc;
	}
	// A rotation writes a file beside the old one and renames it, so that a reader sees the old file or the new
	// one.
	char target[PATH_MAX];
	int length = snprintf(target, sizeof target, "%s%s", path, rotate ? ".new" : "");
	if (length < 0 || (size_t)length >= sizeof target)
		return key_complaint(
			message, message_size, -ENAMETOOLONG, path, "name is too long");
	// What a crash left of an earlier one.
	if (rotate)
		(void)unlink(target);
	int fd = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return complain_errno(message, message_size, target, "create it");
	prepend_random_key(&keys);
	int rc = 0;
	// Whoever reads the file goes on reading it.
	struct stat before;
	if (rotate && (stat(path, &before) < 0 || fchown(fd, before.st_uid, before.st_gid) < 0))
		rc = complain_errno(message, message_size, target, "give it to its owner");
	else if (write_keys(fd, &keys) < 0)
		rc = complain_errno(message, message_size, target, "write it");
	close(fd);
	if (rc == 0 && rotate && rename(target, path) < 0)
		rc = complain_errno(message, message_size, path, "replace it");
	if (rc == 0 && sync_folder_of(path) < 0)
		rc = complain_errno(message, message_size, path, "sync its folder");
	else if (rc < 0)
		unlink(target);
	sodium_memzero(&keys, sizeof keys);
	return rc;
}

// A generation and the longest identity.
#define IDENTITY_BYTES (4 + CLIENT_NAME_BYTES_MAX)

static const uint8_t *master_key(const struct master_keys *keys, uint8_t key_id)
{
	for (uint32_t i = 0; i < keys->count; i++)
		if (keys->keys[i].id == key_id)
			return keys->keys[i].bytes;
	return NULL;
}

// label | key_id | identity, hashed under the master key. Little-endian words, as the tag wants them.
static bool derive(const struct master_keys *keys, uint8_t key_id, struct text label,
	struct text identity, struct wire_key *key)
{
	const uint8_t *master = master_key(keys, key_id);
	if (!master)
		return false;
	uint8_t bytes[16];
	crypto_generichash_state state;
	crypto_generichash_init(&state, master, MASTER_KEY_BYTES, sizeof bytes);
	crypto_generichash_update(&state, (const uint8_t *)label.data, label.size);
	crypto_generichash_update(&state, &key_id, 1);
	crypto_generichash_update(&state, (const uint8_t *)identity.data, identity.size);
	crypto_generichash_final(&state, bytes, sizeof bytes);
	for (uint32_t i = 0; i < 2; i++) {
		uint64_t word = 0;
		for (uint32_t b = 0; b < 8; b++)
			word |= (uint64_t)bytes[8 * i + b] << (8 * b);
		key->k[i] = word;
	}
	sodium_memzero(bytes, sizeof bytes);
	return true;
}

bool node_key_derive(const struct master_keys *keys, uint8_t key_id, const struct uuid *node,
	struct wire_key *key)
{
	struct text identity = {(const char *)node->bytes, sizeof node->bytes};
	return derive(keys, key_id, TEXT("berth node v1"), identity, key);
}

bool client_key_derive(
	const struct master_keys *keys, uint8_t key_id, struct text name, struct wire_key *key)
{
	return derive(keys, key_id, TEXT("berth client v1"), name, key);
}

// What stands before the identity in keys of later generations, another label beside: no key of one generation is that
// of a sender with a longer name in another.
static struct text with_generation(
	uint32_t generation, struct text identity, char text[static IDENTITY_BYTES])
{
	for (uint32_t i = 0; i < sizeof generation; i++)
		text[i] = (char)(generation >> (8 * i));
	memcpy(text + sizeof generation, identity.data, identity.size);
	return (struct text){text, (uint32_t)sizeof generation + identity.size};
}

bool node_key_derive_next(const struct master_keys *keys, uint8_t key_id, const struct uuid *node,
	uint32_t generation, struct wire_key *key)
{
	char text[IDENTITY_BYTES];
	struct text identity = {(const char *)node->bytes, sizeof node->bytes};
	if (generation == 0)
		return node_key_derive(keys, key_id, node, key);
	return derive(keys, key_id, TEXT("berth node v2"),
		with_generation(generation, identity, text), key);
}

bool client_key_derive_next(const struct master_keys *keys, uint8_t key_id, struct text name,
	uint32_t generation, struct wire_key *key)
{
	char text[IDENTITY_BYTES];
	if (generation == 0)
		return client_key_derive(keys, key_id, name, key);
	if (name.size > CLIENT_NAME_BYTES_MAX)
		return false;
	return derive(keys, key_id, TEXT("berth client v2"),
		with_generation(generation, name, text), key);
}

char *wire_key_format(
	uint8_t key_id, const struct wire_key *key, char text[static WIRE_KEY_TEXT_BYTES])
{
	int at = snprintf(text, WIRE_KEY_TEXT_BYTES, "%u:", key_id);
	for (uint32_t i = 0; i < 16; i++)
		at += snprintf(text + at, WIRE_KEY_TEXT_BYTES - (size_t)at, "%02x",
			(unsigned)(key->k[i / 8] >> (8 * (i % 8)) & 0xff));
	return text;
}

bool wire_key_parse(const char *text, uint8_t *key_id, struct wire_key *key)
{
	uint8_t id, bytes[16];
	const char *hex = parse_id(text, &id, ':');
	if (!hex || strlen(hex) != 2 * sizeof bytes || !hex_decode(hex, bytes, sizeof bytes))
		return false;
	*key_id = id;
	memset(key, 0, sizeof *key);
	for (uint32_t i = 0; i < 16; i++)
		key->k[i / 8] |= (uint64_t)bytes[i] << (8 * (i % 8));
	sodium_memzero(bytes, sizeof bytes);
	return true;
}
