// A node's published record. Immutable once published; strings live as long as the record.
#pragma once
#include "state/base/text.h"
#include "state/base/uuid.h"
#include "state/record.h"
#include "state/resources.h"
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
};

// The computed class: everything about a node that scheduling may look at and that is not unique to
// it. Nodes that agree in all of it share one object, so attributes are stored and constraints
// evaluated once per class. Attributes and metadata whose name has a part "unique." stay with the
// node. Reference counted by records (applier takes, call_rcu gives back); ids are dense and
// reused.
struct node_class {
	uint32_t id;     // dense, < state_class_limit()
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
	uint32_t slot;
	uint32_t generation;
	uint64_t register_sequence; // of the newest registration (unix ms)
	uint64_t register_index;    // state index of the newest registration
	uint8_t status, eligibility;
	uint32_t status_updated_at_s; // unix seconds
	uint32_t bytes;               // of this record, its strings included
	struct resources total;       // as reported
	struct resources reserved;    // of total, not for allocations
	struct node_class *node_class;
	const char *name, *address, *version;
	const char *status_description;
	uint32_t unique_attribute_count, unique_meta_count;
	const struct attribute *unique_attributes; // sorted by name
	const struct attribute *unique_meta;       // sorted by name
};

// True for names with a part "unique." ("unique.hostname", "platform.aws.unique.id"): those stay
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
