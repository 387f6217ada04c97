// A service on the loopback: it answers every request with the same bytes, and remembers what it was asked.
#pragma once
#include <stdatomic.h>
#include <stdint.h>

struct listener {
	uint16_t port;
	int fd;
	_Atomic(const char *) answer; // NULL: it takes connections and says nothing
	atomic_uint requests;
	char request[4000]; // the newest; stable while none is under way
};

void listener_open(struct listener *, const char *answer);
void listener_close(struct listener *);
// How many connections checks watch, of what checks_fd() gives: as long as one is under way, it is not over.
uint32_t listener_awaited(int checks_fd);
