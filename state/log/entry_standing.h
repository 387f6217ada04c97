// The entry that changes the standing of nodes (node_standing.h): the body of an entry as entry.h tells. The bytes are
// documented at the top of entry.c.
#pragma once
#include "state/base/text.h"
#include "state/log/coder.h"
#include "state/records/nodes/node_standing.h"

enum standing_cause { // stored: numbers are never given again
	STANDING_BY_OPERATOR,
	STANDING_BY_PROBE,
	STANDING_BY_TIME,  // a sweep: its readiness counts, it is healthy, or forgotten
	STANDING_REJOINED, // a sweep: it was flaky for long enough
	STANDING_CAUSES,
};

struct standing_change {
	uint32_t slot, generation;
	uint8_t cause;            // enum standing_cause
	struct standing standing; // from now on
};
// By ascending slot.
struct entry_node_standing {
	uint32_t count;
	struct standing_change *items; // the entry's own
};

coder_function standing_code; // reading refuses what no node can have
coder_function entry_node_standing_code;
void entry_node_standing_release(void *body);
