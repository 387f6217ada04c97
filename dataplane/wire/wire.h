// Berth's wire protocol, version 1. One UDP payload is one frame:
//
//	 0 u16 magic    0x4242 ("BB")
//	 2 u8  version  1
//	 3 u8  type     enum wire_type
//	 4 u16 length   of the whole frame, tag included; equals the UDP payload
//	 6 u8  key_id   which master key the sender's key was derived from (0 is never used)
//	 7 u8  flags    enum wire_flag; receivers ignore all others
//	 8 u32 slot     the node's slot; WIRE_NO_SLOT in REGISTER and in a client's messages
//	12 u32 generation  of the slot; 0 where there is no slot
//	16 u64 sequence
//	24 body, by type
//	length-16 tag[16]  SipHash-2-4-128 over bytes 0 … length-17 under the sender's key
//
// All integers are little-endian. A reply carries its request's sequence and is tagged with the same key.
// docs/wire.md is the public form of this page. Used by the dataplane, the agent, the fleet simulator
// and the client library; no DPDK, no allocation.
#pragma once
#include "state/base/bytes.h"
#include "state/base/limits.h"
#include "state/base/text.h"
#include "state/base/uuid.h"
#include <stdbool.h>
#include <stdint.h>

#define WIRE_MAGIC 0x4242u
#define WIRE_VERSION 1u
#define WIRE_PORT 4647u
#define WIRE_HEADER_BYTES 24u
#define WIRE_TAG_BYTES 16u
#define WIRE_FRAME_BYTES_MIN (WIRE_HEADER_BYTES + WIRE_TAG_BYTES)
#define WIRE_NO_SLOT 0xffffffffu

// What the controller sends is odd. REFUSED answers any request, NOTIFY answers none.
enum wire_type {
	WIRE_HEARTBEAT = 2,
	WIRE_HEARTBEAT_ACK = 3,
	WIRE_REGISTER = 4,
	WIRE_REGISTERED = 5,
	WIRE_GOODBYE = 6,
	WIRE_GOODBYE_ACK = 7,
	WIRE_PLACE = 8,
	WIRE_PLACED = 9,
	WIRE_RELEASE = 10,
	WIRE_RELEASED = 11,
	WIRE_STATUS = 12,
	WIRE_STATUS_REPLY = 13,
	WIRE_REFUSED = 15,
	WIRE_ALLOC_UPDATE = 16,
	WIRE_ALLOC_UPDATED = 17,
	WIRE_ALLOCS = 18,
	WIRE_ALLOCS_REPLY = 19,
	WIRE_ALLOC_SPEC = 20,
	WIRE_ALLOC_SPEC_REPLY = 21,
	WIRE_READINESS = 22,
	WIRE_READINESS_TAKEN = 23,
	WIRE_VMS = 24,
	WIRE_VMS_REPLY = 25,
	WIRE_NOTIFY = 27,
	WIRE_TYPES,
};

enum wire_flag {
	// In a node's question about what it runs (ALLOCS, ALLOC_SPEC, VMS): its answer shall end with the controller's
	// term, u64, for which it leaves 8 bytes of room. In the answer: it does. A node takes no list of another term.
	WIRE_FLAG_TERM = 1,
	// In ALLOC_SPEC: the data of its answer shall be sealed (dataplane/wire/seal.h), for which it leaves
	// WIRE_SEAL_BYTES of room. The answer says itself whether they are, since older receivers repeat the flag.
	WIRE_FLAG_SEALED = 2,
};
#define WIRE_TERM_BYTES 8u
#define WIRE_SEAL_NONCE_BYTES 24u
#define WIRE_SEAL_MAC_BYTES 16u
#define WIRE_SEAL_BYTES (WIRE_SEAL_NONCE_BYTES + WIRE_SEAL_MAC_BYTES)

struct wire_header {
	uint16_t length;
	uint8_t type;
	uint8_t key_id;
	uint8_t flags;
	uint32_t slot;
	uint32_t generation;
	uint64_t sequence;
};

enum wire_error {
	WIRE_OK,
	WIRE_SHORT, // less than a header and a tag
	WIRE_BAD_MAGIC,
	WIRE_BAD_VERSION,
	WIRE_BAD_LENGTH, // length field is not the payload's
	WIRE_BAD_TYPE,   // unknown, or a reply where a request is expected
};

