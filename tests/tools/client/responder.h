// A controller in miniature for tests of the agent, the fleet and the client: a thread with a UDP socket
// on the loopback that speaks the real wire code, keeps nodes and allocations in arrays, and misbehaves
// when told. It decides nothing; berthd itself is tested in tests/integration.
#pragma once
#include "dataplane/wire/auth.h"
#include "dataplane/wire/wire.h"
#include "dataplane/wire/wire_alloc.h"
#include "dataplane/wire/wire_vm.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

#define RESPONDER_NODES_MAX 4096u
#define RESPONDER_PLACES_MAX 4096u
#define RESPONDER_ALLOCS_MAX 64u

// What is wrong with an answer that is sealed wrongly.
enum seal_fault {
	SEAL_FAULT_KEY = 1, // sealed under another key
	SEAL_FAULT_BIT,     // changed afterwards
	SEAL_FAULT_REPLAY,  // the newest sealed answer again
	SEAL_FAULT_PIECE,   // the newest sealed data in the place of these
};

// How to misbehave. Counts go down to 0; all may be set while it runs.
struct responder_rules {
	_Atomic uint32_t drop;        // requests that are not looked at
	_Atomic uint32_t refuse;      // requests answered with REFUSED
	_Atomic uint32_t reason;      // enum wire_refusal of refuse
	_Atomic bool follows;         // every request is answered REFUSED not-leader
	_Atomic uint32_t leader_port; // that such a refusal says, on the loopback; 0: none
	_Atomic uint32_t forge;       // answers with a wrong tag
	_Atomic uint32_t stray;       // answers with another sequence
	_Atomic uint32_t cut;         // answers without what they say
	_Atomic uint32_t place_limit; // allocations after which PLACE finds no node
	_Atomic uint32_t ttl_ms;
	_Atomic uint64_t term;
	_Atomic uint32_t directives; // of every heartbeat answer
	_Atomic uint64_t list_term;  // of answers about what a node runs; 0: the term
	_Atomic bool is_old;         // knows nothing of sealed answers
	_Atomic uint32_t mis_seal;   // sealed answers with a fault, after a first one without
	_Atomic uint32_t seal_fault; // enum seal_fault
};

struct responder_node {
	struct uuid id;
	uint32_t generation;
	_Atomic uint64_t registration; // sequence of the newest one
	uint32_t parts_seen;           // bits of the newest registration
	uint32_t pairs;                // of all parts of the newest registration
	uint64_t sequence, window;
	_Atomic uint64_t beats;
	bool gone;                    // said goodbye
	struct sockaddr_storage from; // its newest heartbeat; under the responder's lock
	socklen_t from_size;
	uint8_t key_id;
};

// An allocation of the first node, or a machine of it. Under the responder's lock.
struct responder_alloc {
	struct uuid id;
	uint64_t modify_index;
	uint64_t job_index; // as given
	char spec[4000];
	bool is_machine;
	uint8_t power; // enum wire_vm_power
	uint8_t desired, client;
	uint8_t healthy;      // enum wire_healthy, as told
	uint8_t update_flags; // enum wire_update_flag, as told
	uint16_t flags;       // enum wire_alloc_flag
	char description[64];
	uint32_t reports;
	uint8_t task_state;
	bool task_failed;
	uint32_t restarts;
	int32_t exit_code; // of the newest event that has one
};

struct responder_counters {
	_Atomic uint64_t heartbeats, resyncs, registrations, goodbyes, placed, released, statuses;
	_Atomic uint64_t bad_tag, replay, malformed;
	_Atomic uint64_t ready, unready; // answers of the node's probe
	_Atomic uint64_t allocs, specs, updates, updates_before_beat, vms;
	_Atomic uint64_t not_leader;
};

struct responder {
	struct responder_rules rules;
	struct responder_counters counters;
	struct master_keys masters;
	char address[32]; // "127.0.0.1:port"
	_Atomic uint32_t node_count;
	pthread_mutex_t lock; // of the allocations
	uint32_t alloc_count;
	struct responder_alloc allocs[RESPONDER_ALLOCS_MAX];
	struct responder_node nodes[RESPONDER_NODES_MAX];
	// the rest: its thread only
	uint32_t place_count;
	struct {
		uint64_t issued_ms, request;
		struct wire_placed placed;
	} places[RESPONDER_PLACES_MAX];
	_Atomic uint64_t index;
	uint64_t update_sequence;
	uint8_t sealed[FRAME_BYTES_MAX]; // the newest answer that was sealed as it shall be
	uint32_t sealed_bytes;
	int fd;
	uint16_t port;
	_Atomic bool stop;
	bool is_dead;
	pthread_t thread;
};

// master key 1 is the bytes 0, 1, … 31. Starts the thread. Caller stops.
struct responder *responder_start(void);
void responder_stop(struct responder *);
// Closes the socket and forgets all nodes, then listens on the same port again: a controller that lost its state.
void responder_forget(struct responder *);

// Knows from now on what the other one knows of nodes, as one that takes over from it in its next term. Both listen.
void responder_take_over(struct responder *, struct responder *from);
// Nobody listens on its port from now on; the rest stays.
void responder_die(struct responder *);

// Tells every node that has beaten of the newest index, unasked.
void responder_notify(struct responder *);

// An allocation with that number as its id, of one task "t" of a job of that type; task holds further members
// of the task's JSON ("\"Driver\":\"raw_exec\",…").
void responder_add_alloc(
	struct responder *, uint8_t number, const char *job_type, const char *task);
// The same, with further members of the description ("\"DeploymentID\":\"d1\","); again: it takes the place of the
// former description.
void responder_describe_alloc(struct responder *, uint8_t number, const char *job_type,
	const char *further, const char *task);
void responder_flag_alloc(struct responder *, uint8_t number, uint64_t job_index, uint16_t flags);
void responder_stop_alloc(struct responder *, uint8_t number);
void responder_lose_alloc(struct responder *, uint8_t number); // its status is unknown now
void responder_drop_alloc(struct responder *, uint8_t number); // it is forgotten
struct responder_alloc responder_alloc(struct responder *, uint8_t number); // a copy
// A machine with that number as its instance, running; dropped as allocations are.
void responder_add_machine(struct responder *, uint8_t number, const char *image);
void responder_power_machine(struct responder *, uint8_t number, enum wire_vm_power);
