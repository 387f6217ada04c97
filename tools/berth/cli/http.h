// Requests to the HTTP API.
#pragma once
#include "tools/berth/cli/session.h"
#include "tools/http_client/http_client.h"
#include <stddef.h>

struct http *http_open(const struct flags *); // connects at the first request
void http_close(struct http *);

struct http_answer {
	long status;
	char *body; // NUL-terminated
	size_t size;
	char next_token[64]; // "" when there is no further page
	uint64_t index;
};
void http_answer_free(struct http_answer *);

// path is absolute, its parts escaped with http_escape. STATUS_OK when the controller answered with
// a status below 300; otherwise says on standard error what, why and what next.
enum exit_status http_get(struct session *, const char *path, struct http_answer *);
enum exit_status http_put(
	struct session *, const char *path, const char *body, size_t size, struct http_answer *);
enum exit_status http_delete(struct session *, const char *path, struct http_answer *);
// Copies the answer to standard output as it comes (--json of lists).
enum exit_status http_get_through(struct session *, const char *path);
// The answer as JSON; *root is the caller's.
enum exit_status http_get_json(struct session *, const char *path, json_t **root);
// The same; *index is where it changed last (X-Nomad-Index), for the next blocking query.
enum exit_status http_get_indexed(
	struct session *, const char *path, json_t **root, uint64_t *index);

// Sends body (NULL: nothing); the answer as JSON, NULL when it is empty. *root is the caller's.
enum exit_status http_put_json(struct session *, const char *path, json_t *body, json_t **root);

#define HTTP_PATH_BYTES 1024u
// While quiet, errors are not printed: for requests that a command can do without.
void http_quiet(struct session *, bool quiet);
