// The packet path of one worker: its port, the nodes' lines, and the upcalls for the rare cases.
#pragma once
#include "dataplane/hot/bucket.h"
#include "dataplane/hot/counters.h"
#include "dataplane/hot/hold.h"
#include "dataplane/hot/packet.h"
#include "dataplane/wire/auth.h"
#include "state/tables/node_table.h"
#include <stdbool.h>
#include <stdint.h>

#define HOT_ADDRESSES_MAX 4u

// Our addresses on one port.
struct hot_port {
	uint8_t mac[6];
	uint8_t ipv4_count, ipv6_count;
	uint8_t ipv4[HOT_ADDRESSES_MAX][4];
	uint8_t ipv6[HOT_ADDRESSES_MAX][16];
	uint16_t udp_port;    // host order
	uint16_t vlan_id;     // 0: untagged or any; else only this one
	bool trust_checksum;  // the port verifies receive checksums (never on a virtual device)
	bool promiscuous_mac; // accept any destination MAC (pcap replay, ring)
	bool local_senders; // may be on this machine: the kernel lets nobody else have its addresses
};

// A verified frame that up.request is handed, and where it lies in its packet.
struct hot_frame {
	struct packet *packet;
	uint32_t offset; // of the frame in packet->data
	struct wire_header header;
	struct wire_key key; // verified the frame, signs the reply
};

// Whether the layer above has a key for a sender.
enum hot_key { HOT_KEY_NONE, HOT_KEY_FOUND, HOT_KEY_REVOKED };

// Calls of the packet path to the layer above, for the rare cases. On the worker's thread.
struct hot_upcalls {
	void *context;
	// Key of a node (by slot and generation) or of a client. May derive; must not block.
	enum hot_key (*node_key)(void *context, uint32_t slot, uint32_t generation, uint8_t key_id,
		struct wire_key *);
	enum hot_key (*uuid_key)(
		void *context, const struct uuid *, uint8_t key_id, struct wire_key *);
	enum hot_key (*client_key)(
		void *context, struct text name, uint8_t key_id, struct wire_key *);
	// A verified frame other than a heartbeat (a GOODBYE also passed the generation and replay checks).
	// Counts it as one of requests, bad-body, requests-full and request-rate. Returns PACKET_REPLY when it turned
	// the packet into an answer; the packet path counts that.
	enum packet_verdict (*request)(void *context, struct hot_frame *);
	// Reports a heartbeat of a node that is new, or that this worker had reported down. False: the ring is full;
	// the next sweep tries again.
	bool (*returned)(void *context, uint32_t slot, uint32_t generation);
	// Reports a silent node. False: the ring is full; the next sweep tries again.
	bool (*expired)(void *context, uint32_t slot, uint32_t generation);
	// Keeps where a node's frames come from, so that it can be told of news: called when that may have changed.
	// May be NULL.
	void (*moved)(void *context, uint32_t slot, const struct packet *, uint32_t offset);
	// A heartbeat of the node with that key was refused because it came too soon. May be NULL.
	void (*beat_refused)(void *context, uint32_t slot, const struct wire_key *);
};

struct hot_worker {
	uint16_t number;
	struct hot_port port;
	// Of a follower: its port with the addresses at which the leader answers; port has the others. Else NULL.
	const struct hot_port *silent;
	bool is_unsure; // somebody else may lead by now, and have the addresses
	struct node_table *table;
	struct hot_upcalls up;
	struct hot_counters *counters;
	// Every worker's counters by number, or NULL when there is only this one. A node's last-heard time is
	// always on its owner's clock, also when its packets reach another worker.
	const struct hot_counters *const *peers;
	uint32_t peer_count;
	uint32_t ttl_ms;
	uint64_t
		line_end; // of what an acknowledgement ends with: the table's line_port, at its place
	uint32_t now_ms;  // liveness clock (liveness.h), advanced by the loop before each burst
	uint64_t turn_ns; // monotonic, when the turn of the loop began
	// A heartbeat that follows the one before it sooner than this takes from its node's bucket; 0: none does.
	uint32_t early_ms;
	struct bucket_rule node_rule;
	uint32_t pings_left; // to be answered; the loop sets it anew every second
	struct expiry_hold hold;
	int32_t round_nodes, round_silent; // what the sweep has counted of the round under way
};
