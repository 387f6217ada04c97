// A worker with a node table, nodes with real keys, and a record of what it told the layer above.
#pragma once
#include "dataplane/hot/liveness.h"
#include "dataplane/hot/receive.h"
#include "dataplane/hot/reply.h"
#include "tests/dataplane/hot/packets.h"

#define FLEET_NODES 24u
#define FLEET_SLOTS (2 * NODE_BLOCK_SLOTS)
#define FLEET_TERM 7u
#define FLEET_TERM_INDEX 1000u
#define FLEET_TTL_MS 15000u
#define FLEET_REPORTS_MAX 512u

enum report_kind { REPORT_RETURNED, REPORT_EXPIRED, REPORT_REQUEST };

struct report {
	enum report_kind kind;
	uint32_t slot, generation;
	struct wire_header header; // of a request
	uint32_t offset;
};

struct fleet {
	struct hot_worker worker;
	struct hot_counters counters;
	struct node_table *table;
	struct master_keys masters;
	struct report reports[FLEET_REPORTS_MAX];
	uint32_t report_count;
	uint32_t reports_left; // then the ring is full
	uint32_t keys_derived;
	bool all_are_revoked;
	bool requests_answered; // a request is turned around as it is
};

// Slots 0 … FLEET_NODES - 1 are nodes of generation slot + 1, armed now, in a block of worker 0.
struct fleet *fleet_create(void);
void fleet_destroy(struct fleet *);

struct uuid fleet_uuid(uint32_t slot);
struct wire_key fleet_key(const struct fleet *, uint32_t slot, uint8_t key_id);
// A signed heartbeat of the node in that slot, of this term and its generation.
struct wire_header fleet_header(uint32_t slot, uint64_t sequence);
uint32_t fleet_heartbeat(const struct fleet *, uint32_t slot, uint64_t sequence, uint8_t *frame);

// One packet through the packet path. The packet's data is the caller's, PACKET_BYTES_MAX long.
struct packet fleet_receive(struct fleet *, uint8_t *data, uint32_t size);
// received = Σ refused + heartbeats + requests + neighbours.
bool fleet_balances(const struct fleet *);
uint64_t fleet_refused(const struct fleet *, enum hot_refusal);
// Of all reasons.
uint64_t fleet_refused_all(const struct fleet *);
