// Listening sockets: at an address, and at a path of the file system.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// Each returns a descriptor, or a negative error and a sentence in message.
// setting: whose address and port they are, for the sentence.
int listen_at_address(const char *setting, const char *address, uint16_t port, char *message,
	uint32_t message_size);

struct listening_path {
	const char *path;
	uint32_t mode;     // of the socket: who may write to it may ask
	const char *group; // its owner, a name or a number; NULL or "": that of the process
};
// A socket that a dead process left there goes away; one that somebody listens at is refused, as are files.
int listen_at_path(const struct listening_path *, char *message, uint32_t message_size);
// Whether the settings of a path would do, without listening. False, and a sentence.
bool listening_path_is_fit(const struct listening_path *, char *message, uint32_t message_size);
// Whether the folder of a path that is fit may be written to, and no file lies at the path. False, and the sentence
// that listening there would say.
bool listening_path_is_free(const struct listening_path *, char *message, uint32_t message_size);
