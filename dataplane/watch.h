// A thread that looks at what the packet workers cannot see from inside, the links of their ports, and says in the log
// when expiry is held and when it goes on, and who asks for more than a key may have, and who has a wrong key.
#pragma once
#include "dataplane/expiry.h"
#include "dataplane/port/port.h"
#include <pthread.h>
#include <semaphore.h>

struct watch {
	struct ethernet_port *ports;
	uint32_t port_count;
	const struct packet_workers *workers;
	bool runs;
	pthread_t thread;
	sem_t stop;                // while it runs
	struct expiry_status told; // newest that the log has
	uint64_t told_refused; // of all that was refused for its sender's rate, what the log has
	uint32_t noise_rest;   // looks until the log may have that again
	uint64_t told_strange; // the same of what was refused because its key or tag was wrong
	uint32_t strange_rest;
	// Tells that expiry is held, or goes on, on the thread; NULL: nobody asks.
	void (*expiry_changed)(void *context, bool is_held);
	void *context;
};

// With expiry_changed set. The ports and workers outlive the thread. Returns 0 or a negative error.
int watch_start(
	struct watch *, struct ethernet_port *, uint32_t port_count, const struct packet_workers *);
// Does nothing when it was not started.
void watch_stop(struct watch *);
// Why expiry is held, as a sentence; "" when it is not. Any thread.
void watch_text(const struct watch *, const struct expiry_status *, char *text, uint32_t text_size);
