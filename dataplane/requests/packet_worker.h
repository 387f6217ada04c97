// A packet worker, and what the packet workers of a process share. dataplane/packet_workers.h runs them; requests act
// on them.
#pragma once
#include "dataplane/hot/liveness.h"
#include "dataplane/hot/source.h"
#include "dataplane/port/packet_io.h"
#include "dataplane/requests/appointments.h"
#include "dataplane/requests/doorbell.h"
#include "dataplane/requests/key_buckets.h"
#include "dataplane/requests/noisy.h"
#include "dataplane/requests/request.h"
#include "dataplane/requests/rest.h"
#include "dataplane/requests/spec_cache.h"
#include "dataplane/requests/spec_render.h"
#include "state/applier/command_queue.h"
#include "state/base/time_source.h"
#include "state/tables/state.h"

struct packet_workers;

// Where the leader is, for followers to say. One writer at a time; a version that is odd is being written.
struct leader_place {
	_Atomic uint32_t version;
	_Atomic uint64_t address[2]; // the bytes of a wire_endpoint
	_Atomic uint16_t port;
};

struct packet_worker {
	struct hot_worker hot;
	struct packet_io io;
	struct packet_burst burst;
	struct packet_workers *team;
	struct hot_counters counters;
	struct liveness_clock clock;
	uint32_t sweep_cursor;
	uint64_t sweep_due_ns;
	struct rest rest;
	struct doorbell doorbell;
	bool was_roused; // by packets: the newest nap
	struct request_pool requests;
	struct appointments appointments; // of newcomers that were refused
	struct noisy_list noisy;
	struct report_pool reports;
	struct spec_cache specs;
	uint32_t stale_keys_seen;
	uint32_t notice_block; // whose news this worker tells next
	uint64_t notices_due_ns;
	// Of this worker's port, shared by all of its workers; NULL: nothing is known.
	const struct port_signs *signs;
	uint64_t hold_due_ns, pings_due_ns;
	// Of one that begins as a follower: has it not gone over to leading yet; its port with the addresses that it is
	// silent for meanwhile, and with all of them.
	bool follows;
	uint32_t follows_left; // frames that it looks at in this second
	struct hot_port service, leading;
	bool announces; // those addresses, once it leads: the first worker of its port
	uint32_t announcements_left;
	uint64_t announce_due_ns;
	bool drops_old; // what was queued while this process stood still, and somebody else may have come to lead
	// Reads the port's counters every METER_INTERVAL_NS; on the first worker of a port, else
	// NULL.
	void (*meter)(void *context);
	void *meter_context;
	uint64_t meter_due_ns;
	// Written by the worker, read by anybody.
	_Atomic uint64_t turned_ns; // start of the newest turn
	_Atomic uint32_t held;      // enum hold_state, and its causes shifted by 8
	_Atomic uint64_t held_ns;   // when that began
	_Atomic uint64_t holds;     // begun so far
} __attribute__((aligned(64)));

struct packet_worker_settings {
	uint32_t ttl_ms, restart_grace_ms, stall_ms, idle_sleep_us;
	uint32_t mass_percent, mass_hold_s; // struct hold_limits
	uint32_t node_rate, node_burst;     // requests of one node's key; a rate of 0: no limit
	uint32_t client_rate, client_burst; // the same of a client's
	bool spins;                         // never gives its processor away
	// Whether this leader is sure that nobody else leads; NULL: nobody else can. Asked once a turn.
	bool (*leads_surely)(void *context);
	void *lead_context;
	uint16_t line_port;            // as in node_table
	bool sealed_only;              // what is to run goes out sealed, or not at all
	alloc_spec_render *alloc_spec; // NULL: nobody can ask
	vm_spec_render *vm_spec;       // the same for virtual machines
	void *alloc_spec_context;
};

struct packet_workers {
	struct packet_worker_settings settings;
	struct state *state;
	struct command_queue *queue;
	// Workers look at the current set in a turn, and at none between two: sender_keys.h says how it is changed.
	struct master_keys key_sets[2];
	struct master_keys *_Atomic keys;
	// By slot, of its owning worker; NULL: memory was short, and nobody is told.
	struct node_source *sources;
	uint32_t source_count;
	struct bucket_rule node_rule, client_rule;
	// Of clients, and of nodes that register; every other bucket is in its node's line.
	struct key_buckets client_buckets, register_buckets;
	const struct time_source *time;
	_Atomic bool stopping;
	_Atomic bool follows; // the workers have not been told to lead
	struct leader_place leader;
	_Atomic bool refuses;      // requests: the applier takes no more of them
	_Atomic uint32_t releases; // of holds, by operators
	uint32_t count;
	struct packet_worker *items;
	const struct hot_counters **counters; // of each worker
};
