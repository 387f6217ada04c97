// Active deployments and those of their allocations that were reported healthy or unhealthy. Used by the watchers'
// thread only, from published records: noting a version twice or late does no harm.
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

// An allocation whose node has reported its health.
struct judged {
	struct lookup_node by_id;
	LIST_ENTRY(judged) of_deployment;
	struct uuid id;
	struct watched *watched;
	uint32_t group;             // index in the watched
	bool is_healthy, is_canary; // false once it has ended
};
LIST_HEAD(judged_list, judged);

struct watched {
	struct uuid id;
	struct lookup_node by_id;
	struct heap_node order; // by due_ns
	int64_t due_ns;         // unix; next look
	LIST_ENTRY(watched) touched, waiting;
	bool is_touched, is_waiting;
	struct watched_group *groups;
	uint32_t group_count;
	struct judged_list settled;
	struct judged_list open;  // unhealthy, and not yet allowed to be replaced
	uint64_t healthy_index;   // when one was last found healthy
	uint64_t evaluated_index; // newest known snapshot of the job's evaluations
	int64_t batch_ns;         // when its evaluation is due; 0: none is asked for
	int64_t judged_ns;        // deadlines up to here are handled
	int64_t rest_ns;          // after a refused command: nothing is sent before
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
// Asks for a look soon.
void watched_touch(struct watched_table *, struct watched *);
void watched_untouch(struct watched *);
void watched_due_at(struct watched_table *, struct watched *, int64_t due_ns); // WATCH_NEVER: not

// Notes a published version of an allocation; a: NULL when it is gone. watched: its deployment, NULL when that is not
// active.
void watched_note(
	struct watched_table *, const struct uuid *, const struct allocation *a, struct watched *);
// Fills health in the order of the deployment's groups.
void watched_health(const struct watched *, const struct deployment *, struct group_health *health);
