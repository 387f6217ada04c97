// The fleet as placement sees it: a record per slot, the fit tree over the nodes that may take work, a second tree over
// the idle ones among them, and a log of the last changes. What was computed for a job is brought up to date from the
// log.
#pragma once
#include "placement/direct/fit_tree.h"

#define FIT_LOG_CHANGES 4096u // what falls behind further starts afresh

// Values of fit_node.place for nodes that are in no leaf.
#define FIT_ABSENT 0xffffffffu
#define FIT_NOT_READY 0xfffffffeu
// The node is ready, but more is used than it has now: one bit for each dimension that is over.
#define FIT_OVER 0xfffffff0u
enum { FIT_OVER_CPU = 1, FIT_OVER_MEMORY = 2, FIT_OVER_DISK = 4 };

static inline bool fit_is_ready(const struct fit_node *n)
{
	return n->place < FIT_NOT_READY;
}
static inline bool fit_is_placeable(const struct fit_node *n)
{
	return n->place < FIT_OVER;
}

// What the state says of a node.
struct fit_input {
	struct resources capacity, used;
	uint32_t node_class;
	uint64_t class_hash;
	uint32_t stamp; // when it differs, what is unique to the node may have changed
	uint8_t devices_free[NODE_DEVICE_GROUPS_MAX];
	bool ready;
	const char *snapshot; // that an idle node ran last, "" for none; NULL: it is not idle
};

struct fit_change {
	uint32_t slot;
	bool described_anew; // stamp or class differ, or it came or went
	struct fit_node before, after;
};

struct fit_index;

// Snapshots of idle nodes, each kept once: equal ones are the same pointer. To be given back.
const char *fit_index_snapshot_share(struct fit_index *, const char *snapshot);
void fit_index_snapshot_release(struct fit_index *, const char *);
// NULL: the node is not idle.
const char *fit_index_snapshot(const struct fit_index *, uint32_t slot);

struct fit_index *fit_index_create(enum placement_algorithm);
void fit_index_destroy(struct fit_index *);
void fit_index_set(struct fit_index *, uint32_t slot, const struct fit_input *); // NULL: gone

enum placement_algorithm fit_index_algorithm(const struct fit_index *);
struct fit_tree *fit_index_tree(struct fit_index *);
// Idle nodes that may take work, by the snapshot that they ran last: in this tree the class of a node is what
// fit_index_snapshot_class() says of its snapshot, below 64, and others may have the same. Nobody needs it before a
// group names a snapshot, so it is made when it is asked for first.
struct fit_tree *fit_index_idle_tree(struct fit_index *);
uint32_t fit_index_snapshot_class(const char *shared);
uint32_t fit_index_slots(const struct fit_index *); // slots 0 … n-1 may hold nodes
const struct fit_node *fit_index_node(const struct fit_index *, uint32_t slot);
uint32_t fit_index_nodes(const struct fit_index *);     // that are there
uint32_t fit_index_not_ready(const struct fit_index *); // of those

// Changes are numbered from 0; the log holds those from head - FIT_LOG_CHANGES on.
uint64_t fit_index_head(const struct fit_index *);
const struct fit_change *fit_index_change(const struct fit_index *, uint64_t number);

// Classes by id. An id may come to mean another class; `since` grows with every class that appears, and a
// class tells when it last did.
uint32_t fit_index_classes(const struct fit_index *);
uint64_t fit_index_class_epoch(const struct fit_index *);
uint64_t fit_index_class_since(const struct fit_index *, uint32_t node_class);
uint32_t fit_index_class_ready(const struct fit_index *, uint32_t node_class);
// Grows whenever a node becomes ready or stops to be, or changes its class.
uint64_t fit_index_ready_epoch(const struct fit_index *);
