// Workers over memory wires on a manual clock, with a real state and command queue, and peers that
// speak the wire protocol to them. The applier's part is played by the test, command by command, or
// by the real applier (world_create_with()).
#pragma once
#include "dataplane/packet_workers.h"
#include "dataplane/port/packet_io_memory.h"
#include "tests/dataplane/hot/packets.h"
#include "tests/support/core/core.h"
#include "tests/support/memory_log.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define WORLD_WORKERS_MAX 2u
#define WORLD_TTL_MS 10000u
#define WORLD_GRACE_MS 5000u
#define WORLD_STALL_MS 200u
#define WORLD_LINE_PORT 4647u
#define WORLD_HOLD_S 60u
#define WORLD_TERM 7u
#define WORLD_WALL_MS 1700000000000ull

struct world {
	struct manual_time clock;
	struct time_source time;
	struct master_keys keys;
	struct core core; // without an applier unless it has a log
	struct packet_workers *team;
	struct memory_wire *wires[WORLD_WORKERS_MAX];
	struct port_signs signs; // of every worker's port
};

// Silence holds nothing until a test sets a mass_percent below 100 in team->settings.
struct world *world_create(uint32_t workers);
// With the real applier, which goes on with what the log has. The clock starts start_ms after the first world's.
// The log outlives the world.
struct world *world_create_with(uint32_t workers, struct memory_log *, uint64_t start_ms);
// The same; probes: of nodes count.
struct world *world_create_probed(
	uint32_t workers, struct memory_log *, uint64_t start_ms, bool probes);
// With workers that follow, for which those addresses of their port stay, and the real applier, which has replayed what
// the log has and is not open. world_turn() alone may be used until it leads.
struct world *world_create_following(
	uint32_t workers, struct memory_log *, uint64_t start_ms, const struct hot_port *own);
void world_lead(struct world *);
void world_destroy(struct world *);
// One turn of each worker, then time_ms passes.
void world_turn(struct world *, uint32_t time_ms);
// Turns of 10 ms.
void world_pass(struct world *, uint32_t time_ms);
// Turns, and steps of the applier, until nothing is left to do.
void world_settle(struct world *);

// Where frames come from: an address, a key, and the wire they arrive on.
struct peer {
	struct route route;
	uint8_t key_id;
	struct wire_key key;
	uint32_t wire;
	uint32_t request_bytes; // of the newest frame sent
};
struct peer node_peer(const struct world *, const struct uuid *, uint32_t wire);
struct peer client_peer(const struct world *, const char *name, uint32_t wire);
// Signs the frame in place and sends it.
void peer_send(struct world *, struct peer *, uint8_t *frame, uint32_t bytes);
// The next packet on the peer's wire, which must be a well-formed, signed answer of that type to
// the peer, no longer than its request; notices before it are passed over. frame holds FRAME_BYTES_MAX.
struct wire_header peer_receive(struct world *, const struct peer *, uint8_t type, uint8_t *frame);
// The next packet on the peer's wire is a notice to it, no longer than its newest frame.
struct wire_notify peer_notified(struct world *, const struct peer *);
// Nothing but notices was sent on the peer's wire.
void peer_hears_nothing(struct world *, const struct peer *);

struct uuid world_uuid(uint32_t number);
// Of a frame of a registered node: slot and generation as its registration was answered.
struct wire_header node_header(
	const struct peer *, const struct wire_header *registered, uint64_t sequence);
void send_register(struct world *, struct peer *, const struct uuid *, uint64_t sequence);
// As a worker of that name, too.
void send_register_worker(
	struct world *, struct peer *, const struct uuid *, const char *name, uint64_t sequence);
void send_heartbeat(
	struct world *, struct peer *, uint32_t slot, uint32_t generation, uint64_t sequence);
void send_goodbye(
	struct world *, struct peer *, uint32_t slot, uint32_t generation, uint64_t sequence);
void send_place(struct world *, struct peer *, const char *client, uint64_t request, uint8_t count,
	const char *job, const char *group);

// With the real applier: the command is carried out.
void world_run(struct world *, struct command *);
// With the real applier: the first heartbeat of a node that registered. It uses no sequence.
void world_heard(struct world *, const struct wire_header *registered);
// With the real applier: the node with that number registers as the peer and is heard; the answer.
struct wire_header world_register(
	struct world *, struct peer *, uint32_t number, uint64_t sequence);
// The same, of a peer on that wire, which is returned.
struct peer world_join(struct world *, uint32_t number, uint32_t wire, uint64_t sequence,
	struct wire_header *registered);

// With the real applier: a heartbeat of a registered node, and its answer.
struct wire_heartbeat_ack world_beat(
	struct world *, struct peer *, const struct wire_header *registered, uint64_t sequence);

// The applier's part.
struct command *world_command(
	struct world *, enum command_type); // the next one, which must be of that type
void world_no_command(struct world *);
void world_finish(struct command *, enum command_outcome);
// Makes a slot usable, as the applier does for a new node.
void world_slot(struct world *, uint32_t slot, uint16_t owner);
// A registered node: register, finish, answer. Returns its peer.
struct peer world_node(
	struct world *, uint32_t slot, uint32_t generation, uint16_t owner, uint32_t wire);

uint64_t world_refused(const struct world *, uint32_t worker, enum hot_refusal);
// received = Σ refused + heartbeats + requests + neighbours, on every worker.
void world_balances(const struct world *);
// No request or report is on its way.
void world_is_quiet(const struct world *);

// A direct job of one group "g" whose instances take that much. Caller frees.
struct job *direct_job(const char *id, uint32_t cpu_mhz, uint32_t memory_mb);
