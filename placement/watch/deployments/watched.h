// The deployments that are under way, and which of their allocations were found healthy or unhealthy. Kept on the
// watchers' thread alone, from published records: what is noted twice or late does no harm.
#pragma once
#include "placement/broker/heap.h"
#include "placement/broker/lookup.h"
#include "placement/watch/deployments/verdict.h"
#include "state/records/allocation.h"
#include <sys/queue.h>

struct watched_group {
	char *name;
	struct group_health health;
};

// An allocation whose node has said how it is.
struct judged {
	struct lookup_node by_id;
	LIST_ENTRY(judged) of_deployment;
	struct uuid id;
	struct watched *watched;
	uint32_t group;             // of the watched
	bool is_healthy, is_canary; // and it lives
};
LIST_HEAD(judged_list, judged);

struct watched {
	struct uuid id;
	struct lookup_node by_id;
	struct heap_node order; // by due_ns
	int64_t due_ns;         // unix: to be looked at again
	LIST_ENTRY(watched) touched, waiting;
	bool is_touched, is_waiting;
	struct watched_group *groups;
	uint32_t group_count;
	struct judged_list settled;
	struct judged_list open;  // unhealthy, and not yet allowed to be replaced
	uint64_t healthy_index;   // where one was found healthy last
	uint64_t evaluated_index; // what an evaluation of the job has seen, as far as is known
	int64_t batch_ns;         // when its evaluation is due; 0: none is asked for
	int64_t judged_ns;        // deadlines until then are dealt with
	int64_t rest_ns;          // a command for it was refused: nothing is sent before
};
LIST_HEAD(watched_list, watched);

struct watched_table {
	struct lookup deployments, allocations;
	struct heap due;
	struct watched_list touched;
};

void watched_table_init(struct watched_table *);
void watched_table_free(struct watched_table *);
struct watched *watched_find(const struct watched_table *, const struct uuid *);
struct watched *watched_add(struct watched_table *, const struct uuid *); // touched
void watched_drop(struct watched_table *, struct watched *);
// To be looked at soon.
void watched_touch(struct watched_table *, struct watched *);
void watched_untouch(struct watched *);
void watched_due_at(struct watched_table *, struct watched *, int64_t due_ns); // WATCH_NEVER: not

// Takes over what a published version of an allocation says; a: NULL when it is gone. watched: the deployment that it
// belongs to, NULL when that is not under way.
void watched_note(
	struct watched_table *, const struct uuid *, const struct allocation *a, struct watched *);
// In the order of the deployment's groups.
void watched_health(const struct watched *, const struct deployment *, struct group_health *health);
