// Beginning, joining and leaving a cluster, while the member's daemon is stopped; and what a data_dir says of it.
#pragma once
#include "state/cluster/cluster.h"
#include "state/store/complaint.h"

// Reads DIR/cluster. -ENOENT: the directory belongs to no cluster. Else an error and a sentence.
int cluster_identity_read(
	const char *directory, struct cluster_identity *, const struct complaint *);

struct cluster_setup {
	const char *name;
	struct etcd_settings etcd;
	const char *directory; // the member's data_dir
	const char *member_name, *http, *wire;
};

// Makes the cluster, whose state is that of the member's own store at this index. Refuses when there is one of that
// name.
int cluster_init(const struct cluster_setup *, uint64_t index, const struct complaint *);
// Makes the owner of the directory, which has no state, a member.
int cluster_join(const struct cluster_setup *, const struct complaint *);
// Ends the membership. The directory keeps its state, which is at this index, and belongs to no cluster from then on.
// The last member that leaves takes the cluster's keys with it; -ESTALE: its state is not all that the cluster has.
int cluster_leave(const struct cluster_setup *, uint64_t index, const struct complaint *);
