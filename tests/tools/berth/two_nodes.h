// A server with schedulers and two nodes, and the berth program to ask it.
#pragma once
#include "state/base/uuid.h"

extern char node_ids[2][UUID_TEXT_BYTES];

// Set-up and tear-down of cmocka; the server is that of the group.
int two_nodes_begin(void **);
int two_nodes_end(void **);
