// A client of etcd v3: transactions, ranges, watches and leases over the JSON gateway that every etcd server has
// (POST /v3/kv/txn and so on), with libcurl. Endpoints fail over; connections are kept.
//
// Keys are texts without NUL; values are bytes. All calls block, each at most for its time, and may be made on any
// thread; calls of several threads go side by side, each over a connection of its own.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct etcd;

#define ETCD_MESSAGE_BYTES 256u
#define ETCD_KEY_BYTES_MAX 256u
// Of one transaction, all values together: etcd refuses requests of more than 1.5 MiB, which JSON makes a third longer.
#define ETCD_TXN_BYTES_MAX (900u * 1024)

struct etcd_settings {
	// URLs, separated by commas or spaces: "http://10.0.0.1:2379,https://…"
	const char *endpoints;
	// "" or NULL: etcd asks for none
	const char *user, *password;
	// PEM, of https endpoints; "" or NULL: none
	const char *ca_file, *certificate_file, *key_file;
	uint32_t timeout_ms; // of one attempt at one endpoint
};

// Takes copies of the settings; asks nobody yet. 0, or a negative error and a sentence that says what to do.
int etcd_open(const struct etcd_settings *, struct etcd **, char *message, size_t message_size);
void etcd_close(struct etcd *); // once no call is under way; NULL is allowed
// Asks this one of the endpoints from now on, counted round and round, as long as it answers: clients that have one
// list spread over them. Before that, the first. Any thread.
void etcd_prefer(struct etcd *, uint32_t endpoint);

// Errors of all calls:
// -ETIMEDOUT  no answer in time from any endpoint: what was asked for may have been done, or may be done yet
// -ENOSPC     etcd's own space is used up (alarm NOSPACE). Nothing was written, but for what was on its way when it was
//             used up: etcd carries that out, and says so all the same
// -EMSGSIZE   the request is longer than etcd takes
// -EACCES     etcd wants another user, or a certificate
// -ENOENT     the lease is not there (any more)
// -ERANGE     the revision was compacted
// -EPROTO     an answer that is none of etcd's
// What was last wrong, as a sentence with the endpoint, for a log line: a copy for the calling thread's use.
void etcd_trouble(struct etcd *, char *text, size_t size);

// Revisions count all changes of etcd; 0 of a key: it is not there.
struct etcd_compare {
	const char *key;
	bool is_creation; // compares the revision at which the key was created, else that of its last change
	uint64_t revision; // must be equal; 0: the key must not be there
};
struct etcd_put {
	const char *key;
	const void *value;
	uint32_t size;
	int64_t lease; // 0: none
};
// Deletes key, or with end all keys from key up to, without, end.
struct etcd_delete {
	const char *key, *end;
};
struct etcd_txn {
	const struct etcd_compare *compares; // all must hold
	uint32_t compare_count;
	const struct etcd_put *puts; // then
	uint32_t put_count;
	const struct etcd_delete *deletes; // after the puts; no key may be in both
	uint32_t delete_count;
};
struct etcd_txn_result {
	int error;      // 0: etcd answered
	bool succeeded; // all compares held, and it was done
	uint64_t revision;
};
// One transaction, until timeout_ms. Is not repeated when its outcome is unknown (-ETIMEDOUT).
int etcd_txn(struct etcd *, const struct etcd_txn *, uint32_t timeout_ms, struct etcd_txn_result *);
// Several, at most `together` of them on their way at a time, begun in their order; they may be carried out in any
// order. Returns 0 when each has an answer, else the first error; results says of each, with -ETIMEDOUT for those
// that were not begun.
int etcd_txn_many(struct etcd *, const struct etcd_txn *, uint32_t count, uint32_t together,
	uint32_t timeout_ms, struct etcd_txn_result *results);

struct etcd_item {
	const char *key;
	const void *value; // valid during the call
	uint32_t size;
	int64_t lease;
	uint64_t created, changed; // revisions
};
struct etcd_range {
	const char *key, *end; // end NULL: one key
	uint32_t limit;        // 0: all
	bool keys_only;
	bool descending; // else ascending by key
	bool is_stale;   // what the endpoint has, without asking the others (serializable)
	// Returns false to see no more.
	bool (*visit)(void *context, const struct etcd_item *);
	void *context;
};
struct etcd_range_result {
	uint64_t revision; // of etcd when it answered
	uint64_t count;    // of keys in the range, also beyond limit
};
int etcd_range(
	struct etcd *, const struct etcd_range *, uint32_t timeout_ms, struct etcd_range_result *);

// Tells changes of the keys from key up to end, beginning with the revision `from`, until is_cancelled says so (asked
// several times a second) or something goes wrong: then returns -ECANCELED or the error. Whoever calls again with the
// revision after the last one seen misses nothing.
struct etcd_watch {
	const char *key, *end;
	uint64_t from; // 0: from now on
	// was_deleted: item has only key and changed. On the calling thread.
	// Returns false to end the watch.
	bool (*changed)(void *context, const struct etcd_item *, bool was_deleted);
	// The watch is set up: what changes from now on is told.
	void (*began)(void *context); // NULL is allowed
	bool (*is_cancelled)(void *context);
	void *context;
};
int etcd_watch(struct etcd *, const struct etcd_watch *);

// Lease of ttl_s seconds; granted_s is what etcd made of it.
int etcd_lease_grant(
	struct etcd *, int64_t ttl_s, uint32_t timeout_ms, int64_t *lease, int64_t *granted_s);
// Renews it; *left_s is the time to live that it has again. -ENOENT: it ended.
int etcd_lease_renew(struct etcd *, int64_t lease, uint32_t timeout_ms, int64_t *left_s);
int etcd_lease_revoke(struct etcd *, int64_t lease, uint32_t timeout_ms);

// Forgets what keys were before a revision, so that their space is used again.
int etcd_compact(struct etcd *, uint64_t revision, uint32_t timeout_ms);
struct etcd_status {
	uint64_t revision;
	uint64_t bytes, bytes_used; // of its file, and of what is in use of it
	bool is_full;               // its alarm NOSPACE
	char version[32];
};
int etcd_status(struct etcd *, uint32_t timeout_ms, struct etcd_status *);

#define ETCD_LATENCY_BUCKETS 32u
struct etcd_counters {
	// Attempts; those without a good answer; changes of the endpoint.
	_Atomic uint64_t requests, failures, failovers;
	// Of transactions that were answered: [i] < 2^i.
	_Atomic uint64_t txn_us[ETCD_LATENCY_BUCKETS];
	_Atomic uint64_t txn_us_sum;
	_Atomic uint64_t txns_under_way;
};
const struct etcd_counters *etcd_counters(const struct etcd *);
