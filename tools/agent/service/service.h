// The agent's HTTP service: what a Nomad client answers of its allocations (/v1/client/…). It listens nowhere. Whoever
// has a connection to somebody who may ask hands it over; who that is and what it may do was settled before.
//
// Each connection has a thread of its own, so an answer may wait for as long as it takes. The runner belongs to the
// agent's main thread, which is asked through the mailbox (ask_runner.h).
#pragma once
#include "tools/agent/service/service_settings.h"

struct agent_service;

// Starts the service without any connection. 0, or -errno and a sentence. Signals go to other threads than its own.
int agent_service_start(const struct agent_service_settings *, struct agent_service **,
	char *message, uint32_t message_size);
// Serves the requests that come over a connected stream socket (TCP, or one end of a socketpair), one after the other,
// until its peer closes it or it idles. Owns the descriptor from now on, also when it fails. Any thread. 0 or -errno;
// -EUSERS: there are too many connections.
int agent_service_take(struct agent_service *, int fd);
// Ends answers that wait or follow, closes every connection, waits for its threads and frees the service. Call it on
// the main thread, and ask_runner_close() before: an answer may wait for that thread. NULL is allowed.
void agent_service_stop(struct agent_service *);
