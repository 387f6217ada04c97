// What a node says of itself when it registers: the form of it.
#pragma once
#include "state/base/limits.h"
#include "state/base/text.h"
#include "state/base/uuid.h"
#include "state/records/resources.h"

// Stored and on the wire: numbers are never given again. What they say: state/records/nodes/node_pairs.h.
enum pair_kind {
	PAIR_ATTRIBUTE,
	PAIR_META,
	PAIR_DRIVER,
	PAIR_VOLUME,
	PAIR_NETWORK,
	PAIR_ADDRESS,
	PAIR_SETTING,
	PAIR_DEVICE,
	PAIR_KINDS,
};
// Those that describe the class (attributes and metadata may).
static inline bool pair_kind_is_of_class(uint8_t kind)
{
	return kind <= PAIR_DRIVER || kind == PAIR_DEVICE;
}

struct node_pair {
	uint8_t kind; // enum pair_kind
	struct text name, value;
};
struct node_device_group {
	struct text vendor, type, name;
	uint8_t instances;
};

// Which agent speaks for a node: its boot, a number that each start of it draws anew, and where it sends from.
struct agent_mark {
	uint64_t boot;       // 0: it does not say
	uint8_t address[16]; // IPv6, or IPv4 mapped into it
	uint16_t port;
};

// Texts are views that must stay valid until done.
struct node_registration {
	struct uuid node;
	uint64_t sequence; // unix ms of the registration
	uint8_t part, parts;
	uint16_t worker;        // gives the slot block
	struct agent_mark from; // its boot is read from the pairs
	struct resources total, reserved;
	struct text name, datacenter, class_name, pool, address, version;
	uint32_t device_group_count;
	struct node_device_group device_groups[NODE_DEVICE_GROUPS_MAX];
	uint32_t pair_count;
	struct node_pair pairs[NODE_PAIRS_MAX];
	// result. A repeated registration is answered with the generation that it got at first: a
	// line that already has it stays as it is, or replayed heartbeats would count again.
	uint32_t slot, generation;
	uint16_t owner;           // worker that owns the slot: the line is installed there
	uint64_t newest_sequence; // STALE_REGISTRATION
	uint8_t admission;        // NOT_ADMITTED: enum admission
};
