// A request of HTTP, and what became of it.
#pragma once
#include "tools/http_client/http_tls.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct http_request {
	const char *method; // NULL: GET
	const char *url;    // http://HOST…, https://HOST…, or unix:///PATH of a socket
	const char *path;   // what follows the URL; NULL: nothing. Of a socket: begins with a slash
	const struct http_tls *tls; // NULL: nothing of it
	const char *body;           // JSON; NULL: none
	size_t body_size;
	FILE *body_file; // in place of body, read from where it is: body_size bytes, which are no JSON
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

// What may be done about a failure.
enum http_trouble {
	HTTP_TROUBLE_REACHING, // no server there, or a bad address
	HTTP_TROUBLE_PLAIN,    // the server closed at once: it may want https
	HTTP_TROUBLE_TRUST, // the server's certificate is not that of an authority or name asked for
	HTTP_TROUBLE_OWN_FILE, // a file of struct http_tls cannot be used
	HTTP_TROUBLE_TLS,      // the server refused the client, or speaks no TLS
};

struct http_result {
	long status;                  // 0: no answer came
	enum http_trouble trouble;    // then
	const char *kind;             // of the failure, when no answer came; static
	char error[HTTP_ERROR_BYTES]; // the failure with details
};
