// Sends HTTP requests one after the other over a kept connection (libcurl). One thread at a time.
#pragma once
#include "tools/http_client/http_request.h"

struct http_client;

struct http_client *http_client_create(void);   // NULL: libcurl cannot be set up
void http_client_destroy(struct http_client *); // NULL is fine

// Whether the text is a URL of one of the three kinds. Says nothing of whether anybody is there.
bool http_url_is_fit(const char *url);
// True when a whole answer came, with any status.
bool http_client_ask(struct http_client *, const struct http_request *, struct http_result *);

// The beginning of an answer, as much as room allows.
struct http_beginning {
	char *text; // NUL-terminated after every piece
	size_t room, size;
};
void http_beginning_take(struct http_beginning *, const char *data, size_t size);

// Percent-encodes one path segment or parameter value into buffer, as far as it fits; returns buffer.
char *http_escape(const char *text, char *buffer, size_t size);
