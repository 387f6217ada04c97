// Tells nodes at once of news of their allocations, and that they are called, unasked: NOTIFY, to where the node's
// frames come from. It is sent once: who misses it hears the same in the answer to its next heartbeat. Worker's thread.
#pragma once
#include "dataplane/requests/packet_worker.h"

// A node is told no more often; what comes in between is told in one.
#define NOTICE_INTERVAL_MS 20u
// A worker tells no more nodes in a millisecond, so that a fleet that is told of a new job does not ask all at once.
#define NOTICES_PER_MS BURST_MAX

// Takes and gives back the memory for where every node's frames come from.
void notices_open(struct packet_workers *);
void notices_close(struct packet_workers *);
// Keeps where the frame in the packet came from; the worker owns the slot.
void notices_source(struct packet_worker *, uint32_t slot, const struct packet *, uint32_t offset);
// The same for an authentic frame other than a heartbeat, if the worker owns the slot and the source is a new one.
void notices_heard(struct packet_worker *, uint32_t slot, const struct packet *, uint32_t offset);
// Forgets where the slot's frames came from; the worker owns it.
void notices_forget(struct packet_worker *, uint32_t slot);
// Tells nodes of this worker that have news, once a millisecond.
void notices_send(struct packet_worker *, uint64_t now_ns);