// Checks magic, version and length against the payload size; fills the header.
enum wire_error wire_header_decode(const uint8_t *frame, uint32_t size, struct wire_header *);
void wire_header_encode(uint8_t *frame, const struct wire_header *);

// HEARTBEAT, 64 bytes
//	24 u64 term         the controller's term as last seen by the node (0: none)
//	32 u64 alloc_index  newest allocation index the node has acted on
//	40 u32 load_permille  of the node's cores, for display
//	44 u32 reserved     0
// HEARTBEAT_ACK, 64 bytes
//	24 u64 term         the controller's term
//	32 u64 alloc_index  newest allocation index that concerns the node
//	40 u32 ttl_ms       silence longer than this makes the node down
//	44 u16 directives   enum wire_directive
//	46 u16 line_port    TCP port where the controller takes the connections that nodes dial; 0: none
//
// Freshness: the controller counts a heartbeat as a sign of life only when its term is the controller's
// own, because the replay window does not survive a restart. A heartbeat of an older term is answered
// (so that the node learns the term) with WIRE_DIRECTIVE_RESYNC and changes nothing else; the node
// answers at once with a heartbeat of the new term.
#define WIRE_HEARTBEAT_BYTES 64u

enum wire_directive {
	WIRE_DIRECTIVE_RESYNC = 1,   // beat again at once with this term
	WIRE_DIRECTIVE_REGISTER = 2, // register again (description wanted)
	WIRE_DIRECTIVE_DRAIN = 4,    // the node is draining
	WIRE_DIRECTIVE_PROBE = 8,    // say whether the node is ready (READINESS)
	WIRE_DIRECTIVE_CALL = 16,    // dial: the controller wants a connection to line_port
};

struct wire_heartbeat {
	uint64_t term;
	uint64_t alloc_index;
	uint32_t load_permille;
};

struct wire_heartbeat_ack {
	uint64_t term;
	uint64_t alloc_index;
	uint32_t ttl_ms;
	uint16_t directives, line_port;
};

// REGISTER
// header.sequence is the registration's time in unix milliseconds, strictly increasing for a node: it is
// stored with the node, and an older one is refused as stale (an equal one is a retransmission).
//	24 uuid  node
//	40 u8    part       0 …
//	41 u8    parts      1 … 8; all parts of one registration share the sequence
//	42 u16   reserved   0
// part 0 goes on with
//	44 u32   cpu_mhz, u32 memory_mb, u32 disk_mb     capacity
//	   u32   reserved_cpu_mhz, u32 reserved_memory_mb, u32 reserved_disk_mb
//	   text8 name, text8 datacenter, text8 class, text8 pool, text8 address (host:port for people), text8 version
//	   u8    device groups; each: text8 vendor, text8 type, text8 name, u8 instances
// every part ends with
//	   u16   pairs; each: u8 enum wire_pair_kind, text8 name, text16 value
//	   zeros up to at least WIRE_REGISTER_BYTES_MIN - 16
// REGISTERED, 64 bytes: header.slot and header.generation are the node's from now on
//	24 u64 term, 32 u64 alloc_index, 40 u32 ttl_ms, 44 u16 directives, 46 u16 line_port
#define WIRE_REGISTER_BYTES_MIN 96u

enum wire_pair_kind {
	WIRE_PAIR_ATTRIBUTE,
	WIRE_PAIR_META,
	WIRE_PAIR_DRIVER,
	WIRE_PAIR_VOLUME,
	WIRE_PAIR_NETWORK,
	WIRE_PAIR_ADDRESS,
	WIRE_PAIR_SETTING,
	WIRE_PAIR_DEVICE,
	WIRE_PAIR_KINDS,
};

struct wire_device_group {
	struct text vendor, type, name;
	uint8_t instances;
};

struct wire_pair {
	uint8_t kind;
	struct text name, value;
};

struct wire_register {
	struct uuid node;
	uint8_t part, parts;
	// part 0 only
	uint32_t cpu_mhz, memory_mb, disk_mb;
	uint32_t reserved_cpu_mhz, reserved_memory_mb, reserved_disk_mb;
	struct text name, datacenter, class_name, pool, address, version;
	uint8_t device_group_count;
	struct wire_device_group device_groups[NODE_DEVICE_GROUPS_MAX];
	// every part
	uint16_t pair_count;
	struct wire_pair pairs[NODE_ATTRIBUTES_MAX];
};

