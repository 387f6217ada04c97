// The first pass: checks each packet by itself, from Ethernet to Berth's frame header.
#pragma once
#include "dataplane/hot/burst.h"

// Refuses, answers (neighbour.h) or keeps each packet; prefetches the node's line of each packet that it keeps.
void parse_burst(struct hot_worker *, struct packet *packets, uint32_t count, struct burst *);
