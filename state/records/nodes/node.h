// A node's published record. Immutable once published; strings live as long as the record.
#pragma once
#include "state/base/text.h"
#include "state/base/uuid.h"
#include "state/records/nodes/node_standing.h"
#include "state/records/record.h"
#include "state/records/resources.h"
#include <stddef.h>
#include <stdint.h>

enum node_status { NODE_INITIALIZING, NODE_READY, NODE_DOWN, NODE_DISCONNECTED, NODE_STATUSES };
enum node_eligibility { NODE_ELIGIBLE, NODE_INELIGIBLE };
extern const char *const node_status_names[];      // "initializing" "ready" "down" "disconnected"
extern const char *const node_eligibility_names[]; // "eligible" "ineligible"

struct attribute {
	const char *name;
	const char *value;
};

struct device_group {
	const char *vendor, *type, *name;
	uint8_t instances;
	uint32_t attribute_count;
	const struct attribute *attributes; // sorted by name
};

// What a group may mount, and where a node is on the network (rows A50, A51, A53).
struct host_volume {
	const char *name, *path;
	bool read_only;
};
struct node_address {
	const char *alias, *address, *reserved_ports; // "22,80,8000-8010"
};
struct node_network {
	const char *mode, *device; // mode "host", "bridge", "cni/…"; "" is "host"
	uint32_t speed_mbits, address_count;
	const struct node_address *addresses;
};

// Parts of a node that groups may ask for by name or number.
struct node_fittings {
	uint32_t network_count, volume_count;
	const struct node_network *networks;
	const struct host_volume *volumes; // sorted by name
	const char *reserved_ports;        // of every address, as in node_address; "" none
	const char *reservable_cores;      // "0-7", "" none
};

struct drain_strategy { // docs/spec/objects.md
	int64_t deadline_ns, force_deadline_ns, started_at_ns;
	bool ignore_system_jobs;
};

enum last_drain_status { LAST_DRAIN_DRAINING, LAST_DRAIN_COMPLETE, LAST_DRAIN_CANCELED };
extern const char *const last_drain_status_names[]; // "draining" "complete" "canceled" NULL
struct last_drain {
	int64_t started_at_ns, updated_at_ns;
	uint8_t status; // enum last_drain_status
	uint32_t meta_count;
	const struct attribute *meta; // sorted by name
};

#define NODE_EVENTS_MAX 10u
struct node_event {
	uint8_t message; // enum node_message
	uint32_t timestamp_s;
	uint64_t create_index;
};
enum node_message { // texts of docs/spec/texts.md; stored: numbers are never given again
	NODE_REGISTERED,
	NODE_RE_REGISTERED,
	NODE_REREGISTERED_BY_HEARTBEAT,
	NODE_HEARTBEAT_MISSED,
	NODE_MARKED_ELIGIBLE,
	NODE_MARKED_INELIGIBLE,
	NODE_DRAIN_SET,
	NODE_DRAIN_UPDATED,
	NODE_DRAIN_DISABLED,
	NODE_DRAIN_COMPLETE,
	NODE_REJECTED_PLANS,
	NODE_SAID_GOODBYE,
	NODE_DRAIN_DEADLINE, // complete because its time was over
	NODE_KEY_REVOKED,
	NODE_NOT_ADMITTED,
	NODE_MESSAGES
};
struct node_message_text {
	const char *message, *subsystem; // "Node heartbeat missed", "Cluster"
	const char *detail, *value;      // "deadline_reached", "true"; NULL: none
};
extern const struct node_message_text node_messages[NODE_MESSAGES];

// The computed class: everything about a node that scheduling may look at and that is not unique to
// it. Nodes that agree in all of it share one object, so attributes are stored and constraints
// evaluated once per class. Attributes and metadata whose name has a part "unique." stay with the
// node. Reference counted by records (applier takes, call_rcu gives back); ids are dense and
// reused.
struct node_class {
	uint32_t id;     // dense
	uint64_t serial; // never given again, unlike id
	uint32_t nodes;  // live records that refer to it; applier only
	uint64_t hash;   // shown as "v1:<decimal>"
	const char *datacenter, *class_name, *pool;
	uint32_t attribute_count, meta_count, driver_count, device_count;
	const struct attribute *attributes; // sorted by name
	const struct attribute *meta;       // sorted by name
	const struct attribute *drivers;    // sorted; value "1" healthy, "0" not
	const struct device_group *devices;
};

struct node {
	struct record record; // first: modify_index is NodeModifyIndex
	struct uuid id;
	// What placement looks at first, close together: it goes through all nodes.
	uint32_t slot;
	uint32_t generation;
	uint8_t status, eligibility;
	uint8_t event_count;
	bool keeps_ports_back;          // any port is reserved, for one address or for all
	uint16_t port_least, port_most; // dynamic ports; 0, 0: 20000 to 32000
	struct standing standing;
	struct resources total;    // as reported
	struct resources reserved; // of total, not for allocations
	struct node_class *node_class;
	const struct drain_strategy *drain; // NULL: not draining
	uint64_t register_sequence;         // of the newest registration (unix ms)
	uint64_t register_index;            // state index of the newest registration
	// State index since which the node is described as it is: of its newest registration or of the newest change of
	// its metadata; right after a start always of the registration.
	uint64_t described_index;
	uint32_t status_updated_at_s; // unix seconds
	uint32_t bytes;               // of this record, its strings included
	const char *snapshot;         // that it ran last; "": none
	uint8_t status_message; // enum node_message: what led to the status; NODE_REGISTERED: nothing else
	bool was_drained;
	uint16_t own_attribute_count, own_meta_count;
	const char *name, *make;              // more stands behind them: node_own.h
	const struct node_fittings *fittings; // NULL: none
	// The index of the newest loss of the node, or of the newest word of it since then about anything but its
	// allocations; 0 once the node is ready again.
	uint64_t missed_heartbeat_index;
};

extern const struct node_fittings node_no_fittings;
static inline const struct node_fittings *node_fittings(const struct node *n)
{
	return n->fittings ? n->fittings : &node_no_fittings;
}

static inline const char *node_status_description(const struct node *n)
{
	return n->status_message == NODE_REGISTERED ? "" : node_messages[n->status_message].message;
}

// What lies right behind a record of the tables, though not behind a copy of the struct: its events, event_count, the
// oldest first, then its last drain; NULL: it never was drained.
static inline const struct node_event *node_events(const struct node *n)
{
	return (const struct node_event *)(n + 1);
}
static inline const struct last_drain *node_last_drain(const struct node *n)
{
	return n->was_drained ? (const struct last_drain *)(node_events(n) + n->event_count) : NULL;
}

// Takes new work: ready, eligible, not draining (docs/spec/objects.md), healthy (rows E1, E32).
static inline bool node_is_usable(const struct node *n)
{
	return n->status == NODE_READY && n->eligibility == NODE_ELIGIBLE && n->drain == NULL &&
	       standing_of(&n->standing) == NODE_HEALTHY;
}

// True for names with a part "unique." ("unique.hostname", "platform.aws.unique.id"): such attributes stay
// with the node, all others belong to its class.
bool attribute_is_unique(struct text name);

// Value of attribute or metadata `name`, of the class or of the node; NULL when absent. Under read
// lock.
const char *node_attribute(const struct node *, const char *name);
const char *node_meta(const struct node *, const char *name);
static inline struct resources node_capacity(const struct node *n)
{
	return resources_minus(n->total, n->reserved);
}
