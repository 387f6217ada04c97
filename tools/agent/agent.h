// The agent at work: socket, clock and signals around the state machine of beat.h.
#pragma once
#include "tools/agent/alloc_sync.h"
#include "tools/agent/base/identity.h"
#include "tools/agent/beat.h"
#include "tools/agent/confine/confine.h"
#include "tools/agent/engines.h"
#include "tools/agent/fingerprint.h"
#include "tools/agent/line/line.h"
#include "tools/agent/options.h"
#include "tools/agent/service/ask_runner.h"
#include "tools/agent/service/service.h"
#include "tools/agent/vm_worker.h"
#include "tools/client/description.h"
#include "tools/client/servers.h"
#include <netinet/in.h>

struct agent_counters {
	uint64_t sent, answered, ignored, registrations, refused, old_terms, reconnects;
	uint64_t notices, redirects;
};

struct agent {
	const struct agent_options *options;
	struct identity identity;
	struct beat beat;
	struct prng prng;
	// Drawn once, never 0: the controller tells this agent by it from a clone, and from itself before it was
	// started anew.
	uint64_t boot;
	hwloc_topology_t topology;
	struct fingerprint fingerprint;
	struct description_frames description;
	struct confine confine;
	struct runner runner;
	struct readiness readiness;
	struct engines engines;
	struct alloc_sync sync;
	struct ask_runner *ask;              // the service's way to the runner
	struct agent_service *service;       // answers those whom the agent connects to
	struct line *line;                   // the connections that it dials
	char images[VM_WORKER_IMAGES_BYTES]; // folder of virtual machines' images
	bool runs;                           // runner and sync are open
	bool stays;                          // the agent ends without a goodbye: tasks go on
	uint64_t stop_by_ns;            // while leaving: tasks must end by then; 0: not leaving
	char address[INET6_ADDRSTRLEN]; // the agent's own, as registered
	uint32_t missed_told;           // beat.missed when the agent last logged it
	struct servers servers;
	int fd;      // to the current one of them; -1: the next send opens it
	int load_fd; // /proc/loadavg
	struct agent_counters counters;
};

// Reads identity, key and topology. Returns 0, or a negative error and a sentence in message.
int agent_create(
	struct agent *, const struct agent_options *, char *message, uint32_t message_size);
void agent_destroy(struct agent *);
// Describes the machine and builds the REGISTER frames. False when it cannot be described: see fingerprint.failure.
bool agent_describe(struct agent *); // describe.c
// Begins to answer who asks this node's allocations, and ends it. serving.c. 0, or a negative error and a sentence.
int agent_serve(struct agent *, char *message, uint32_t message_size);
void agent_serve_no_more(struct agent *);
// Runs until signal_fd (a signalfd) gives SIGTERM or SIGINT and the goodbye is acknowledged or given up. -1: there is
// none, as errno tells, and it fails at once: nobody could end it.
enum agent_exit agent_run(struct agent *, int signal_fd);
