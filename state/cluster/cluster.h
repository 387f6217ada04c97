// A member of a cluster: several controllers with one log, which lies in etcd.
//
// One member leads: it decides, and appends its batches to the log, each in a transaction that holds only while its
// leadership lasts and nobody has written at that index. The others follow: they apply what comes, keep it on their own
// disks, and serve reads. A member that loses the leadership starts anew as a follower.
//
//	opened → following (catches up, then watches) → leading → (the process is replaced)
//
// docs/cluster.md tells how etcd is asked and what happens when something fails.
#pragma once
#include "state/applier/applier.h"
#include "state/base/time_source.h"
#include "state/cluster/cluster_status.h"
#include "state/etcd/etcd.h"
#include "state/store/store.h"
#include <stdbool.h>
#include <stdint.h>

struct cluster;

// Who this member is; written into its data_dir by cluster_init or cluster_join (cluster_setup.h).
struct cluster_identity {
	char cluster[37], member[37]; // UUIDs
};

struct member_settings {
	const char *name; // of the cluster
	struct etcd_settings etcd;
	uint32_t
		ttl_ms; // of the leadership; a whole number of seconds is best: etcd knows no others
	struct cluster_identity identity;
	const char *directory;                 // the member's data_dir
	const char *member_name, *http, *wire; // as the others and clients reach this member
	struct store *store;
	struct state *state;
	const struct time_source *time;
	// On a thread of the cluster's:
	// This member leads and has applied the whole log: begins a term and starts what decides. False, and a
	// sentence: it cannot, and resigns by `lost`.
	bool (*lead)(void *context, char *message, size_t message_size);
	// Somebody else leads, or this member is not known any more: ends this process, or replaces it. Does not
	// return.
	void (*lost)(void *context, const char *reason);
	// The log cannot be followed, for good, as the sentence says. Does not return.
	void (*failed)(void *context, const char *sentence);
	// The log no longer has what follows the own state: takes a snapshot of the member at that URL in place of
	// the own store, and replaces the process. Returns only when that failed, with a sentence.
	// The snapshot is of this epoch, which becomes the own.
	void (*fetch)(void *context, const char *http, uint64_t epoch, char *message,
		size_t message_size);
	// The leader changed, or nobody knows one (NULL).
	void (*leader_changed)(void *context, const struct cluster_member *leader);
	void *context;
};

// Copies the settings. Asks nobody yet. 0, or a negative error and a sentence.
int cluster_open(
	const struct member_settings *, struct cluster **, char *message, size_t message_size);
// Where the applier appends: etcd, then the own store. Only a leader appends.
struct command_log cluster_log(struct cluster *);
// Starts to follow, behind the index that the applier has recovered. The store's and the applier's only user until
// `lead` is called.
int cluster_start(struct cluster *, struct applier *);
// The process ends: this member follows no longer and does not begin to lead, and an append that cannot be carried
// out within the time is given up (-ECANCELED), though what it was to write may come to be there. Before the applier
// is stopped.
void cluster_end(struct cluster *, uint32_t ms);
// Then gives the leadership up, so that another member need not wait for its end, and stops the threads. After the
// applier has stopped.
void cluster_stop(struct cluster *);
void cluster_close(struct cluster *); // NULL is allowed

// The leader puts a state that lies whole in the store's incoming in the place of the cluster's, in two
// steps (epoch.h).
// First, before anything ends: notes of which epoch it would be. -ESTALE: this member does not lead.
int cluster_restore_offer(struct cluster *);
// Once the applier has stopped: makes it the cluster's. Returns when it is, for store_arrived() and a process anew.
void cluster_restore_decide(struct cluster *, uint64_t index);

// What members tell each other beside the log, under a name of its own: at most 64 KiB, sealed by whoever tells it.
// Only the leader's word counts: else -ESTALE. Any thread; they block.
int cluster_tell(struct cluster *, const char *what, const void *, uint32_t size);
// -ENOENT: nothing was ever told. *told is the caller's to free.
int cluster_ask(struct cluster *, const char *what, void **told, uint32_t *size);

// Any thread, at any time.
void cluster_status(struct cluster *, struct cluster_status *);
const struct etcd_counters *cluster_etcd(const struct cluster *);
// Whether this member leads, and is sure that nobody else does.
bool cluster_leads(const struct cluster *);
