// The first pass: from Ethernet to Berth's frame header, everything that can be said about a packet alone.
#pragma once
#include "dataplane/hot/burst.h"

// Refuses, answers (neighbour.h) or keeps each packet; prefetches the node's line of what it keeps.
void parse_burst(struct hot_worker *, struct packet *packets, uint32_t count, struct burst *);
