// A member of a cluster within a test's process: store, state, applier and cluster as the daemon puts them together,
// with an etcd of the test's. Commands run on the caller's thread once the member leads.
#pragma once
#include "state/cluster/cluster.h"
#include "state/cluster/cluster_setup.h"
#include "tests/support/core/core.h"
#include <stdatomic.h>

#define MEMBER_CLUSTER "t"
#define MEMBER_HTTP "http://127.0.0.1:1"

struct member {
	const char *name;
	const char *endpoints; // as it asks for etcd; NULL: the group's (etcd_keys.h)
	char directory[64];
	// Of its lease and of a question to etcd: so long that no machine is too busy, unless a test wants them to end.
	uint32_t ttl_ms, etcd_timeout_ms;
	struct cluster_identity identity;
	struct store *store;
	struct store_recovery recovery;
	struct core core;
	struct cluster *cluster;
	atomic_bool leads;
	_Atomic uint32_t lost, failed, fetched; // calls
	_Atomic int log_error;
	char sentence[COMPLAINT_BYTES];           // of the first call, or why it did not start
	char fetched_from[CLUSTER_ADDRESS_BYTES]; // at first
};

// Polls until the condition holds, or the test has waited for too long and fails.
#define AWAIT(condition)                                                                           \
	do {                                                                                       \
		uint64_t began_ns_ = time_monotonic_ns(&time_source_real);                         \
		while (!(condition)) {                                                             \
			if (time_monotonic_ns(&time_source_real) - began_ns_ > MEMBER_PATIENCE_NS) \
				fail_msg("%s:%d: waited in vain for " #condition, __FILE__,        \
					__LINE__);                                                 \
			usleep(2000);                                                              \
		}                                                                                  \
	} while (0)
#define MEMBER_PATIENCE_NS 100000000000ull

// A directory of its own, of no cluster yet.
void member_create(struct member *, const char *name);
void member_remove(struct member *);
struct cluster_setup member_setup(const struct member *);
// berthd cluster init, of an empty state, and join.
void member_init(struct member *);
void member_join(struct member *);
// Opens the store and recovers it, alone.
void member_recover(struct member *);
// Recovers and follows. False, and a sentence: the cluster was refused something, and nothing stays open.
bool member_try_start(struct member *);
void member_start(struct member *); // or fails
void member_await_leadership(struct member *);
// As the daemon ends: gives the leadership up. What is there of the member stays open until member_close.
void member_stop(struct member *);
void member_close(struct member *);

// Commands of a leader.
enum command_outcome member_register(struct member *, uint32_t number);
// Registers a job of about so many bytes.
enum command_outcome member_job(struct member *, const char *id, uint32_t bytes);
// So many of them in one batch, as far as batches go.
void member_jobs(struct member *, uint32_t count, uint32_t bytes);
// Fails unless both have the same state.
void member_assert_equal(struct member *, struct member *);
