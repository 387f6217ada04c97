// Sends HTTP requests one after the other over a kept connection (libcurl). One thread at a time.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_client;

struct http_client *http_client_create(void);   // NULL: libcurl cannot be set up
void http_client_destroy(struct http_client *); // NULL is fine

struct http_request {
	const char *method; // NULL: GET
	const char *url;    // http or https
	const char *body;   // JSON; NULL: none
	size_t body_size;
	bool names_json;   // names JSON as its type, also without a body
	const char *token; // sent as X-Nomad-Token; NULL or "": none
	const char *agent; // the program's name; NULL: none
	uint32_t timeout_ms;
	// Takes a piece of the answer. False ends the request.
	bool (*take_body)(void *context, long status, const char *data, size_t size);
	// Takes one header line of the answer. NULL: headers are ignored.
	void (*take_header)(void *context, const char *line, size_t size);
	// Called now and then: true ends the request. NULL: nothing cancels it.
	bool (*is_cancelled)(void *context);
	void *context;
};

#define HTTP_ERROR_BYTES 256u

struct http_result {
	long status;                  // 0: no answer came
	const char *kind;             // of the failure, when no answer came; static
	char error[HTTP_ERROR_BYTES]; // the failure with details
};

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
