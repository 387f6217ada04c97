// What is allowed in a node's description of itself, before it becomes a record.
#pragma once
#include "state/records/nodes/node_registration.h"

// The rules: limits, printable texts, a pool that may be registered in, pairs and device groups
// sorted and each once.
bool node_description_is_sound(const struct node_registration *);
// Fills what was left open (pool "default", datacenter "dc1"), sorts. False when it then breaks a
// rule.
bool node_description_complete(struct node_registration *);

// Pairs and device groups into their order.
void node_description_sort(struct node_registration *);
