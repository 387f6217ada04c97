// The packet path of one worker: a burst of packets in, verdicts out. Three passes: parse and prefetch,
// verify the tags of the burst, update and reply in place. No lock, no allocation, no system call, no log.
#pragma once
#include "dataplane/hot/hot_worker.h"

// Handles a burst. count <= BURST_MAX.
void hot_receive(struct hot_worker *, struct packet *burst, uint32_t count);