// GOODBYE and GOODBYE_ACK, 64 bytes: body zeros.

// READINESS, 64 bytes: what the node's probe says
// header.sequence grows with those of ALLOC_UPDATE; one that is not above the newest changes nothing.
//	24 u8  ready        0, 1
//	25 u8[3] reserved
//	28 u32 backoff_ms   of one that is not ready: its probe is asked again after so long; 0: never
//	32 zeros
// READINESS_TAKEN, 64 bytes, durable before it is sent
//	24 u64 index        of the state, at which it was taken; zeros
struct wire_readiness {
	bool ready;
	uint32_t backoff_ms;
};

// NOTIFY, 64 bytes, sent to a node that did not ask, and never answered: the newest index of its allocations has
// changed, or the controller wants a connection. header.sequence grows from one notice of a term to a node to the next.
// Shorter than nothing that a node sends, and not sent again: a heartbeat says it, too.
//	24 u64 term         the controller's term
//	32 u64 alloc_index  newest allocation index that concerns the node
//	40 u16 call_port    TCP port that the node is to dial; 0: none
//	42 zeros
struct wire_notify {
	uint64_t term;
	uint64_t alloc_index;
	uint16_t call_port;
};

// A client's messages; those about a node's allocations are in wire_alloc.h, those about a worker's virtual machines in
// wire_vm.h.
// header.sequence is a number that the client chose for matching replies. Every body starts with
//	24 text8 client     name; the key is derived from it
// PLACE
//	   u64   issued_ms     client's clock, unix ms. (client, issued_ms, request) names the request
//	   u64   request       for ever: asked again, it is answered again with the same allocations.
//	   u8    count         1 … 32
//	   text8 namespace (empty: default), text8 job, text8 group
//	   zeros up to at least wire_placed_bytes(count) - 16
// PLACED
//	24 u64   index         state index at which this was committed
//	32 u8    count         allocations that follow; at least 1
//	   u8    requested
//	   u16   reserved
//	   u32   nodes_feasible  nodes that could have taken the last one
//	   count times: uuid allocation, uuid node, f64 score      (40 bytes)
// RELEASE
//	   u8 count (1 … 32), count times uuid allocation; zeros up to the reply's size
// RELEASED
//	24 u64 index, u8 count, count times u8 result (enum wire_release_result)
// STATUS by id: u8 mode 0, u8 count (1 … 32), count times uuid
// STATUS of changes: u8 mode 1, u8 count (how many at most), u64 since (index; 0 from the start)
//	zeros up to the reply's size
// STATUS_REPLY
//	24 u64 index       newest index the answer reflects; mode 1: pass as since next time
//	   u8 count, u8 more (1: ask again), u16 reserved
//	   count times (32 bytes): uuid allocation, u64 modify_index, u8 desired, u8 client, u8 known, u8 reserved,
//	      u32 node slot
//	   desired and client are enum values of docs/wire.md; known 0: no such allocation of this client
// REFUSED (never longer than its request; cut after the last whole field that fits, but never before 40: a
// request shorter than WIRE_REFUSED_BYTES_MIN cannot be valid and gets no answer. filters counts what follows.)
//	24 u8  request_type, u8 reason (enum wire_refusal), u16 filters
//	28 u32 retry_after_ms   0: not by itself
//	32 u64 value            STALE_REGISTRATION: newest sequence known; STALE_TERM: term; else 0
//	40 u32 nodes_seen, u32 nodes_not_ready, u32 filtered_datacenter, u32 filtered_class, u32 filtered_device
//	60 u32 exhausted_cpu, u32 exhausted_memory, u32 exhausted_disk, u32 exhausted_device
//	76 filters times: u32 nodes filtered by the job's constraint of that position
// REFUSED with NOT_LEADER says where the leader is instead, when that is known and the request has the room:
//	26 u16 port of the leader; 0: not said, and zeros follow
//	28 u32 retry_after_ms
//	32 16 bytes: its IPv6 address, or its IPv4 address as ::ffff:a.b.c.d

#define WIRE_REFUSED_BYTES_MIN 56u
#define WIRE_NOT_LEADER_BYTES 64u // with the leader's place
// What our encoder pads a PLACE to: room for a refusal's numbers and the counts of nine constraints.
#define WIRE_PLACE_BYTES_USUAL 128u

