// A listener on 127.0.0.1 that answers each connection's requests with what a test wants, well-formed or not.
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_SERVER_URL_BYTES 64

struct fake_server {
	// The raw answer to the request of this number, from 0: its bytes, or NULL to close the connection.
	const char *(*answer)(void *context, uint32_t request, size_t *size);
	void *context;
	char url[FAKE_SERVER_URL_BYTES];
	_Atomic uint32_t requests; // that came whole
	int listener;
	pthread_t thread;
};

// answer and context are set. One connection at a time.
void fake_server_start(struct fake_server *);
void fake_server_stop(struct fake_server *);
