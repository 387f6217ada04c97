// How much of the path of requests one key may take (docs/wire.md, "How much a key may ask"). What is refused for it is
// counted by sender.
#pragma once
#include "dataplane/requests/packet_worker.h"

// Takes what the frame costs from its sender's bucket. Returns 0, or how long the sender has to wait, and counts it.
uint32_t rates_wait_ms(struct packet_worker *, const struct hot_frame *);
// Counts a heartbeat that came too soon, of the node with that slot and key.
void rates_beat_refused(struct packet_worker *, uint32_t slot, const struct wire_key *);
