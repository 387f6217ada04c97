// Epochs: a restored state is another past, so a cluster that takes one begins a new epoch. The key lineage has its
// number, which is the leadership of the member that restored, and so greater than all before it and nobody else's;
// absent: 0. A member's own epoch is in DIR/epoch (absent: 0), which changes with its state, in one exchange of the
// store (state/store/restore.c: what lies beside the snapshot comes along after it).
//
// How the leader restores, and why it may end at any point:
//
//  1. DIR/incoming gets the state, whole; then DIR/incoming/epoch its own leadership. Ends it here: the cluster never
//     reached that epoch, nobody else's has its number, and a member whose own epoch is the cluster's removes incoming.
//  2. The applier ends. Nothing is acknowledged from here on.
//  3. One transaction, if it still leads: lineage gets the number, cut the state's index; the log, the leader's key and
//     all of stored/ are deleted. This decides. A batch that is still on its way to etcd is refused, because it wants
//     the leader's key. Whether a transaction without an answer was carried out, lineage tells.
//     Ends it here: its own epoch is below lineage and that of incoming equals it, so the next start takes incoming.
//  4. DIR/incoming becomes DIR/arrived, and the process begins anew. The next open puts the snapshot in its place, then
//     epoch; ends it between the two, the next one goes on there.
//
// A member whose own epoch is below lineage applies nothing of the log, whose pieces name their epoch, and does not
// come to lead, because the transaction that makes the leader's key wants lineage as the member read it. It takes a
// snapshot of a member of the newer epoch. Until there is one nobody leads: should the one that restored be lost before
// any other took its state, the cluster is to be made anew of the archive (docs/operations.md).
#pragma once
#include "state/cluster/keys.h"

struct cluster_epoch {
	uint64_t number;
	uint64_t changed; // revision of its key; 0: absent
};

// The key. It lies between the leader's and the log's, so that whoever watches those sees it change.
struct cluster_key epoch_key(const char *name);
// 0, or an error of etcd; -ERROR_CORRUPT when it is no number.
int epoch_of_cluster(struct etcd *, const char *name, struct cluster_epoch *);
// What a folder has; none: 0. Returns 0, -errno, or -ERROR_CORRUPT when it is no number.
int epoch_of_folder(const char *folder, uint64_t *number);
// Writes it durably. Returns 0 or -errno.
int epoch_note(const char *folder, uint64_t number);
// Removes it. Returns 0 or -errno.
int epoch_forget(const char *folder);