// Lengths of the answers to a request of count items; a shorter request is malformed.
static inline uint32_t wire_placed_bytes(uint32_t count)
{
	return WIRE_FRAME_BYTES_MIN + 16 + 40 * count;
}
static inline uint32_t wire_released_bytes(uint32_t count)
{
	return WIRE_FRAME_BYTES_MIN + 9 + count;
}
static inline uint32_t wire_status_reply_bytes(uint32_t count)
{
	return WIRE_FRAME_BYTES_MIN + 12 + 32 * count;
}

struct wire_place {
	struct text client;
	uint64_t issued_ms;
	uint64_t request;
	uint8_t count;
	struct text namespace_name, job, group;
};

struct wire_placed_item {
	struct uuid allocation, node;
	double score;
};

struct wire_placed {
	uint64_t index;
	uint8_t count, requested;
	uint32_t nodes_feasible;
	struct wire_placed_item items[PLACE_COUNT_MAX];
};

enum wire_release_result { WIRE_RELEASE_DONE, WIRE_RELEASE_ALREADY, WIRE_RELEASE_UNKNOWN };

struct wire_ids { // RELEASE, STATUS by id
	struct text client;
	uint8_t count;
	struct uuid ids[PLACE_COUNT_MAX];
};

struct wire_released {
	uint64_t index;
	uint8_t count;
	uint8_t results[PLACE_COUNT_MAX];
};

enum wire_status_mode { WIRE_STATUS_BY_ID, WIRE_STATUS_CHANGES };

struct wire_status {
	struct text client;
	uint8_t mode; // enum wire_status_mode
	uint8_t count;
	uint64_t since;
	struct uuid ids[PLACE_COUNT_MAX];
};

struct wire_status_item {
	struct uuid allocation;
	uint64_t modify_index;
	uint8_t desired, client, known;
	uint32_t node_slot;
};

struct wire_status_reply {
	uint64_t index;
	uint8_t count, more;
	struct wire_status_item items[PLACE_COUNT_MAX];
};

enum wire_refusal {
	WIRE_REFUSED_STALE_GENERATION = 1, // register again
	WIRE_REFUSED_STALE_REGISTRATION,   // value: the newest registration sequence known
	WIRE_REFUSED_BAD_REQUEST,          // authenticated, but the body does not parse
	WIRE_REFUSED_UNKNOWN_JOB,
	WIRE_REFUSED_UNKNOWN_GROUP,
	WIRE_REFUSED_NOT_DIRECT, // the job's type is not "direct"
	WIRE_REFUSED_JOB_STOPPED,
	WIRE_REFUSED_NO_NODE,    // the numbers say why
	WIRE_REFUSED_TOO_OLD,    // issued_ms is out of the remembered window
	WIRE_REFUSED_OVERLOADED, // a queue is full; retry_after_ms
	WIRE_REFUSED_TABLE_FULL,
	WIRE_REFUSED_STORE_FULL,
	WIRE_REFUSED_STOPPING,
	WIRE_REFUSED_BAD_DESCRIPTION, // registration: over a limit, or a reserved name
	WIRE_REFUSED_NOT_ALLOWED,     // ALLOC_UPDATE of a node that is not ready: beat first
	WIRE_REFUSED_UNKNOWN_ALLOCATION,
	WIRE_REFUSED_CONFLICT, // registration: the worker of that name is of another node or machine (row D28)
	WIRE_REFUSED_NOT_ADMITTED,       // registration: value says which claim, docs/wire.md
	WIRE_REFUSED_CLIENT_NOT_ALLOWED, // PLACE: the job names other clients
	WIRE_REFUSED_NOT_SEALED,  // ALLOC_SPEC: answers go out sealed alone (wire.sealed_only)
	WIRE_REFUSED_QUOTA,       // the quota of the namespace has no room
	WIRE_REFUSED_QUARANTINED, // registration: another agent has this id and key, and came first
	WIRE_REFUSED_NOT_LEADER, // another controller of the cluster leads, at the place that is said
	WIRE_REFUSED_REASONS,
};

// Where a controller is: its IPv6 address, or its IPv4 address as ::ffff:a.b.c.d.
struct wire_endpoint {
	uint8_t address[16];
	uint16_t port; // 0: not known
};

