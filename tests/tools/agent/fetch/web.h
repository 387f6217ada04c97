// A real web server on a loopback address, with pages of the test's, and ways of its own to be difficult:
// /status/N answers N, /redirect/PATH goes on to /PATH, /endless never ends, /silent never says anything after its
// head, /echo says the query and the header X-Token that it got. One a program.
#pragma once
#include <stddef.h>
#include <stdint.h>

// certificate and key: PEM; NULL: no TLS. Fails the test if it cannot.
void web_begin(const char *certificate, const char *key);
void web_end(void);
// "http://127.0.0.1:PORT/PATH"; one of a few buffers, in turn.
const char *web_url(const char *path);
// Of this path, in place of what was there. The bytes are copied.
void web_put(const char *path, const void *bytes, size_t size);
uint32_t web_asked(void); // requests so far
