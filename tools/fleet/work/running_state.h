// The state of the simulated nodes' allocations and machines, and of their nodes' frames under way.
#pragma once
#include "dataplane/wire/wire_alloc.h"
#include "tools/agent/vm_sync.h"
#include "tools/fleet/nodes/wheel.h"
#include "tools/fleet/work/behaviour.h"

struct fleet;

// How allocations run where their job does not say.
struct running_settings {
	bool leaves_allocs;   // asks for none and runs none: only answers for probes
	double run_for_s;     // 0: until it is stopped
	double fail_share;    // of allocations that end by themselves
	double start_delay_s; // drawn, at most this
	struct flag_list bad; // versions of jobs, "JOB:VERSION", that fail to start
	uint32_t workers;     // the first nodes, this many, run machines
};

enum running_phase {
	RUNNING_WAITING, // until its behaviour is known
	RUNNING_STARTING,
	RUNNING_UP,
	RUNNING_RESTARTING,
	RUNNING_STOPPING,
	RUNNING_ENDED,
};

#define RUNNING_NEWS 1u     // has something to report
#define RUNNING_TOLD 2u     // is in the report under way
#define RUNNING_LISTED 4u   // is in the list that is being read
#define RUNNING_DEPLOYED 8u // belongs to a deployment
#define RUNNING_MACHINE 16u // kept until its worker's list no longer has it
#define RUNNING_NONE 0xffffffffu

struct running_alloc {
	struct uuid id;
	uint64_t version;     // of a machine: of the order about it
	uint32_t node, next;  // next of the node's; RUNNING_NONE: last
	uint32_t behaviour;   // number
	uint32_t act_ms;      // end of its phase; BEHAVIOUR_NEVER: not by itself
	uint32_t deadline_ms; // for its health; BEHAVIOUR_NEVER: nobody waits
	uint32_t started_ms, ended_ms, interval_ms; // interval: of its restarts
	uint8_t phase, status, flags;               // status: enum wire_alloc_client
	uint8_t health;                             // enum wire_healthy
	uint8_t attempts, restarts;                 // attempts: in this interval
	uint8_t end_flags;                          // enum wire_update_flag
	bool failed;
};

// A node's frames under way, beside its session. asked is RUNNING_NONE for the description of a machine.
struct running_node {
	uint64_t known_index;
	uint64_t sequence;
	uint32_t first; // its first allocation
	uint32_t due_ms;
	uint32_t heard_ms; // when the controller answered its heartbeat
	uint32_t asked;    // behaviour whose description it asks for
	uint8_t awaiting;  // enum wire_type, 0: nothing
	uint8_t flags;     // enum running_node_flag
	uint8_t tries;
	bool told_ready;   // in the readiness under way
	uint32_t probe_ms; // when it may report its probe again
};

// Additional state of a node that is a worker.
struct running_vm_worker {
	struct vm_sync list;
	struct uuid asked; // machine whose description is under way; zero: none
	uint64_t version;  // of that description
	uint32_t again_ms; // asks again from then on
	struct bytes_writer json;
};
enum running_node_flag {
	RUNNING_WANTS_ALL = 1,
	RUNNING_LISTS_ALL = 2,
	RUNNING_HEARD = 4,
	RUNNING_QUEUED = 8,
	RUNNING_PROBED = 16,     // the node must report its probe
	RUNNING_WAS_UNREADY = 32 // a report said so
};

struct running_counters {
	uint64_t questions, reports, descriptions, resent, refused;
	uint64_t started, completed, failed, stopped, forgotten, restarted;
	uint64_t healthy, unhealthy; // verdicts
	uint64_t ready, unready;     // answers of probes
	uint64_t flaky;              // failures that were their node's fault
};

struct running {
	struct fleet *fleet;
	struct running_settings settings;
	struct behaviours behaviours;
	struct running_node *nodes;
	struct running_vm_worker *workers; // the first of the nodes
	uint32_t next_worker;              // to check next
	uint32_t unread_machine;           // behaviour of machines with an unread description
	struct running_alloc *allocs;
	uint32_t alloc_count, alloc_capacity, free_alloc; // next links free ones
	struct wheel alloc_wheel, node_wheel;
	uint32_t *queue; // ring of nodes with something to send
	uint32_t queue_mask, queue_head, queue_tail;
	uint32_t up; // now
	struct running_counters counters;
};

// Queues a node that has something to send.
void running_enqueue(struct running *, uint32_t node);
// The header of the node's next frame.
struct wire_header running_header(const struct running *, uint32_t node);
// The same of a question, whose answer says of which term its controller is.
struct wire_header running_question_header(const struct running *, uint32_t node);
// A question for the next piece of a description, which is to be sealed. Returns its length.
uint32_t running_encode_spec(const struct running *, uint32_t node, const struct uuid *,
	const struct bytes_writer *so_far, uint8_t *frame);
// Opens a piece that is sealed, into plain. False: it is none of the allocation's that was asked of.
bool running_open_piece(const struct running *, uint32_t node, const struct uuid *,
	const uint8_t *data, struct wire_alloc_spec_reply *,
	uint8_t plain[static WIRE_SPEC_BYTES_MAX]);
const struct behaviour *running_behaviour(const struct running *, const struct running_alloc *);
// RUNNING_NONE: the node has no allocation of that id.
uint32_t running_find(const struct running *, uint32_t node, const struct uuid *);
// Frees an allocation whose end was acknowledged, or that is forgotten.
void running_let_go(struct running *, uint32_t *link);
uint32_t running_drawn_ms(struct running *, double most_s);
