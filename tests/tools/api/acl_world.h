// Access control of the group's server: policies and tokens, and requests that show them.
#pragma once
#include "tests/tools/api/server.h"

#define SECRET_BYTES 37u

// Makes the first token, of management: from then on access control is on.
void acl_world_bootstrap(char secret[static SECRET_BYTES]);
void acl_world_policy(const char *name, const char *rules);
// Makes a client token; policies: names with blanks between. expiration_time_ns 0: never.
struct uuid acl_world_token(
	const char *policies, int64_t expiration_time_ns, char secret[static SECRET_BYTES]);
void acl_world_delete_token(struct uuid accessor);

// The answer to one request on a connection of its own; of a stream only how it begins.
struct answer {
	int status;
	char text[8192]; // the body's beginning
};
// secret NULL: none.
struct answer ask_with(const char *secret, const char *method, const char *path, const char *body);
// header: a whole line, or NULL.
struct answer ask_saying(
	const char *header, const char *method, const char *path, const char *body);
// Fails the test unless this is the answer, to the last byte of its sentence.
void expect_sentence(const char *secret, const char *method, const char *path, const char *body,
	int status, const char *sentence);
