// Shared by the files of the cluster.
#pragma once
#include "state/cluster/cluster.h"
#include "state/cluster/keys.h"
#include "state/cluster/member.h"
#include <pthread.h>
#include <stdatomic.h>

// A member whose log in etcd is beyond it for longer joins by a snapshot.
#define CLUSTER_LOG_BYTES_KEPT ((uint64_t)128 * 1024 * 1024)
#define CLUSTER_MESSAGE_BYTES 512u

struct cluster {
	struct member_settings settings; // whose texts are copies
	struct cluster_member self;
	struct etcd *etcd;
	struct applier *applier;
	struct own_store *store;
	pthread_mutex_t packs;           // guards the packing
	struct packing *packing;         // of the log that this member writes
	uint64_t epoch;                  // of the own state
	_Atomic uint64_t epoch_revision; // of etcd's, when it was that one

	pthread_t keeper, follower, clerk;
	bool keeper_runs, follower_runs, clerk_runs;
	atomic_bool is_ending;       // the follower
	atomic_bool is_stopping;     // the others
	atomic_bool is_restoring;    // it ends the leadership itself: restoring.c
	_Atomic uint64_t give_up_ns; // boot time after which nothing is tried again; 0: never
	pthread_mutex_t lock;        // guards the members down to the next blank line
	pthread_cond_t wake;         // for the keeper
	struct cluster_status status;
	bool leader_is_absent; // as the follower sees the log

	atomic_bool is_caught_up;    // to what etcd had when the watch began
	_Atomic int64_t lease;       // of this member; 0: none
	uint64_t clock_told_ns;      // boot time; the keeper
	_Atomic uint64_t leadership; // creation revision of the leader's key that is ours; 0: none
	atomic_bool leads;           // the whole log is applied, and `lead` was called
	_Atomic uint64_t sure_until_ns; // boot time until which the lease cannot have ended
	_Atomic uint64_t index;         // of the state
	_Atomic uint64_t log_index;     // newest that was seen of the log
	_Atomic uint64_t contact_ns;    // boot time of the newest sign of a living leader; 0: none
	_Atomic uint64_t under_way;     // transactions of the log
	_Atomic uint64_t kept_bytes;    // that this leader added to the log
	atomic_bool etcd_is_away;
	atomic_bool etcd_is_full; // it answers, and takes nothing that needs room
	_Atomic uint64_t takeovers;
};

// Nanoseconds of a clock that goes on while the machine sleeps: a lease does.
uint64_t cluster_boot_ns(const struct cluster *);
bool cluster_stops(const struct cluster *);
// Whether the follower has to end.
bool cluster_ends(const struct cluster *);
// Keeps the greater of the two: batches become durable in any order.
void cluster_note_index(_Atomic uint64_t *, uint64_t index);
// Waits so long, or until the cluster stops.
void cluster_pause(struct cluster *, uint32_t ms);
// Notes whether etcd answered, and logs a change. Returns the error.
int cluster_note_etcd(struct cluster *, int error);
// Only whoever asked for its alarms may say that it is not: reads and renewals of leases are answered all the same.
void cluster_note_full(struct cluster *, bool is_full);
// The longest that one question to etcd may take when a lease depends on it.
uint32_t cluster_patience_ms(const struct cluster *);
// Returns only when the process ends anyway.
void cluster_lose(struct cluster *, const char *reason);
void cluster_fail(struct cluster *, const char *format, ...) __attribute__((format(printf, 2, 3)));

// The threads (pthread_create).
void *cluster_keep(void *);   // keeper.c: the lease, and the leadership
void *cluster_follow(void *); // follower.c: the log, until this member leads
void *cluster_record(void *); // clerk.c: who is there, what they have, and cutting the log

// Notes who leads; NULL: nobody. On the follower's thread or the clerk's.
void cluster_note_leader(struct cluster *, const struct cluster_member *, uint64_t leadership);