struct wire_refused {
	uint8_t request_type;
	uint8_t reason;
	uint16_t filter_count;
	uint32_t retry_after_ms;
	uint64_t value;
	uint32_t nodes_seen, nodes_not_ready;
	uint32_t filtered_datacenter, filtered_class, filtered_device;
	uint32_t exhausted_cpu, exhausted_memory, exhausted_disk, exhausted_device;
	uint32_t filters[JOB_CONSTRAINTS_MAX];
	struct wire_endpoint leader; // NOT_LEADER has this and no value, number or filter
};

const char *wire_type_name(uint8_t type);      // "HEARTBEAT"; "?" when unknown
const char *wire_refusal_name(uint8_t reason); // "stale-generation", …

// Decoders read a whole frame that wire_header_decode accepted; texts are views into it. Trailing bytes
// must be zeros. Encoders write a whole frame, header included, tag left zero, padded as said above, and
// return its length, or 0 when it does not fit in size. The reply encoders pad nothing.
bool wire_heartbeat_decode(const uint8_t *frame, struct wire_heartbeat *);
uint32_t wire_heartbeat_encode(
	uint8_t *frame, uint32_t size, struct wire_header, const struct wire_heartbeat *);
bool wire_heartbeat_ack_decode(
	const uint8_t *frame, const struct wire_header *, struct wire_heartbeat_ack *);
// Type HEARTBEAT_ACK or REGISTERED, by header.type.
uint32_t wire_heartbeat_ack_encode(
	uint8_t *frame, uint32_t size, struct wire_header, const struct wire_heartbeat_ack *);
bool wire_register_decode(const uint8_t *frame, const struct wire_header *, struct wire_register *);
uint32_t wire_register_encode(
	uint8_t *frame, uint32_t size, struct wire_header, const struct wire_register *);
uint32_t wire_goodbye_encode(
	uint8_t *frame, uint32_t size, struct wire_header); // also GOODBYE_ACK, by header.type
bool wire_goodbye_decode(const uint8_t *frame, const struct wire_header *); // both
bool wire_readiness_decode(
	const uint8_t *frame, const struct wire_header *, struct wire_readiness *);
uint32_t wire_readiness_encode(
	uint8_t *frame, uint32_t size, struct wire_header, const struct wire_readiness *);
bool wire_readiness_taken_decode(const uint8_t *frame, const struct wire_header *, uint64_t *index);
uint32_t wire_readiness_taken_encode(
	uint8_t *frame, uint32_t size, struct wire_header, uint64_t index);
bool wire_notify_decode(const uint8_t *frame, const struct wire_header *, struct wire_notify *);
uint32_t wire_notify_encode(
	uint8_t *frame, uint32_t size, struct wire_header, const struct wire_notify *);
// Client name of any client message, for finding its key before the tag is checked.
bool wire_client_decode(const uint8_t *frame, const struct wire_header *, struct text *client);
bool wire_place_decode(const uint8_t *frame, const struct wire_header *, struct wire_place *);
uint32_t wire_place_encode(
	uint8_t *frame, uint32_t size, struct wire_header, const struct wire_place *);
bool wire_placed_decode(const uint8_t *frame, const struct wire_header *, struct wire_placed *);
uint32_t wire_placed_encode(
	uint8_t *frame, uint32_t size, struct wire_header, const struct wire_placed *);
bool wire_release_decode(const uint8_t *frame, const struct wire_header *, struct wire_ids *);
uint32_t wire_release_encode(
	uint8_t *frame, uint32_t size, struct wire_header, const struct wire_ids *);
bool wire_released_decode(const uint8_t *frame, const struct wire_header *, struct wire_released *);
uint32_t wire_released_encode(
	uint8_t *frame, uint32_t size, struct wire_header, const struct wire_released *);
bool wire_status_decode(const uint8_t *frame, const struct wire_header *, struct wire_status *);
uint32_t wire_status_encode(
	uint8_t *frame, uint32_t size, struct wire_header, const struct wire_status *);
bool wire_status_reply_decode(
	const uint8_t *frame, const struct wire_header *, struct wire_status_reply *);
uint32_t wire_status_reply_encode(
	uint8_t *frame, uint32_t size, struct wire_header, const struct wire_status_reply *);
bool wire_refused_decode(const uint8_t *frame, const struct wire_header *, struct wire_refused *);
// size is the request's length: what does not fit is left out.
uint32_t wire_refused_encode(
	uint8_t *frame, uint32_t size, struct wire_header, const struct wire_refused *);
