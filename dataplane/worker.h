// One poller: takes bursts from its queue, runs them through the packet path, answers what the
// applier has finished, sweeps for the silent. worker_step() is one turn of the loop and knows no
// transport, thread or clock of its own, so that tests run it over arrays and a manual clock.
#pragma once
#include "dataplane/dataplane.h"
#include "dataplane/hot/liveness.h"
#include "dataplane/port/packet_io.h"
#include "dataplane/requests/alloc_requests.h"
#include "dataplane/requests/request.h"

struct workers;

struct worker {
	struct hot_worker hot;
	struct packet_io io;
	struct packet_burst burst;
	struct workers *team;
	struct hot_counters counters;
	struct liveness_clock clock;
	uint32_t sweep_cursor;
	uint64_t sweep_due_ns;
	uint32_t idle_turns; // in a row without a packet
	uint32_t nap_us;     // of the last nap; 0 while awake
	struct request_pool requests;
	struct report_pool reports;
	struct spec_cache specs;
	// Packets this worker's port lost for want of room: any thread writes, this one reads.
	const _Atomic uint64_t *missed;
	// Reads the port's counters every METER_INTERVAL_NS; on the first worker of a port, else
	// NULL.
	void (*meter)(void *context);
	void *meter_context;
	uint64_t meter_due_ns;
	// Written by the worker, read by anybody.
	_Atomic uint64_t turned_ns;   // start of the newest turn
	_Atomic uint64_t received_ns; // newest turn that had a packet or unfinished requests
} __attribute__((aligned(64)));

struct worker_settings {
	uint32_t ttl_ms, restart_grace_ms, stall_ms, idle_sleep_us;
	enum poll_mode poll;
	alloc_spec_render *alloc_spec; // NULL: nobody can ask
	vm_spec_render *vm_spec;       // the same
	void *alloc_spec_context;
};

struct workers {
	struct worker_settings settings;
	struct state *state;
	struct command_queue *queue;
	const struct master_keys *keys;
	const struct time_source *time;
	_Atomic bool stopping;
	uint32_t count;
	struct worker *items;
	const struct hot_counters **counters; // of each
};

// Caller destroys.
struct workers *workers_create(uint32_t count, const struct worker_settings *);
void workers_destroy(struct workers *);
// Where a worker's packets come from. missed may be NULL. Before workers_open().
void worker_attach(
	struct worker *, struct packet_io, const struct hot_port *, const _Atomic uint64_t *missed);
// Starts the liveness clocks and fills and arms the lines of every known node. Before any step.
void workers_open(struct workers *, struct state *, struct command_queue *,
	const struct master_keys *, const struct time_source *);

// One turn. The calling thread is online for RCU (state_reader_online()). Returns packets received.
uint32_t worker_step(struct worker *);
// Turns until workers.stopping, napping when there is nothing to do, then answers what is finished.
void worker_run(struct worker *);
