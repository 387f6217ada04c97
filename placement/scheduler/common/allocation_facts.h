// What schedulers conclude from a stored allocation (docs/spec/objects.md): nothing here is stored.
#pragma once
#include "placement/scheduler/common/view.h"

#define ALLOCATION_NAME_BYTES (2 * NAME_BYTES_MAX + 32)

// The allocation's node; NULL: the node is gone, or its slot belongs to another node by now.
const struct node *allocation_node(const struct scheduler_view *, const struct allocation *);

bool allocation_is_to_migrate(const struct allocation *);
// Every task has ended, and none has failed.
bool allocation_ran_successfully(const struct allocation *);
// The cluster and the allocation's group let the allocation outlive a lost connection.
bool allocation_supports_disconnect(const struct allocation *, bool cluster_supports);
// The newest client status that was noted is "unknown".
bool allocation_needs_reconnect(const struct allocation *);
// When the allocation became unknown for the last time; 0: never.
int64_t allocation_last_unknown_ns(const struct allocation *);
// When the allocation was lost for the first time; 0: never.
int64_t allocation_first_lost_ns(const struct allocation *);
// The allocation is unknown, and has been for longer than its group allows.
bool allocation_is_expired(const struct allocation *, int64_t now_ns);
// A copy of the allocation's details with one more client status noted; the caller owns one reference.
struct alloc_details *details_with_client_status(
	const struct allocation *, uint8_t client_status, int64_t now_ns);

// The prefix of the names of a job's allocations: the job's name for system and sysbatch jobs, else its id (row A19).
const char *allocation_name_prefix(const struct job *);
// Negative, zero or positive, as the text of a's name sorts before that of b's.
int allocation_name_compare(const struct allocation *a, const struct allocation *b);

// The node's allocations may have to be replaced (docs/spec/reconciler.md, "Split by taint"): it is gone, down,
// draining or disconnected. NULL is a node that is gone.
bool node_is_tainted(const struct node *);
// Gone or down: the node's allocations are lost.
bool node_is_lost(const struct node *);
