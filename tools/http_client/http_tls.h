// What requests over TLS need to know.
#pragma once
#include <stdbool.h>

// How the server of an https URL is known, and what the client shows of itself. NULL or "" of a text: none.
struct http_tls {
	const char *
		ca_file; // PEM: authorities that may have signed the server's certificate; none: the system's
	const char *certificate_file, *key_file; // PEM, of the client
	const char *server_name; // what the certificate must name, instead of the URL's host
	bool is_unverified;      // anybody may answer
};
