// A table full of nodes with keys, and the packets that they would send, for the heartbeat benchmarks.
#pragma once
#include "dataplane/hot/receive.h"

#define HEARTBEAT_PACKET_BYTES 106u

struct heartbeats {
	struct hot_worker worker;
	struct hot_counters counters;
	uint32_t nodes;
	uint32_t *order; // of all slots, random
	uint32_t next;   // in order
	uint64_t sequence;
};

// Fills all slots with nodes that this worker owns, their keys in their lines. Exits with code 77 when memory is
// short.
void heartbeats_start(struct heartbeats *, uint32_t nodes);
void heartbeats_stop(struct heartbeats *);
// Writes the packets of the next nodes in order, each with a sequence that its node has not sent before.
// Touches no line. count <= BURST_MAX.
void heartbeats_build(struct heartbeats *, uint8_t *const packets[], uint32_t count);
// Starts EAL on one core with one virtual device. Exits with code 77 when it does not start.
void heartbeats_start_eal(const char *program, int core, const char *vdev);
