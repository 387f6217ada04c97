// Requests to the HTTP API.
#pragma once
#include "tools/berth/cli/session.h"
#include "tools/http_client/http_client.h"
#include <stddef.h>
#include <stdio.h>

struct http *http_open(const struct flags *); // connects at the first request
void http_close(struct http *);

struct http_answer {
	long status;
	char *body; // NUL-terminated
	size_t size;
	char next_token[512]; // "": there is no further page
	uint64_t index;
};
void http_answer_free(struct http_answer *);

// path is absolute, its parts escaped with http_escape. STATUS_OK when the controller answered with a status below 300;
// otherwise the call says on standard error what failed, why and what next. The caller frees the answer in both cases.
enum exit_status http_get(struct session *, const char *path, struct http_answer *);
enum exit_status http_put(
	struct session *, const char *path, const char *body, size_t size, struct http_answer *);
// The body is a file, read from where it is.
enum exit_status http_put_file(struct session *, const char *path, FILE *body, size_t size);
enum exit_status http_delete(struct session *, const char *path, struct http_answer *);
// Copies the answer to standard output while it arrives (--json of lists).
enum exit_status http_get_through(struct session *, const char *path);
// The same into an open file, as it is. What was written of an answer that broke off is the caller's to remove.
enum exit_status http_get_into(struct session *, const char *path, FILE *);
// Hands the answer over piece by piece while it arrives. take answers false to end it, which is no failure.
typedef bool http_take(void *context, const char *data, size_t size);
enum exit_status http_get_pieces(
	struct session *, const char *path, http_take *take, void *context);
// What came from that path as JSON; the caller releases *root, which is NULL after a complaint.
enum exit_status http_parse(
	const struct session *, const char *path, const struct http_answer *, json_t **root);
// Asks for it and parses it.
enum exit_status http_get_json(struct session *, const char *path, json_t **root);
// Prints the answer: with --json as it is, else as put does.
enum exit_status http_show(struct session *, const char *path, void (*put)(json_t *answer));
// Like http_get_json; *index is the answer's X-Nomad-Index, for the next blocking query.
enum exit_status http_get_indexed(
	struct session *, const char *path, json_t **root, uint64_t *index);

// Sends body (NULL: nothing); *root is the answer as JSON, NULL when it is empty. Caller releases *root.
enum exit_status http_put_json(struct session *, const char *path, json_t *body, json_t **root);

#define HTTP_PATH_BYTES 1024u
// The same for what takes POST alone.
enum exit_status http_post_json(struct session *, const char *path, json_t *body, json_t **root);

// While quiet, requests print no errors: for those that a command can do without.
void http_quiet(struct session *, bool quiet);
// From now on requests may take as long as they want: for what streams.
void http_without_end(struct session *);
// How long an answer may take; 0: as long as it wants.
uint32_t http_timeout_ms(const struct session *);
// While they are taken, an answer of 409 prints no error: its body tells more than a sentence.
void http_take_conflicts(struct session *, bool take);

struct http_socket;
// Opens a WebSocket (http_socket.h); NULL after a complaint, and then *status.
struct http_socket *http_begin_socket(
	struct session *, const char *path, size_t message_max, enum exit_status *status);
