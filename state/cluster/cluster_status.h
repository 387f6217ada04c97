// What a member knows of its cluster, for people and programs. Plain values.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define CLUSTER_MEMBERS_MAX 16u
#define CLUSTER_NAME_BYTES 64u
#define CLUSTER_ADDRESS_BYTES 128u

enum cluster_role { CLUSTER_FOLLOWER, CLUSTER_LEADER, CLUSTER_ROLES };

struct cluster_member {
	char id[37]; // a UUID
	char name[CLUSTER_NAME_BYTES];
	char http[CLUSTER_ADDRESS_BYTES]; // URL: "http://10.0.0.1:4646"
	char wire[CLUSTER_ADDRESS_BYTES]; // "10.0.0.1:4647" or "[2001:db8::1]:4647"; "": none
	uint64_t stored_index;            // on its own disk, as it said last
	bool is_alive;                    // its lease holds
	bool is_leader;
	bool is_self;
	uint32_t format;  // the newest log that its program reads (LOG_FORMAT)
	uint64_t epoch;   // of its state: how often a snapshot was restored, in other numbers
	int64_t clock_ms; // its time of day, as it said last; 0: it did not
	bool knows_clock;
	int64_t clock_ahead_ms; // of this member's, if knows_clock
};

struct cluster_status {
	char name[CLUSTER_NAME_BYTES];
	enum cluster_role role;
	bool knows_leader;
	struct cluster_member leader; // if knows_leader
	uint64_t term;                // of the leadership
	uint64_t index;               // of this member's state
	uint64_t leader_index;        // of the log's end, as this member knows it
	int64_t last_contact_ms; // since this member last heard of a living leader; 0 on the leader; -1: never
	uint32_t member_count;
	struct cluster_member members[CLUSTER_MEMBERS_MAX]; // by name
	uint64_t takeovers;         // of this process: how often it became the leader
	uint64_t batches_under_way; // transactions that etcd has not answered
	uint64_t log_bytes;         // that this process added to the log, as it keeps them
	bool etcd_is_away;          // nothing is decided until it is back
	bool clock_is_odd;          // the time of day is another than that of most
	char trouble[256];          // of etcd, as a sentence; "": none
};
