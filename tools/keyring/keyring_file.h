// The file of a keyring: a line for each key, the newest first, as 64 hexadecimal digits and when it was made, in Unix
// nanoseconds; "retired" after that says that what it encrypts is to be encrypted anew. Everything after a # is a
// comment.
//
//	# Keys of variables, the newest first. …
//	8d4b… 1795359039547634568
//	02fe… 1795359030017634000 retired
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define KEYRING_KEY_BYTES 32u
// Keys that are kept. One a month lasts for five years.
#define KEYRING_KEYS_MAX 64u

struct keyring_keys {
	uint32_t count;
	struct keyring_key {
		uint8_t bytes[KEYRING_KEY_BYTES];
		int64_t create_time_ns;
		bool is_retired;
	} keys[KEYRING_KEYS_MAX];
};

// Returns 0, -ENOENT, or another error with a sentence. Refuses a file that others may read or write.
int keyring_file_read(
	const char *path, struct keyring_keys *, char *message, uint32_t message_size);
// Writes a file beside it and renames that, durably: a reader, or a start after a crash, sees the old file or the new
// one. False and a sentence: the file is as it was; or it is the new one, where there was none, or where the file
// system neither synced the folder nor put the old file back. A new one has all keys that encrypt anything, too.
bool keyring_file_write(
	const char *path, const struct keyring_keys *, char *message, uint32_t message_size);
