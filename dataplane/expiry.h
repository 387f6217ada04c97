// What the holds of all workers (dataplane/hot/hold.h) see, and what they tell: which expiry is held, and why.
#pragma once
#include "dataplane/requests/packet_worker.h"

// Of all workers together, for reports. Any thread.
struct expiry_status {
	enum hold_state state;  // the strictest
	uint32_t causes;        // enum hold_cause, of every worker
	uint64_t nodes, silent; // armed, and silent for longer than half the time to live
	uint64_t since_ns;      // when the oldest hold began, monotonic; 0: there is none
	uint64_t holds;         // begun since the start
};

// Before the worker's first look, with its liveness clock started.
void expiry_open(struct packet_worker *);
// Steps the worker's hold when it is time. Worker's thread, before it sweeps.
void expiry_look(struct packet_worker *, uint64_t now_ns);

struct expiry_status expiry_status(const struct packet_workers *);
// Lets what is held expire. Any thread.
void expiry_release(struct packet_workers *);
