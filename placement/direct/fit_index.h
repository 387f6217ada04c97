// The fleet as placement sees it: a record per slot, the fit tree over the nodes that may take work, two more over the
// idle ones among them, and a log of the last changes. The candidate caches catch up from the log.
#pragma once
#include "placement/direct/fit_tree.h"

#define FIT_LOG_CHANGES 4096u // caches further behind start afresh

// Values of fit_node.place for nodes that are in no leaf.
#define FIT_ABSENT 0xffffffffu
#define FIT_NOT_READY 0xfffffffeu
// The node is ready but uses more than its capacity: one bit per dimension.
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

struct node_class;

// The index's input of a node, from the state.
struct fit_input {
	struct resources capacity, used;
	uint32_t node_class;
	uint64_t class_hash;
	uint32_t stamp; // when it differs, what is unique to the node may have changed
	uint8_t devices_free[NODE_DEVICE_GROUPS_MAX];
	bool ready;
	bool has_details;     // of something that is on it: ports, devices or cores
	const char *snapshot; // last one that an idle node ran, "" for none; NULL: not idle
	const struct node_class *class_record; // NULL: nobody asks the index for it
};

// Of what is on a node with details also a change that leaves its sums as they were.
struct fit_change {
	uint32_t slot;
	bool described_anew; // stamp or class differ, or it came or went
	struct fit_node before, after;
};

struct fit_index;

// Interns the snapshots of idle nodes: equal ones are the same pointer. Release each share.
const char *fit_index_snapshot_share(struct fit_index *, const char *snapshot);
void fit_index_snapshot_release(struct fit_index *, const char *);
// NULL: the node is not idle.
const char *fit_index_snapshot(const struct fit_index *, uint32_t slot);

struct fit_index *fit_index_create(enum placement_algorithm);
void fit_index_destroy(struct fit_index *);
void fit_index_set(struct fit_index *, uint32_t slot, const struct fit_input *); // NULL: gone

enum placement_algorithm fit_index_algorithm(const struct fit_index *);
struct fit_tree *fit_index_tree(struct fit_index *);
// Idle nodes that may take work, in two trees. In that by snapshot a node's class is fit_index_snapshot_class() of the
// one that it ran last, below 64, which other snapshots may share; in the other it is the node's class. Each is made on
// first use, when a group names a snapshot.
enum fit_idle { FIT_IDLE_BY_SNAPSHOT, FIT_IDLE_BY_CLASS, FIT_IDLE_TREES };
struct fit_tree *fit_index_idle_tree(struct fit_index *, enum fit_idle);
uint32_t fit_index_snapshot_class(const char *shared);
uint32_t fit_index_slots(const struct fit_index *); // slots 0 … n-1 may hold nodes
// Records of slots lie one behind the other.
const struct fit_node *fit_index_node(const struct fit_index *, uint32_t slot);
uint32_t fit_index_nodes(const struct fit_index *);     // existing nodes
uint32_t fit_index_not_ready(const struct fit_index *); // of those, not ready

// Changes are numbered from 0; the log holds those from head - FIT_LOG_CHANGES on.
uint64_t fit_index_head(const struct fit_index *);
// The newest change that described the slot anew, counted from 1; 0: none did.
uint64_t fit_index_described(const struct fit_index *, uint32_t slot);
const struct fit_change *fit_index_change(const struct fit_index *, uint64_t number);

// Classes by id. An id may come to mean another class; the epoch grows with every class that appears, and since is
// its value when the class last did.
uint32_t fit_index_classes(const struct fit_index *);
uint64_t fit_index_class_epoch(const struct fit_index *);
uint64_t fit_index_class_since(const struct fit_index *, uint32_t node_class);
// The newest record of a class that nodes were set with; NULL: it has no nodes. The record is alive when the index is
// up to date in the present read section.
const struct node_class *fit_index_class(const struct fit_index *, uint32_t node_class);
uint32_t fit_index_class_ready(const struct fit_index *, uint32_t node_class);
// Grows whenever a node becomes ready or stops to be, or changes its class.
uint64_t fit_index_ready_epoch(const struct fit_index *);
