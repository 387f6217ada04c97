// Start, stop and counters of the packet path: all that berthd sees of DPDK.
#pragma once
#include "dataplane/expiry.h"
#include "dataplane/port/port_settings.h"
#include "dataplane/requests/noisy.h"
#include "dataplane/requests/spec_render.h"
#include "dataplane/topology.h"
#include "dataplane/wire/auth.h"
#include "state/applier/applier.h"
#include "state/applier/command_queue.h"
#include "state/base/time_source.h"
#include "state/tables/state.h"

enum poll_mode { POLL_ADAPTIVE, POLL_SPIN };

struct dataplane_settings {
	struct port_settings ports[PORTS_MAX];
	uint32_t port_count;
	uint16_t udp_port;
	enum poll_mode poll;
	uint32_t ttl_ms;                    // granted to nodes
	uint32_t restart_grace_ms;          // added to ttl_ms after a start
	uint32_t stall_ms;                  // a loop gap that counts as our own fault
	uint32_t node_rate, node_burst;     // requests that one node's key may make; 0: no limit
	uint32_t client_rate, client_burst; // the same of a client's
	uint32_t mass_percent; // of the nodes, when silent at once: expiry is held; 100: never
	uint32_t mass_hold_s;  // longest hold, then nodes expire at a bounded rate
	// Longest nap of an idle adaptive worker whose port does not tell when packets come, at most 900; four times
	// that after a tenth of a second of nothing.
	uint32_t idle_sleep_us;
	uint16_t line_port;  // TCP port that nodes are told to dial when they are called; 0: none
	bool sealed_only;    // nodes that do not ask for sealed descriptions get none
	char huge[16];       // "auto", "yes", "no"
	uint32_t memory_mb;  // EAL memory without huge pages; 0: computed from the pools
	char eal_extra[256]; // further EAL arguments, for experts
	alloc_spec_render *alloc_spec;
	vm_spec_render *vm_spec;
	void *alloc_spec_context; // for both
	// Tells that the expiry of nodes is held, or goes on. On a thread of its own; NULL: nobody asks.
	void (*expiry_changed)(void *context, bool is_held);
	void *expiry_context;
	// A follower answers for own_address alone: who sends there hears where the leader is. For the ports' other
	// addresses it is silent until dataplane_lead(). own_address is an IPv4 or IPv6 address without a port
	// number; if no port has it, the first has it beside its own. "": none.
	bool starts_as_follower;
	char own_address[64];
	// Of who started so and leads: whether it is sure that nobody else leads. Where it is not, it tells nobody new
	// where the service addresses are. On the workers' threads, often; NULL: it is.
	bool (*leads_surely)(void *context);
	void *lead_context;
};

struct dataplane;

// Fills the planner's ask from the settings, with the NUMA node of each device.
void dataplane_topology_ask(const struct dataplane_settings *, struct topology_ask *);
// Whether a port is one of DPDK's.
bool dataplane_needs_eal(const struct dataplane_settings *);
// Checks before EAL starts what would go wrong: huge pages, permissions, missing devices or interfaces, drivers,
// address families. Adds problems to the plan.
void dataplane_preflight(const struct dataplane_settings *, struct topology_plan *);

// Whether DPDK takes its further arguments (eal_extra): asks it in a child process, without any device. Returns 0 or a
// negative error with the first line of what it says.
int dataplane_try_arguments(
	const struct dataplane_settings *, char *message, uint32_t message_size);

// Sets up EAL, ports, queues and mempools. Once per process. message says what failed, where and what to do.
int dataplane_create(const struct dataplane_settings *, const struct topology_plan *,
	struct dataplane **, char *message, uint32_t message_size);
// Fills the line of every known node, arms those that are ready or initializing with the grace, and launches the
// workers. The keys are copied. A follower fills and arms nothing, reports no node and submits no command;
// its state may change meanwhile as in recovery.
int dataplane_start(struct dataplane *, struct state *, struct command_queue *,
	const struct master_keys *, const struct time_source *);
// Master keys from now on, instead of those of the start. Nodes and clients whose key follows from one that is in both
// notice nothing. One thread at a time, and not one that may take a read lock. -ETIMEDOUT: they count, but a worker
// does not turn, and keys that follow from the ones before are still known; -EBUSY: so it still is, and nothing was
// changed.
int dataplane_change_keys(struct dataplane *, const struct master_keys *);
// Where the leader is, as "192.0.2.1:4647" or "[2001:db8::1]:4647", for followers to say; "": not known. Any thread.
void dataplane_set_leader_address(struct dataplane *, const char *ip_and_port);
// A follower leads from now on, in the term that the state's node table has by now: does what dataplane_start() does
// otherwise, from the state as it is, then answers for all addresses, and announces those that were silent. Once; there
// is no way back. On any thread that may take a read lock, after the applier is open. Returns 0 or a negative error.
int dataplane_lead(struct dataplane *);
// From now on every request that needs the applier is refused as stopping. Before the applier stops.
void dataplane_refuse(struct dataplane *);
// Stops the workers (they finish their burst), then the ports.
void dataplane_stop(struct dataplane *);
// After the applier: its commands are in the workers' memory.
void dataplane_destroy(struct dataplane *);

uint32_t dataplane_workers(const struct dataplane *);
const struct hot_counters *dataplane_counters(const struct dataplane *, uint32_t worker);
struct dataplane_port_counters {
	char name[64], driver[32];
	uint64_t received, received_bytes, sent, sent_bytes, missed, errors, no_mbuf;
};
uint32_t dataplane_ports(const struct dataplane *);
void dataplane_port_counters(
	const struct dataplane *, uint32_t port, struct dataplane_port_counters *);
struct dataplane_port_signs {
	bool link_down, program_lost;
};
struct dataplane_port_signs dataplane_port_signs(const struct dataplane *, uint32_t port);
// The senders that were refused most often for asking too much, the most often refused first. Returns how many. Any
// thread.
uint32_t dataplane_noisiest(const struct dataplane *, struct noisy_sender *, uint32_t max);
struct expiry_status dataplane_expiry(const struct dataplane *);
// Lets the nodes expire whose expiry is held. False when none is. Any thread.
bool dataplane_expiry_release(struct dataplane *);
// Why expiry is held, and on what port or of how many nodes, as a sentence; "" when it is not.
void dataplane_expiry_text(const struct dataplane *, char *text, uint32_t text_size);
// True while every worker has gone round its loop within the last two seconds: for the watchdog.
bool dataplane_alive(const struct dataplane *, const struct time_source *);
