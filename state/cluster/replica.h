// The own state and store as they follow the log: batch by batch, in order. The follower's thread.
#pragma once
#include "state/cluster/assembly.h"
#include "state/cluster/cluster_private.h"

struct replica {
	struct cluster *cluster;
	struct assembly *assembly;
	struct packing *packing;
	uint64_t next;   // index that the next batch begins with
	bool is_of_past; // the log is of a newer epoch: nothing of it is applied
};

void replica_begin(struct replica *, struct cluster *);
void replica_end(struct replica *);
// Takes a key of the log and its value (NULL: it was deleted), and applies what is whole by then and in its turn.
void replica_take(struct replica *, const struct etcd_item *, bool was_deleted);
