// The entry that changes the standing of nodes (node_standing.h): the body of an entry as entry.h tells. The bytes are
// documented at the top of entry.c.
#pragma once
#include "state/base/bytes.h"
#include "state/base/text.h"
#include "state/records/nodes/node_standing.h"

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
// False: no node can have this standing.
bool node_lifecycle_decode(struct node_lifecycle *, struct bytes_reader *);
void entry_node_lifecycle_encode(const void *body, struct bytes_writer *);
int entry_node_lifecycle_decode(void *body, struct bytes_reader *);
void entry_node_lifecycle_release(void *body);
