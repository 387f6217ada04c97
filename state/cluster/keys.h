// Names of the cluster's keys in etcd: all below /berth/NAME/.
//
//	meta              what the cluster is: its id, the format of its keys
//	cut               the index up to which the log was cut off
//	lineage           the epoch: a number, the leadership that restored a snapshot (epoch.h)
//	leader            who leads, under the lease of that member; its creation revision is the leadership
//	log/INDEX.PIECE   batches of the log, by the index of their first entry, cut into pieces (log_piece.h)
//	members/ID        who belongs to it, until it leaves
//	alive/ID          under the member's lease
//	shared/NAME       what the leader tells the others beside the log
//	stored/ID         the index up to which the member has the log on its own disk
#pragma once
#include "state/etcd/etcd.h"
#include <stdbool.h>
#include <stdint.h>

#define CLUSTER_KEY_BYTES 160u

struct cluster_key {
	char text[CLUSTER_KEY_BYTES];
};

// Whether a cluster may have the name: letters, digits, '-', '_' and '.', at most 63 of them.
bool cluster_name_is_fit(const char *name);
// The key of what stands below the cluster's name.
struct cluster_key cluster_key(const char *name, const char *what);
struct cluster_key cluster_key_of(const char *name, const char *folder, const char *id);
struct cluster_key cluster_log_key(const char *name, uint64_t first_index, uint32_t piece);
// The first key behind all of a folder's; behind all of the cluster's with folder "".
struct cluster_key cluster_folder_end(const char *name, const char *folder);
// What follows the last slash.
const char *cluster_key_last(const char *key);
// Reads a value that is a decimal number. False when it is none.
bool cluster_number_read(const struct etcd_item *, uint64_t *number);
// Reads a log's key. False when it is none.
bool cluster_log_key_read(const char *key, uint64_t *first_index, uint32_t *piece);
