// Nodes that do what they are told, at once: what is to run runs and is healthy, what is to stop has ended.
#pragma once
#include "tests/tools/api/server.h"

// From now until life_end, on a thread. nodes stays valid.
void life_begin(const struct node_slot *nodes, uint32_t count);
void life_end(void);
// Instances of this version of any job are judged unhealthy; -1: none are.
void life_spoil(int64_t version);
