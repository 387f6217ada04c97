// What becomes of the standing of nodes (lifecycle.h), as an entry and where it is a consequence of other ones. The
// bytes are documented at the top of entry.c.
#pragma once
#include "state/base/bytes.h"
#include "state/base/text.h"
#include "state/records/node_standing.h"

struct node;
struct node_cell;
struct state;
struct task_group;

enum lifecycle_cause { // stored: numbers are never given again
	LIFECYCLE_BY_OPERATOR,
	LIFECYCLE_BY_PROBE,
	LIFECYCLE_BY_TIME,  // a sweep: its readiness counts, it is healthy, or forgotten
	LIFECYCLE_REJOINED, // a sweep: it was flaky for long enough
	LIFECYCLE_CAUSES,
};

struct standing_change {
	uint32_t slot, generation;
	uint8_t cause;                   // enum lifecycle_cause
	struct node_lifecycle lifecycle; // from now on
};
// By ascending slot.
struct entry_node_lifecycle {
	uint32_t count;
	struct standing_change *items; // the entry's own
};

void node_lifecycle_encode(const struct node_lifecycle *, struct bytes_writer *);
// False: no node can stand so.
bool node_lifecycle_decode(struct node_lifecycle *, struct bytes_reader *);
void entry_node_lifecycle_encode(const struct entry_node_lifecycle *, struct bytes_writer *);
int entry_node_lifecycle_decode(struct entry_node_lifecycle *, struct bytes_reader *);
void entry_node_lifecycle_release(struct entry_node_lifecycle *);
int node_lifecycle_check(const struct state *, const struct entry_node_lifecycle *);
void node_lifecycle_apply(struct state *, struct entry_node_lifecycle *);

// --- Consequences, while another entry is applied ------------------------------------------------

// Of a record that was just built or revised and is not counted: how its node stands from now on, and the group that it
// is in. True: it was not healthy, and is now.
bool node_stands(struct state *, struct node *, const struct node_lifecycle *);
// What such a record says that its node ran last.
void node_set_snapshot(struct state *, struct node *, const char *snapshot);
// It was announced (it registered, or was heard of again), or is gone away.
bool node_announced(struct state *, struct node *, bool readiness);
void node_went_away(struct state *, struct node *, int64_t time_ns);
// Work begins on the node of this slot; work of it ended, in the order of its reports.
void node_task_scheduled(struct state *, uint32_t slot, const struct task_group *);
struct task_end {
	bool flaky, unready;
	bool readiness; // probes count
};
void node_task_ended(struct state *, struct node_cell *, const struct task_end *, int64_t time_ns);
